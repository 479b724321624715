/* Stable sorting by NumPy's unstable algorithms, which are many times faster. Only elements that compare as equal can be in another
   order than a stable sort leaves them in. Of equal integers nobody sees the order; of floats, those that are equal and differ are zeros of
   either sign, and NaN: they are put back in the order of the input. Of indices, those of equal elements are sorted. */

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>

/* Whether NumPy's fast algorithms serve for a dtype; the others are sorted stably by NumPy. Short integers it sorts by digits. */
static int lm_sorts_fast(const lm_dtype dtype, const int indices)
{
    switch (dtype) {
    case LM_INT32: case LM_INT64: case LM_UINT32: case LM_UINT64: case LM_FLOAT32: case LM_FLOAT64: return 1;
    case LM_INT8: case LM_INT16: case LM_UINT8: case LM_UINT16: case LM_FLOAT16: return !indices;
    default: return 0;
    }
}

typedef enum { LM_NEGATIVE, LM_ZERO, LM_POSITIVE, LM_NAN } lm_float_class;

/* In sorted floats the classes follow each other in their order. */
static lm_float_class lm_class_of(const char *const element, const int size)
{
    uint64_t bits = 0;
    if (size == 2) bits = *(const uint16_t *)element;
    else if (size == 4) bits = *(const uint32_t *)element;
    else bits = *(const uint64_t *)element;
    const uint64_t sign = UINT64_C(1) << (8 * size - 1), magnitude = bits & (sign - 1);
    const uint64_t infinity = size == 2 ? 0x7c00 : size == 4 ? 0x7f800000 : UINT64_C(0x7ff0000000000000);
    if (magnitude > infinity) return LM_NAN;
    if (magnitude == 0) return LM_ZERO;
    return bits & sign ? LM_NEGATIVE : LM_POSITIVE;
}

