/* The BLAS that comes with SciPy, which hands out pointers to its routines. */

/* Filled when first needed, by whoever holds the interpreter lock. */
static lm_blas_routines lm_blas[] = {
    {LM_FLOAT32, "sgemm", "sgemv", "ssyrk", lm_one_single, NULL, NULL, NULL},
    {LM_FLOAT64, "dgemm", "dgemv", "dsyrk", lm_one_double, NULL, NULL, NULL},
    {LM_COMPLEX64, "cgemm", "cgemv", "csyrk", lm_one_single, NULL, NULL, NULL},
    {LM_COMPLEX128, "zgemm", "zgemv", "zsyrk", lm_one_double, NULL, NULL, NULL},
};

static void *lm_routine(PyObject *const table, const char *const name)
{
    PyObject *const capsule = PyDict_GetItemString(table, name);
    if (capsule == NULL || !PyCapsule_CheckExact(capsule)) {
        PyErr_Format(PyExc_ImportError, "scipy.linalg.cython_blas has no %s", name);
        return NULL;
    }
    return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
}

static const lm_blas_routines *lm_find_blas(const lm_dtype dtype)
{
    lm_blas_routines *found = NULL;
    for (size_t i = 0; i < sizeof(lm_blas) / sizeof(lm_blas[0]); ++i)
        if (lm_blas[i].dtype == dtype) found = &lm_blas[i];
    if (found == NULL) {
        PyErr_SetString(PyExc_TypeError, "the BLAS does not know this dtype");
        return NULL;
    }
    if (found->gemm != NULL) return found;
    PyObject *const module = PyImport_ImportModule("lamella.codegen.c.blas");
    PyObject *const table = module == NULL ? NULL : PyObject_CallMethod(module, "blas_routines", NULL);
    Py_XDECREF(module);
    if (table == NULL) return NULL;
    const lm_gemm gemm = (lm_gemm)lm_routine(table, found->gemm_name);
    const lm_gemv gemv = gemm == NULL ? NULL : (lm_gemv)lm_routine(table, found->gemv_name);
    const lm_syrk syrk = gemv == NULL ? NULL : (lm_syrk)lm_routine(table, found->syrk_name);
    Py_DECREF(table);
    if (syrk == NULL) return NULL;
    found->syrk = syrk;
    found->gemv = gemv;
    found->gemm = gemm;
    return found;
}
