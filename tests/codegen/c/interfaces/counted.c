#section init_code

loads_of_counted++;

#section support_code

static int loads_of_counted;

#section code_cleanup

free(room);

#section code

double *room = malloc(sizeof(DTYPE_INPUT_0) * (size_t)(PyArray_SIZE(INPUT_0) + 1));
if (room == NULL) {
    PyErr_NoMemory();
    FAIL;
}
if (PyArray_SIZE(INPUT_0) == 0) {
    PyErr_SetString(PyExc_ValueError, "there is nothing to count");
    FAIL;
}
Py_XDECREF(OUTPUT_0);
OUTPUT_0 = (PyArrayObject *)PyArray_ZEROS(0, NULL, TYPENUM_OUTPUT_0, 0);
if (OUTPUT_0 == NULL) FAIL;
*(DTYPE_OUTPUT_0 *)PyArray_DATA(OUTPUT_0) = (DTYPE_OUTPUT_0)(PyArray_SIZE(INPUT_0) * PARAMS + loads_of_counted);