/* The first place in a sorted row where a class, or a later one, begins. */
static lm_int lm_first_of(
    const lm_float_class class, const char *const row, const lm_int stride, const lm_int n, const int size)
{
    lm_int low = 0, high = n;
    while (low < high) {
        const lm_int middle = low + (high - low) / 2;
        if (lm_class_of(row + middle * stride, size) < class) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Put elements of a class back in the order in which the unsorted row has them. */
static void lm_restore(
    const lm_float_class class, char *to, const lm_int stride, lm_int n, const char *from, const lm_int from_stride, const int size)
{
    for (; n > 0; from += from_stride) {
        if (lm_class_of(from, size) != class) continue;
        memcpy(to, from, (size_t)size);
        to += stride;
        --n;
    }
}

static void lm_restore_row(
    char *const row, const lm_int stride, const lm_int n, const char *const from, const lm_int from_stride, const int size)
{
    const lm_int zeros = lm_first_of(LM_ZERO, row, stride, n, size), after = lm_first_of(LM_POSITIVE, row, stride, n, size);
    const lm_int nan = lm_first_of(LM_NAN, row, stride, n, size);
    /* Vector instructions do not even keep the number of zeros of each sign. */
    if (after - zeros > 1) lm_restore(LM_ZERO, row + zeros * stride, stride, after - zeros, from, from_stride, size);
    if (nan < n) lm_restore(LM_NAN, row + nan * stride, stride, n - nan, from, from_stride, size);
}

static int lm_equal(const char *const a, const char *const b, const int size, const int is_float)
{
    if (memcmp(a, b, (size_t)size) == 0) return 1;
    if (!is_float) return 0;
    const lm_float_class class = lm_class_of(a, size);
    return (class == LM_ZERO || class == LM_NAN) && lm_class_of(b, size) == class;
}

/* Sort indices in place: few by insertion, many by NumPy. */
static int lm_sort_indices(char *const indices, const lm_int stride, const lm_int n)
{
    if (n > 24) {
        npy_intp length = n, step = stride;
        PyObject *const view = PyArray_New(
            &PyArray_Type, 1, &length, NPY_INT64, &step, indices, 0, NPY_ARRAY_WRITEABLE, NULL);
        const int status = view == NULL ? -1 : PyArray_Sort((PyArrayObject *)view, 0, NPY_QUICKSORT);
        Py_XDECREF(view);
        return status;
    }
    for (lm_int i = 1; i < n; ++i) {
        const int64_t index = *(int64_t *)(indices + i * stride);
        lm_int place = i;
        for (; place > 0 && *(int64_t *)(indices + (place - 1) * stride) > index; --place)
            *(int64_t *)(indices + place * stride) = *(int64_t *)(indices + (place - 1) * stride);
        *(int64_t *)(indices + place * stride) = index;
    }
    return 0;
}

static int lm_restore_indices(
    char *const row, const lm_int stride, const lm_int n, const char *const from, const lm_int from_stride, const int size,
    const int is_float)
{
    for (lm_int begin = 0, end; begin < n; begin = end) {
        const char *const first = from + *(int64_t *)(row + begin * stride) * from_stride;
        end = begin + 1;
        while (end < n && lm_equal(first, from + *(int64_t *)(row + end * stride) * from_stride, size, is_float)) ++end;
        if (end > begin + 1 && lm_sort_indices(row + begin * stride, stride, end - begin) < 0) return -1;
    }
    return 0;
}

/* Put each row of what was sorted in the order of a stable sort. */
static int lm_restore_order(
    PyArrayObject *const sorted, PyArrayObject *const from, int axis, const lm_dtype dtype, const int indices)
{
    const int is_float = dtype == LM_FLOAT16 || dtype == LM_FLOAT32 || dtype == LM_FLOAT64;
    if (!is_float && !indices) return 0;
    const lm_int n = PyArray_DIM(from, axis), stride = PyArray_STRIDE(sorted, axis), from_stride = PyArray_STRIDE(from, axis);
    const int size = (int)PyArray_ITEMSIZE(from);
    if (n < 2 || PyArray_SIZE(from) == 0) return 0;
    PyArrayIterObject *const rows = (PyArrayIterObject *)PyArray_IterAllButAxis((PyObject *)sorted, &axis);
    PyArrayIterObject *const from_rows = (PyArrayIterObject *)PyArray_IterAllButAxis((PyObject *)from, &axis);
    int status = rows == NULL || from_rows == NULL ? -1 : 0;
    while (status == 0 && PyArray_ITER_NOTDONE(rows)) {
        char *const row = PyArray_ITER_DATA(rows);
        const char *const from_row = PyArray_ITER_DATA(from_rows);
        if (indices) status = lm_restore_indices(row, stride, n, from_row, from_stride, size, is_float);
        else lm_restore_row(row, stride, n, from_row, from_stride, size);
        PyArray_ITER_NEXT(rows);
        PyArray_ITER_NEXT(from_rows);
    }
    Py_XDECREF(rows);
    Py_XDECREF(from_rows);
    return status;
}

/* Return a new array: one sorted along an axis, or the indices that sort it. */
static PyObject *lm_sorted(PyArrayObject *const array, const int axis, const lm_dtype dtype, const int indices)
{
    const int fast = lm_sorts_fast(dtype, indices);
    const NPY_SORTKIND kind = fast ? NPY_QUICKSORT : NPY_STABLESORT;
    PyObject *sorted;
    if (indices) sorted = PyArray_ArgSort(array, axis, kind);
    else {
        sorted = PyArray_NewCopy(array, NPY_KEEPORDER);
        if (sorted != NULL && PyArray_Sort((PyArrayObject *)sorted, axis, kind) < 0) Py_CLEAR(sorted);
    }
    if (sorted != NULL && fast && lm_restore_order((PyArrayObject *)sorted, array, axis, dtype, indices) < 0) Py_CLEAR(sorted);
    return sorted;
}
