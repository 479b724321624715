/* Included before the host of compiled functions: any request for memory that it makes can be made to fail. */

#if __has_include(<Python.h>)

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LM_SHOWN __attribute__((visibility("default"), unused))

/* How many requests are granted before one fails; negative where none does. The function that made the last one. Pieces that have not
   been freed. */
LM_SHOWN long lm_granted = -1;
LM_SHOWN const char *lm_asked_by = "";
LM_SHOWN long lm_not_freed = 0;

static int lm_fails_in(const char *const function)
{
    if (lm_granted < 0) return 0;
    lm_asked_by = function;
    return lm_granted-- == 0;
}

#define lm_fails() lm_fails_in(__func__)

static void *lm_got(void *const memory)
{
    lm_not_freed += memory != NULL;
    return memory;
}

static void lm_freed(void *const memory)
{
    lm_not_freed -= memory != NULL;
    free(memory);
}

static void lm_py_freed(void *const memory)
{
    lm_not_freed -= memory != NULL;
    PyMem_Free(memory);
}

/* What is given away is given away also where there is too little memory. */
static PyObject *lm_no_memory(PyArray_Descr *const given)
{
    Py_XDECREF(given);
    return PyErr_NoMemory();
}

/* NumPy's functions are macros. */
static PyObject *lm_new_from_descr(
    PyTypeObject *const type, PyArray_Descr *const descr, const int ndim, const npy_intp *const shape,
    const npy_intp *const strides, void *const data, const int flags, PyObject *const object)
{
    return PyArray_NewFromDescr(type, descr, ndim, shape, strides, data, flags, object);
}

static PyObject *lm_from_array(PyArrayObject *const array, PyArray_Descr *const descr, const int flags)
{
    return PyArray_FromArray(array, descr, flags);
}

static PyObject *lm_new_copy(PyArrayObject *const array, const NPY_ORDER order) { return PyArray_NewCopy(array, order); }

static PyObject *lm_from_scalar(PyObject *const scalar, PyArray_Descr *const descr) { return PyArray_FromScalar(scalar, descr); }

static PyObject *lm_arg_sort(PyArrayObject *const array, const int axis, const NPY_SORTKIND kind)
{
    return PyArray_ArgSort(array, axis, kind);
}

static PyObject *lm_all_but_axis(PyObject *const array, int *const axis) { return PyArray_IterAllButAxis(array, axis); }

#undef PyArray_NewFromDescr
#undef PyArray_FromArray
#undef PyArray_NewCopy
#undef PyArray_FromScalar
#undef PyArray_ArgSort
#undef PyArray_IterAllButAxis
#undef PyMem_Malloc
#undef PyMem_Calloc
#undef PyMem_Free
#define LM_OR_FAIL(call) (lm_fails() ? PyErr_NoMemory() : (call))
#define PyArray_NewFromDescr(type, descr, ...) \
    (lm_fails() ? lm_no_memory(descr) : lm_new_from_descr(type, descr, __VA_ARGS__))
#define PyArray_FromArray(array, descr, flags) (lm_fails() ? lm_no_memory(descr) : lm_from_array(array, descr, flags))
#define PyArray_NewCopy(array, order) LM_OR_FAIL(lm_new_copy(array, order))
#define PyArray_FromScalar(scalar, descr) LM_OR_FAIL(lm_from_scalar(scalar, descr))
#define PyArray_ArgSort(array, axis, kind) LM_OR_FAIL(lm_arg_sort(array, axis, kind))
#define PyArray_IterAllButAxis(array, axis) LM_OR_FAIL(lm_all_but_axis(array, axis))
#define PyList_New(n) LM_OR_FAIL(PyList_New(n))
#define PyTuple_New(n) LM_OR_FAIL(PyTuple_New(n))
#define PyDict_New() LM_OR_FAIL(PyDict_New())
#define PyCapsule_New(pointer, name, destructor) LM_OR_FAIL(PyCapsule_New(pointer, name, destructor))
#define PySequence_Fast(object, message) LM_OR_FAIL(PySequence_Fast(object, message))
#define PySequence_List(object) LM_OR_FAIL(PySequence_List(object))
#define PyList_AsTuple(list) LM_OR_FAIL(PyList_AsTuple(list))
#define malloc(size) (lm_fails() ? NULL : lm_got((malloc)(size)))
#define calloc(n, size) (lm_fails() ? NULL : lm_got((calloc)(n, size)))
#define aligned_alloc(alignment, size) (lm_fails() ? NULL : lm_got((aligned_alloc)(alignment, size)))
#define mmap(...) (lm_fails() ? MAP_FAILED : (mmap)(__VA_ARGS__))
#define free lm_freed
#define PyMem_Malloc(size) (lm_fails() ? NULL : lm_got((PyMem_Malloc)(size)))
#define PyMem_Calloc(n, size) (lm_fails() ? NULL : lm_got((PyMem_Calloc)(n, size)))
#define PyMem_Free lm_py_freed

#endif
