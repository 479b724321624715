/* Array objects of Python as arrays of compiled functions, and back. */

/* ---------------------------------------------------------------------------------------------- memory */

/* A header of memory that belongs to an array object. It does not outlive the call: arrays that do refer to the object itself. */
static inline lm_block *lm_new_owner(lm_call *const call)
{
    Run *const run = (Run *)call;
    return run->n_owners < LM_OWNERS ? &run->owners[run->n_owners++] : malloc(sizeof(lm_block));
}

static void lm_host_release(lm_call *const call, lm_block *const block)
{
    if (block->owner == NULL) {
        lm_release_plain(call, block);
        return;
    }
    Run *const run = (Run *)call;
    PyObject *const owner = block->owner;
    if ((uintptr_t)block - (uintptr_t)run->owners >= sizeof(run->owners)) free(block);
    Py_DECREF(owner);
}

static void lm_host_release_object(void *const object) { Py_XDECREF((PyObject *)object); }

static void lm_host_share_object(void *const object) { Py_XINCREF((PyObject *)object); }

/* For the last release of plain memory that outlived its call, in an array that somebody kept. */
static void lm_capsule_free(PyObject *const capsule)
{
    lm_block *const block = PyCapsule_GetPointer(capsule, "lamella.block");
    if (--block->count == 0) lm_free_block(block);
}

/* Note the memory of an array object as that of `array`, taking over a reference to the object. */
static inline int lm_own(lm_call *const call, lm_array *const array, PyArrayObject *const object)
{
    lm_block *const block = lm_new_owner(call);
    if (block == NULL) {
        Py_DECREF(object);
        PyErr_NoMemory();
        return -1;
    }
    block->count = 1;
    block->size = 0;
    block->owner = object;
    array->data = PyArray_BYTES(object);
    array->block = block;
    return 0;
}

static inline void lm_copy_layout(lm_array *const array, PyArrayObject *const object)
{
    const int ndim = PyArray_NDIM(object);
    lm_int *const shape = lm_shape(array), *const strides = lm_strides(array, ndim);
    for (int i = 0; i < ndim; ++i) {
        shape[i] = PyArray_DIM(object, i);
        strides[i] = shape[i] == 1 ? 0 : PyArray_STRIDE(object, i);
    }
}

static int lm_allocate_escaping(
    lm_call *const call, lm_array *const array, const lm_type *const type, const int n, const lm_int *const *const strides)
{
    if (type->ndim <= 0) {
        PyArray_Descr *const descr = PyArray_DescrFromType(lm_dtypes[type->dtype].typenum);
        PyObject *const number = PyArray_NewFromDescr(&PyArray_Type, descr, 0, NULL, NULL, NULL, 0, NULL);
        return number == NULL ? -1 : lm_own(call, array, (PyArrayObject *)number);
    }
    npy_intp shape[NPY_MAXDIMS], laid_out[NPY_MAXDIMS];
    int order[NPY_MAXDIMS], in_order = 1;
    order[0] = 0;
    if (type->ndim > 1) lm_axis_order(order, type->ndim, n, strides);
    for (int i = 0; i < type->ndim; ++i) in_order = in_order && order[i] == i;
    const lm_int size = lm_set_strides(type->ndim, lm_shape(array), laid_out, order, type->itemsize);
    if (size < 0) return -1;
    memcpy(shape, lm_shape(array), (size_t)type->ndim * sizeof(lm_int));
    const npy_intp *const given = in_order ? NULL : laid_out;
    PyArrayObject *const object = (PyArrayObject *)(
        lm_is_large(size) ? lm_new_large_array(type, shape, given, (size_t)size)
                          : PyArray_NewFromDescr(
                                &PyArray_Type, PyArray_DescrFromType(lm_dtypes[type->dtype].typenum), type->ndim, shape, given,
                                NULL, 0, NULL));
    if (object == NULL) return -1;
    /* NumPy's strides of an array without elements are 0, by which loops would take it for one element. */
    memcpy(lm_strides(array, type->ndim), laid_out, (size_t)type->ndim * sizeof(lm_int));
    return lm_own(call, array, object);
}

/* ---------------------------------------------------------------------------------------------- arrays in */

