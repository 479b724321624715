#section support_code

static npy_float64 plus(npy_float64 a, npy_float64 b) { return a + b; }

#section support_code_struct

static long APPLY_SPECIFIC(calls);
static long APPLY_SPECIFIC(count)(void) { return APPLY_SPECIFIC(calls)++; }

#section init_code_struct

APPLY_SPECIFIC(calls) = PARAMS == NULL ? -1 : 0;

#section support_code_apply

int APPLY_SPECIFIC(scaled)(PyArrayObject *x, PyArrayObject **z, PARAMS_TYPE *params);

#section support_code_struct

int APPLY_SPECIFIC(scaled)(PyArrayObject *x, PyArrayObject **z, PARAMS_TYPE *params)
{
    const DTYPE_PARAM_factor factor = params->factor;
    const long calls = APPLY_SPECIFIC(count)();
    if (PyArray_ITEMSIZE(x) != ITEMSIZE_INPUT_0 || PyArray_TYPE(x) != TYPENUM_INPUT_0) {
        PyErr_SetString(PyExc_SystemError, "the macros are wrong");
        return 1;
    }
    Py_XDECREF(*z);
    *z = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS(x), TYPENUM_OUTPUT_0, 0);
    if (*z == NULL) return 1;
    for (npy_intp i = 0; i < PyArray_DIM(x, 0); ++i)
        *(DTYPE_OUTPUT_0 *)PyArray_GETPTR1(*z, i) =
            (DTYPE_OUTPUT_0)plus(*(DTYPE_INPUT_0 *)PyArray_GETPTR1(x, i) * factor, (npy_float64)calls);
    return 0;
}
