/* Results whose elements lie in large memory of ours, that goes from call to call. */

static void *lm_array_malloc(void *const context, const size_t size)
{
    (void)context;
    return lm_take_large(size);
}

static void *lm_array_calloc(void *const context, const size_t n, const size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(n, size, &bytes)) return NULL;
    void *const memory = lm_array_malloc(context, bytes);
    return memory == NULL ? NULL : memset(memory, 0, bytes);
}

static void lm_array_free(void *const context, void *const memory, const size_t size)
{
    (void)context, (void)size;
    if (memory != NULL) lm_give_large(memory);
}

static void *lm_array_realloc(void *const context, void *const memory, const size_t size)
{
    void *const moved = lm_array_malloc(context, size);
    if (moved == NULL || memory == NULL) return moved;
    const size_t before = lm_large_size(memory);
    memcpy(moved, memory, before < size ? before : size);
    lm_give_large(memory);
    return moved;
}

/* What NumPy frees the elements of large results by, or makes them more or fewer. */
static PyDataMem_Handler lm_array_memory = {
    "lamella", 1, {NULL, lm_array_malloc, lm_array_calloc, lm_array_realloc, lm_array_free}};

/* The same as an object; it lives as long as the process. */
static PyObject *lm_array_memory_object;

/* Return a new array in large memory of ours, that owns it as it would its own. */
static PyObject *lm_new_large_array(
    const lm_type *const type, const npy_intp *const shape, const npy_intp *const strides, const size_t size)
{
    char *const data = lm_take_large(size);
    if (data == NULL) return PyErr_NoMemory();
    PyObject *const object = PyArray_NewFromDescr(
        &PyArray_Type, PyArray_DescrFromType(lm_dtypes[type->dtype].typenum), type->ndim, shape, strides, data,
        NPY_ARRAY_WRITEABLE, NULL);
    if (object == NULL) {
        lm_give_large(data);
        return NULL;
    }
    ((PyArrayObject_fields *)object)->mem_handler = Py_NewRef(lm_array_memory_object);
    PyArray_ENABLEFLAGS((PyArrayObject *)object, NPY_ARRAY_OWNDATA);
    PyTraceMalloc_Track(LM_NUMPY_DOMAIN, (uintptr_t)data, size);
    return object;
}
