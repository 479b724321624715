static const char lm_no_exception[] = "C code of an Op has failed, and has not said why: it set no Python exception";

static const lm_int user_type0_shape[] = {-1};
static const lm_type user_type0 = {LM_FLOAT64, 1, 8, user_type0_shape, 0};
static const lm_type user_type1 = {LM_FLOAT64, 0, 8, NULL, 0};

static int lm_stage_0;
C_SUPPORT_CODE_APPLY(node_0)
C_SUPPORT_CODE_STRUCT(node_0)

LM_STEP int user_0(lm_call *const call, void *const *const operands)
{
int lm_failed = 0;
PyObject *py_V0 = lm_take(call, operands[0], &user_type0);
PyObject *py_V1 = lm_take(call, operands[1], &user_type1);
PyObject *py_V2 = (PyObject *)call->serve->recall(call, 0);
if (py_V0 == NULL || py_V1 == NULL) { Py_XDECREF(py_V0); Py_XDECREF(py_V1); Py_XDECREF(py_V2); return -1; }
LM_TRY
{
typedef npy_float64 dtype_V0 __attribute__((unused));
PyArrayObject *V0;
V0 = NULL;
if (!PyArray_Check(py_V0) || PyArray_NDIM((PyArrayObject *)py_V0) != 1 || !PyArray_EquivTypenums(PyArray_TYPE((PyArrayObject *)py_V0), NPY_FLOAT64)) {
PyErr_SetString(PyExc_TypeError, "an array of dtype float64 and 1 dimensions is expected");
{ lm_failed = 1; if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, lm_no_exception); goto end_of_V0; }
}
V0 = (PyArrayObject *)Py_NewRef(py_V0);
LM_TRY
{
typedef npy_float64 dtype_V1 __attribute__((unused));
PyArrayObject *V1;
V1 = NULL;
if (!PyArray_Check(py_V1) || PyArray_NDIM((PyArrayObject *)py_V1) != 0 || !PyArray_EquivTypenums(PyArray_TYPE((PyArrayObject *)py_V1), NPY_FLOAT64)) {
PyErr_SetString(PyExc_TypeError, "an array of dtype float64 and 0 dimensions is expected");
{ lm_failed = 1; if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, lm_no_exception); goto end_of_V1; }
}
V1 = (PyArrayObject *)Py_NewRef(py_V1);
LM_TRY
{
typedef npy_float64 dtype_V2 __attribute__((unused));
PyArrayObject *V2;
if (py_V2 != NULL) {
if (py_V2 == Py_None) {
V2 = NULL;
} else {
V2 = NULL;
if (!PyArray_Check(py_V2) || PyArray_NDIM((PyArrayObject *)py_V2) != 1 || !PyArray_EquivTypenums(PyArray_TYPE((PyArrayObject *)py_V2), NPY_FLOAT64)) {
PyErr_SetString(PyExc_TypeError, "an array of dtype float64 and 1 dimensions is expected");
{ lm_failed = 1; if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, lm_no_exception); goto end_of_V2; }
}
V2 = (PyArrayObject *)Py_NewRef(py_V2);
}
} else {
V2 = NULL;
}
LM_TRY
{
c_code: __attribute__((unused));
C_CODE(node_0, V0, V1, V2, 0);
{ lm_failed = 1; if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, lm_no_exception); goto end_of_code_0; }
end_of_code_0: __attribute__((unused));
C_CODE_CLEANUP(node_0);
}
LM_CATCH
end_of_V2: __attribute__((unused));
if (!lm_failed) {
if (py_V2 == NULL) py_V2 = Py_NewRef(Py_None);
Py_XDECREF(py_V2);
py_V2 = Py_NewRef(V2 == NULL ? Py_None : (PyObject *)V2);
}
synced_V2: __attribute__((unused));
Py_XDECREF(V2);
if (!lm_failed) {
if (lm_give(call, operands[2], &user_type0, py_V2, 0) < 0) lm_failed = 1;
py_V2 = NULL;
}
}
LM_CATCH
end_of_V1: __attribute__((unused));
Py_XDECREF(V1);
}
LM_CATCH
end_of_V0: __attribute__((unused));
Py_XDECREF(V0);
}
LM_CATCH
Py_XDECREF(py_V0); Py_XDECREF(py_V1); Py_XDECREF(py_V2);
return lm_failed || PyErr_Occurred() ? -1 : 0;
}

static int lm_open_0(PyObject *const given)
{
int lm_failed = 0;
(void)given;
LM_TRY
lm_stage_0 = 2;
{
C_INIT_CODE_STRUCT(node_0); { lm_failed = 1; if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, lm_no_exception); goto end_of_opening_0; }
}
LM_CATCH
end_of_opening_0: __attribute__((unused));
return lm_failed || PyErr_Occurred() ? -1 : 0;
}

static void lm_close_0(void)
{
int lm_failed = 0;
LM_TRY
if (lm_stage_0 >= 2) {
C_CLEANUP_CODE_STRUCT(node_0);
}
LM_CATCH
lm_stage_0 = 0;
if (lm_failed) PyErr_WriteUnraisable(NULL);
}

static int lm_init(void)
{
int lm_failed = 0;
if (PyArray_ImportNumPyAPI() < 0) return -1;
LM_TRY
{
C_INIT_CODE_APPLY(node_0);
}
if (PyErr_Occurred()) return -1;
LM_CATCH
return lm_failed ? -1 : 0;
}

static const lm_user_node lm_user_nodes[] = {{0, lm_open_0, lm_close_0}};

LM_GIVEN_OUT const lm_user_code lamella_user_code = {lm_init, 1, 1, lm_user_nodes};