static inline int lm_is_of_type(PyArrayObject *const object, const lm_type *const type)
{
    const PyArray_Descr *const descr = PyArray_DESCR(object);
    if (descr->type_num != lm_dtypes[type->dtype].typenum
        && (descr->kind != lm_dtypes[type->dtype].kind || PyArray_ITEMSIZE(object) != type->itemsize))
        return 0; /* two types of C may be one dtype */
    if (PyArray_NDIM(object) != type->ndim) return 0;
    for (int i = 0; i < type->ndim; ++i)
        if (type->shape[i] >= 0 && type->shape[i] != PyArray_DIM(object, i)) return 0;
    return 1;
}

static void lm_refuse(PyObject *const value, const lm_type *const type, const char *const what, const int index)
{
    PyObject *const shown = PyArray_Check(value)
        ? PyUnicode_FromFormat(
              "dtype %S, %d dimensions", (PyObject *)PyArray_DESCR((PyArrayObject *)value), PyArray_NDIM((PyArrayObject *)value))
        : PyUnicode_FromString(Py_TYPE(value)->tp_name);
    if (shown == NULL) return;
    PyObject *const expected = (PyObject *)PyArray_DescrFromType(lm_dtypes[type->dtype].typenum);
    PyErr_Format(
        PyExc_TypeError, "%s %d of a compiled function: an array of dtype %S and %d dimensions with the lengths it was compiled for is "
        "expected, not %U", what, index, expected, type->ndim, shown);
    Py_XDECREF(expected);
    Py_DECREF(shown);
}

/* Return an array as kernels can read it, a new reference: aligned and in the machine's byte order. */
static PyArrayObject *lm_readable(PyObject *const value, const lm_type *const type, const char *const what, const int index)
{
    if (!PyArray_Check(value) || !lm_is_of_type((PyArrayObject *)value, type)) {
        lm_refuse(value, type, what, index);
        return NULL;
    }
    PyArrayObject *const object = (PyArrayObject *)value;
    if (PyArray_ISBEHAVED_RO(object)) return (PyArrayObject *)Py_NewRef(object);
    return (PyArrayObject *)PyArray_FromArray(
        object, PyArray_DescrFromType(lm_dtypes[type->dtype].typenum), NPY_ARRAY_BEHAVED | NPY_ARRAY_ENSURECOPY);
}

/* Describe an array object that outlives the call: its memory is not counted. */
static inline void lm_borrow(lm_array *const array, lm_block *const block, PyArrayObject *const object)
{
    block->count = -1;
    block->size = 0;
    block->owner = object;
    array->data = PyArray_BYTES(object);
    array->block = block;
    lm_copy_layout(array, object);
}

/* The bytes that an array lies in: from `*first` to before `*end`. */
static void lm_extent(PyArrayObject *const object, const char **const first, const char **const end)
{
    const char *low = PyArray_BYTES(object), *high = low + PyArray_ITEMSIZE(object);
    for (int i = 0; i < PyArray_NDIM(object); ++i) {
        const lm_int length = PyArray_DIM(object, i), reach = PyArray_STRIDE(object, i) * (length - 1);
        if (length == 0) high = low;
        else if (reach < 0) low += reach;
        else high += reach;
    }
    *first = low;
    *end = PyArray_SIZE(object) == 0 ? low : high;
}

/* Whether several elements of an array may lie in one place. */
static int lm_overlaps_itself(PyArrayObject *const object)
{
    const int ndim = PyArray_NDIM(object);
    const lm_int *const strides = PyArray_STRIDES(object);
    int order[NPY_MAXDIMS];
    lm_axis_order(order, ndim, 1, &strides);
    lm_int covered = PyArray_ITEMSIZE(object);
    for (int i = ndim - 1; i >= 0; --i) {
        const lm_int length = PyArray_DIM(object, order[i]);
        const lm_int stride = strides[order[i]] < 0 ? -strides[order[i]] : strides[order[i]];
        if (length == 0) return 0;
        if (length == 1) continue;
        if (stride < covered) return 1;
        covered += stride * (length - 1);
    }
    return 0;
}

/* Whether input `index`, an array, may share memory with another one. */
static int lm_meets_another(PyObject *const *const objects, const int n, const int index)
{
    const char *first, *end;
    lm_extent((PyArrayObject *)objects[index], &first, &end);
    for (int i = 0; i < n; ++i) {
        if (i == index || objects[i] == NULL || !PyArray_Check(objects[i])) continue;
        const char *other_first, *other_end;
        lm_extent((PyArrayObject *)objects[i], &other_first, &other_end);
        if (first < other_end && other_first < end) return 1;
    }
    return 0;
}

/* Whether writing over input `index`, an array, changes nothing but that input. */
static int lm_may_overwrite(PyObject *const *const objects, const int n, const int index)
{
    PyArrayObject *const object = (PyArrayObject *)objects[index];
    return PyArray_ISWRITEABLE(object) && !lm_overlaps_itself(object) && !lm_meets_another(objects, n, index);
}

/* ---------------------------------------------------------------------------------------------- arrays out */

static inline int lm_is_the_array(PyArrayObject *const object, lm_array *const array, const lm_type *const type)
{
    if (!PyArray_CheckExact(object) || PyArray_BYTES(object) != array->data || !lm_is_of_type(object, type)) return 0;
    const npy_intp size = PyArray_SIZE(object);
    for (int i = 0; i < type->ndim; ++i) {
        const lm_int length = lm_shape(array)[i];
        if (PyArray_DIM(object, i) != length) return 0;
        if (length > 1 && size > 0 && PyArray_STRIDE(object, i) != lm_strides(array, type->ndim)[i]) return 0;
    }
    return 1;
}

/* Return an array object for an array, a new reference: a copy if the array lies in the frame of the running function. */
static PyObject *lm_wrap(lm_array *const array, const lm_type *const type)
{
    lm_block *const block = array->block;
    PyArrayObject *const owner = block == NULL ? NULL : (PyArrayObject *)block->owner;
    if (owner != NULL && lm_is_the_array(owner, array, type)) return Py_NewRef((PyObject *)owner);
    npy_intp shape[NPY_MAXDIMS], strides[NPY_MAXDIMS];
    memcpy(shape, lm_shape(array), (size_t)type->ndim * sizeof(lm_int));
    memcpy(strides, lm_strides(array, type->ndim), (size_t)type->ndim * sizeof(lm_int));
    const int writeable = owner == NULL || PyArray_ISWRITEABLE(owner) ? NPY_ARRAY_WRITEABLE : 0;
    PyArrayObject *const view = (PyArrayObject *)PyArray_NewFromDescr(
        &PyArray_Type, PyArray_DescrFromType(lm_dtypes[type->dtype].typenum), type->ndim, shape, strides, array->data, writeable,
        NULL);
    if (view == NULL) return NULL;
    if (block == NULL) {
        PyObject *const copy = PyArray_NewCopy(view, NPY_KEEPORDER);
        Py_DECREF(view);
        return copy;
    }
    PyObject *base;
    if (owner != NULL) base = Py_NewRef((PyObject *)owner);
    else {
        base = PyCapsule_New(block, "lamella.block", lm_capsule_free);
        if (base != NULL) lm_share(block);
    }
    if (base == NULL || PyArray_SetBaseObject(view, base) < 0) {
        Py_DECREF(view);
        return NULL;
    }
    return (PyObject *)view;
}

/* Return the object for the value of a variable, a new reference. */
static PyObject *lm_object_of(void *const place, const lm_type *const type)
{
    if (type->dtype == LM_OBJECT) return Py_NewRef(*(PyObject **)place);
    if (!type->is_number) return lm_wrap(place, type);
    PyArray_Descr *const descr = PyArray_DescrFromType(lm_dtypes[type->dtype].typenum);
    PyObject *const number = PyArray_Scalar(((lm_array *)place)->data, descr, NULL);
    Py_DECREF(descr);
    return number;
}

/* Return the array for an array, or for a number as the host knows them, a new reference. */
static PyArrayObject *lm_array_of(PyObject *const value, const lm_type *const type, const char *const what, const int index)
{
    if (!type->is_number || !PyArray_IsScalar(value, Generic)) return lm_readable(value, type, what, index);
    PyObject *const array = PyArray_FromScalar(value, NULL);
    if (array == NULL) return NULL;
    PyArrayObject *const object = lm_readable(array, type, what, index);
    Py_DECREF(array);
    return object;
}

/* Note an array object, or a NumPy scalar, as the value of `array`, taking over the reference to it. */
static int lm_accept(
    lm_call *const call, lm_array *const array, const lm_type *const type, PyObject *value, const int index)
{
    if (PyArray_IsScalar(value, Generic)) {
        PyObject *const object = PyArray_FromScalar(value, NULL);
        Py_SETREF(value, object);
        if (value == NULL) return -1;
    }
    PyArrayObject *const object = lm_readable(value, type, "result", index);
    Py_DECREF(value);
    if (object == NULL) return -1;
    lm_copy_layout(array, object);
    return lm_own(call, array, object);
}
