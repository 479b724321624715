/* The host of compiled functions in Python: arrays in and out, the interpreter lock, Ops computed by their `perform`. */

#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <dlfcn.h>
#include <tracemalloc.h>

/* Under which tracemalloc counts the elements of arrays: `numpy.lib.tracemalloc_domain`. */
#define LM_NUMPY_DOMAIN 389047

/* Bytes of plain memory that a function keeps for its next call, in pieces that are not large. */
#define LM_KEPT_MEMORY ((lm_int)1 << 20)

#define LM_SPARE ((int)(sizeof(((lm_call *)0)->spare) / sizeof(lm_block *)))

static const struct { char kind; int typenum; } lm_dtypes[] = {
    [LM_BOOL] = {'b', NPY_BOOL}, [LM_INT8] = {'i', NPY_INT8}, [LM_INT16] = {'i', NPY_INT16}, [LM_INT32] = {'i', NPY_INT32},
    [LM_INT64] = {'i', NPY_INT64}, [LM_UINT8] = {'u', NPY_UINT8}, [LM_UINT16] = {'u', NPY_UINT16},
    [LM_UINT32] = {'u', NPY_UINT32}, [LM_UINT64] = {'u', NPY_UINT64}, [LM_FLOAT16] = {'f', NPY_FLOAT16},
    [LM_FLOAT32] = {'f', NPY_FLOAT32}, [LM_FLOAT64] = {'f', NPY_FLOAT64}, [LM_COMPLEX64] = {'c', NPY_COMPLEX64},
    [LM_COMPLEX128] = {'c', NPY_COMPLEX128},
};

typedef struct {
    PyObject_HEAD
    void *library;
    const lm_program *program;
    const lm_user_code *user; /* NULL where there is no code of users' Ops */
    int initialised, n_linked;
    PyObject *weak_references;
} Library;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Library *library;
    PyObject *constants, *perform, *annotate;
    char *template; /* a frame as it is when a call begins, but for its inputs */
    lm_block *constant_blocks;
    PyObject **objects; /* what users' code keeps from call to call */
    int n_opened;
    int threads; /* that a call may have */
    int n_kept;
    lm_block *kept[LM_SPARE];
} Entry;

/* ---------------------------------------------------------------------------------------------- memory */

static void lm_host_release(lm_call *const call, lm_block *const block)
{
    if (block->owner == NULL) {
        lm_release_plain(call, block);
        return;
    }
    Py_DECREF((PyObject *)block->owner);
    free(block);
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
static int lm_own(lm_array *const array, PyArrayObject *const object)
{
    lm_block *const block = malloc(sizeof(lm_block));
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

static void lm_copy_layout(lm_array *const array, PyArrayObject *const object)
{
    const int ndim = PyArray_NDIM(object);
    lm_int *const shape = lm_shape(array), *const strides = lm_strides(array, ndim);
    for (int i = 0; i < ndim; ++i) {
        shape[i] = PyArray_DIM(object, i);
        strides[i] = shape[i] == 1 ? 0 : PyArray_STRIDE(object, i);
    }
}

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

static int lm_allocate_escaping(
    lm_call *const call, lm_array *const array, const lm_type *const type, const int n, const lm_int *const *const strides)
{
    (void)call;
    npy_intp shape[NPY_MAXDIMS], laid_out[NPY_MAXDIMS];
    int order[NPY_MAXDIMS], in_order = 1;
    lm_axis_order(order, type->ndim, n, strides);
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
    lm_copy_layout(array, object);
    return lm_own(array, object);
}

/* ---------------------------------------------------------------------------------------------- arrays in */

static int lm_is_of_type(PyArrayObject *const object, const lm_type *const type)
{
    const PyArray_Descr *const descr = PyArray_DESCR(object);
    if (descr->kind != lm_dtypes[type->dtype].kind || PyArray_ITEMSIZE(object) != type->itemsize) return 0;
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
static void lm_borrow(lm_array *const array, lm_block *const block, PyArrayObject *const object)
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

/* Whether writing over input `index` changes nothing but that input. */
static int lm_may_overwrite(PyArrayObject *const *const objects, const int n, const int index)
{
    PyArrayObject *const object = objects[index];
    if (!PyArray_ISWRITEABLE(object) || lm_overlaps_itself(object)) return 0;
    const char *first, *end;
    lm_extent(object, &first, &end);
    for (int i = 0; i < n; ++i) {
        if (i == index || !PyArray_Check(objects[i])) continue;
        const char *other_first, *other_end;
        lm_extent(objects[i], &other_first, &other_end);
        if (first < other_end && other_first < end) return 0;
    }
    return 1;
}

/* ---------------------------------------------------------------------------------------------- arrays out */

static int lm_is_the_array(PyArrayObject *const object, lm_array *const array, const lm_type *const type)
{
    if (!PyArray_CheckExact(object) || PyArray_BYTES(object) != array->data || !lm_is_of_type(object, type)) return 0;
    for (int i = 0; i < type->ndim; ++i) {
        const lm_int length = lm_shape(array)[i];
        if (PyArray_DIM(object, i) != length) return 0;
        if (length > 1 && PyArray_STRIDE(object, i) != lm_strides(array, type->ndim)[i]) return 0;
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

/* Note an array object, or a NumPy scalar, as the value of `array`, taking over the reference to it. */
static int lm_accept(lm_array *const array, const lm_type *const type, PyObject *value, const int index)
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
    return lm_own(array, object);
}

/* ---------------------------------------------------------------------------------------------- steps of the host */

static void *lm_unlock(void) { return PyEval_SaveThread(); }

static void lm_lock(void *const state) { PyEval_RestoreThread(state); }

static int lm_host_reference(
    lm_call *const call, const int step, const int n_in, const lm_value *const in, const int n_out, const lm_value *const out)
{
    Entry *const entry = call->host;
    PyObject *const inputs = PyList_New(n_in);
    if (inputs == NULL) return -1;
    for (int i = 0; i < n_in; ++i) {
        PyObject *const value = in[i].type->dtype == LM_OBJECT ? Py_NewRef(*(PyObject **)in[i].place)
                                                              : lm_wrap(in[i].place, in[i].type);
        if (value == NULL) {
            Py_DECREF(inputs);
            return -1;
        }
        PyList_SET_ITEM(inputs, i, value);
    }
    PyObject *const results = PyObject_CallFunction(entry->perform, "iN", step, inputs);
    if (results == NULL) return -1;
    PyObject *const fast = PySequence_Fast(results, "perform gives a list of results");
    Py_DECREF(results);
    if (fast == NULL) return -1;
    int status = 0;
    if (PySequence_Fast_GET_SIZE(fast) != n_out) {
        PyErr_Format(PyExc_TypeError, "%d results are expected", n_out);
        status = -1;
    }
    for (int i = 0; i < n_out && status == 0; ++i) {
        PyObject *const value = Py_NewRef(PySequence_Fast_GET_ITEM(fast, i));
        if (out[i].type->dtype == LM_OBJECT) *(PyObject **)out[i].place = value;
        else status = lm_accept(out[i].place, out[i].type, value, i);
    }
    Py_DECREF(fast);
    return status;
}

static int lm_sort(lm_call *const call, const lm_value *const out, const lm_value *const in, const int axis, const int indices)
{
    lm_drop(call, out->type, out->place);
    PyObject *const object = lm_wrap(in->place, in->type);
    if (object == NULL) return -1;
    PyObject *const sorted = lm_sorted((PyArrayObject *)object, axis, in->type->dtype, indices);
    Py_DECREF(object);
    return sorted == NULL ? -1 : lm_accept(out->place, out->type, sorted, 0);
}

static void *lm_host_as_object(lm_call *const call, const lm_value *const value)
{
    (void)call;
    if (value->type->dtype != LM_OBJECT) return lm_wrap(value->place, value->type);
    return Py_NewRef(*(PyObject **)value->place);
}

static int lm_host_from_object(lm_call *const call, const lm_value *const value, void *const object)
{
    lm_drop(call, value->type, value->place);
    if (value->type->dtype != LM_OBJECT) return lm_accept(value->place, value->type, object, 0);
    *(PyObject **)value->place = object;
    return 0;
}

/* Only what nobody else has when it is recalled is given out again. */
static void lm_host_keep(lm_call *const call, const int slot, void *const object)
{
    Entry *const entry = call->host;
    if (PyArray_Check(object) && !PyArray_CHKFLAGS((PyArrayObject *)object, NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE)) return;
    Py_XSETREF(entry->objects[slot], Py_NewRef((PyObject *)object));
}

static void *lm_host_recall(lm_call *const call, const int slot)
{
    Entry *const entry = call->host;
    PyObject *const object = entry->objects[slot];
    entry->objects[slot] = NULL;
    if (object == NULL || Py_REFCNT(object) == 1) return object;
    Py_DECREF(object);
    return NULL;
}

static const lm_services lm_python_services = {
    .allocate = lm_allocate,
    .allocate_escaping = lm_allocate_escaping,
    .release = lm_host_release,
    .release_object = lm_host_release_object,
    .share_object = lm_host_share_object,
    .nest = lm_nest,
    .each = lm_each,
    .parallel = lm_parallel,
    .copy = lm_copy,
    .unlock = lm_unlock,
    .lock = lm_lock,
    .reference = lm_host_reference,
    .add_product = lm_host_add_product,
    .products = lm_host_products,
    .sort = lm_sort,
    .as_object = lm_host_as_object,
    .from_object = lm_host_from_object,
    .keep = lm_host_keep,
    .recall = lm_host_recall,
};

/* ---------------------------------------------------------------------------------------------- one call */

/* What one call works with: cut from one piece of memory. */
typedef struct {
    char *variables;
    PyArrayObject **objects; /* owned: inputs that are arrays, as kernels read them; other inputs as they came */
    lm_block *blocks;        /* for the inputs */
} Frame;

static size_t lm_call_size(const lm_program *const program)
{
    return (size_t)program->frame_size + (size_t)program->n_inputs * (sizeof(void *) + sizeof(lm_block)) + 64;
}

static void *lm_place(const lm_program *const program, const Frame frame, const int variable)
{
    return frame.variables + program->variables[variable].offset;
}

static Frame lm_lay_out(const Entry *const entry, char *const memory)
{
    const lm_program *const program = entry->library->program;
    Frame frame;
    frame.variables = (char *)(((uintptr_t)memory + 63) / 64 * 64);
    frame.blocks = (lm_block *)(frame.variables + program->frame_size);
    frame.objects = (PyArrayObject **)(frame.blocks + program->n_inputs);
    memcpy(frame.variables, entry->template, (size_t)program->frame_size);
    memset(frame.objects, 0, (size_t)program->n_inputs * sizeof(void *));
    for (int i = program->n_inputs + program->n_constants; i < program->n_variables; ++i)
        if (program->variables[i].storage)
            ((lm_array *)lm_place(program, frame, i))->data = frame.variables + program->variables[i].storage;
    return frame;
}

static int lm_take_inputs(const lm_program *const program, const Frame frame, PyObject *const *const values)
{
    for (int i = 0; i < program->n_inputs; ++i) {
        const lm_type *const type = program->variables[i].type;
        if (type->dtype == LM_OBJECT) {
            frame.objects[i] = (PyArrayObject *)Py_NewRef(values[i]);
            *(PyObject **)lm_place(program, frame, i) = values[i];
            continue;
        }
        frame.objects[i] = lm_readable(values[i], type, "input", i);
        if (frame.objects[i] == NULL) return -1;
    }
    for (int i = 0; i < program->n_inputs; ++i) {
        if (program->variables[i].type->dtype == LM_OBJECT) continue;
        if (program->overwritten[i] && !lm_may_overwrite(frame.objects, program->n_inputs, i)) {
            PyObject *const copy = PyArray_NewCopy(frame.objects[i], NPY_KEEPORDER);
            if (copy == NULL) return -1;
            Py_SETREF(frame.objects[i], (PyArrayObject *)copy);
        }
        lm_borrow(lm_place(program, frame, i), &frame.blocks[i], frame.objects[i]);
    }
    return 0;
}

static PyObject *lm_give_outputs(const lm_program *const program, const Frame frame)
{
    PyObject *const results = PyList_New(program->n_outputs);
    if (results == NULL) return NULL;
    for (int i = 0; i < program->n_outputs; ++i) {
        const lm_type *const type = program->variables[program->outputs[i]].type;
        void *const place = lm_place(program, frame, program->outputs[i]);
        PyObject *const value = type->dtype == LM_OBJECT ? Py_NewRef(*(PyObject **)place) : lm_wrap(place, type);
        if (value == NULL) {
            Py_DECREF(results);
            return NULL;
        }
        PyList_SET_ITEM(results, i, value);
    }
    return results;
}

/* Let the exception that is set be told which step it came from. */
static void lm_annotate(Entry *const entry, const int step)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    if (traceback != NULL) PyException_SetTraceback(value, traceback);
    PyObject *const done = PyObject_CallFunction(entry->annotate, "iO", step, value);
    if (done == NULL) PyErr_Clear();
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
}

static PyObject *lm_run(Entry *const entry, const Frame frame, PyObject *const *const values, lm_cost *const costs)
{
    const lm_program *const program = entry->library->program;
    if (lm_take_inputs(program, frame, values) < 0) return NULL;
    lm_call call = {.serve = &lm_python_services, .step = -1, .threads = entry->threads, .n_spare = entry->n_kept, .host = entry};
    memcpy(call.spare, entry->kept, (size_t)entry->n_kept * sizeof(lm_block *));
    entry->n_kept = 0;
    PyObject *results = NULL;
    if (lm_run_steps(&call, program, frame.variables, costs) == 0) results = lm_give_outputs(program, frame);
    else {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        lm_annotate(entry, call.step);
    }
    for (int i = program->n_inputs + program->n_constants; i < program->n_variables; ++i)
        lm_drop(&call, program->variables[i].type, lm_place(program, frame, i));
    lm_int kept = 0;
    const int unused = entry->n_kept == 0; /* no other call has come back meanwhile */
    for (int i = 0; i < call.n_spare; ++i) {
        lm_block *const block = call.spare[i];
        const int is_kept = unused && !lm_is_large(block->size) && kept + block->size <= LM_KEPT_MEMORY;
        if (is_kept) {
            kept += block->size;
            entry->kept[entry->n_kept++] = block;
        } else lm_free_block(block);
    }
    return results;
}

static PyObject *lm_entry_run(PyObject *const self, PyObject *const inputs, lm_cost *const costs)
{
    Entry *const entry = (Entry *)self;
    const lm_program *const program = entry->library->program;
    PyObject *const values = PySequence_Fast(inputs, "the inputs of a compiled function are a sequence");
    if (values == NULL) return NULL;
    PyObject *results = NULL;
    char small[1024];
    const size_t size = lm_call_size(program);
    char *const memory = size <= sizeof(small) ? small : PyMem_Malloc(size);
    if (memory == NULL) PyErr_NoMemory();
    else if (PySequence_Fast_GET_SIZE(values) != program->n_inputs)
        PyErr_Format(
            PyExc_TypeError, "the compiled function takes %d inputs, not %zd", program->n_inputs,
            PySequence_Fast_GET_SIZE(values));
    else {
        Py_INCREF(self);
        const Frame frame = lm_lay_out(entry, memory);
        results = lm_run(entry, frame, PySequence_Fast_ITEMS(values), costs);
        for (int i = 0; i < program->n_inputs; ++i) Py_XDECREF(frame.objects[i]);
        Py_DECREF(self);
    }
    if (memory != small) PyMem_Free(memory);
    Py_DECREF(values);
    return results;
}

static PyObject *lm_entry_call(PyObject *const self, PyObject *const *const args, const size_t nargsf, PyObject *const names)
{
    if (PyVectorcall_NARGS(nargsf) != 1 || (names != NULL && PyTuple_GET_SIZE(names) != 0)) {
        PyErr_SetString(PyExc_TypeError, "a compiled function takes one argument, the sequence of its inputs");
        return NULL;
    }
    return lm_entry_run(self, args[0], NULL);
}

static PyObject *lm_entry_timed(PyObject *const self, PyObject *const inputs)
{
    const int n = ((Entry *)self)->library->program->n_steps;
    lm_cost *const costs = PyMem_Calloc((size_t)n + 1, sizeof(lm_cost));
    if (costs == NULL) return PyErr_NoMemory();
    PyObject *const results = lm_entry_run(self, inputs, costs);
    PyObject *const told = results == NULL ? NULL : PyList_New(n);
    for (int i = 0; told != NULL && i < n; ++i) {
        PyObject *const cost = Py_BuildValue("dn", costs[i].seconds, (Py_ssize_t)costs[i].bytes);
        if (cost == NULL) {
            Py_DECREF(told);
            Py_DECREF(results);
            PyMem_Free(costs);
            return NULL;
        }
        PyList_SET_ITEM(told, i, cost);
    }
    PyMem_Free(costs);
    if (told == NULL) {
        Py_XDECREF(results);
        return NULL;
    }
    return Py_BuildValue("NN", results, told);
}

/* ---------------------------------------------------------------------------------------------- users' code */

/* Clean up after the nodes of users' Ops, the last one first. */
static void lm_close(Entry *const entry)
{
    const lm_user_code *const user = entry->library->user;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    while (entry->n_opened > 0) user->nodes[--entry->n_opened].close();
    PyErr_Restore(type, value, traceback);
}

/* Prepare the nodes of users' Ops, each with its params. */
static int lm_open(Entry *const entry, PyObject *const params)
{
    Library *const library = entry->library;
    const lm_user_code *const user = library->user;
    if (user == NULL) return 0;
    if (!PyTuple_Check(params) || PyTuple_GET_SIZE(params) != user->n_nodes) {
        PyErr_Format(PyExc_ValueError, "the program takes a tuple of %d params", user->n_nodes);
        return -1;
    }
    entry->objects = PyMem_Calloc((size_t)user->n_kept + 1, sizeof(PyObject *));
    if (entry->objects == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (!library->initialised && user->init() < 0) return -1;
    library->initialised = 1;
    for (int i = 0; i < user->n_nodes; ++i) {
        ++entry->n_opened;
        if (user->nodes[i].open(PyTuple_GET_ITEM(params, i)) == 0) continue;
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "the code of an Op cannot be prepared, and does not say why");
        lm_annotate(entry, user->nodes[i].step);
        return -1;
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------------- the module */

typedef struct {
    PyTypeObject *library, *entry;
} ModuleState;

static int lm_entry_traverse(PyObject *const self, visitproc visit, void *const arg)
{
    Entry *const entry = (Entry *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(entry->library);
    Py_VISIT(entry->constants);
    Py_VISIT(entry->perform);
    Py_VISIT(entry->annotate);
    return 0;
}

static int lm_entry_clear(PyObject *const self)
{
    Entry *const entry = (Entry *)self;
    Py_CLEAR(entry->perform);
    Py_CLEAR(entry->annotate);
    return 0;
}

static void lm_entry_dealloc(PyObject *const self)
{
    Entry *const entry = (Entry *)self;
    PyTypeObject *const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (entry->library != NULL && entry->library->user != NULL) {
        lm_close(entry);
        for (int i = 0; entry->objects != NULL && i < entry->library->user->n_kept; ++i) Py_XDECREF(entry->objects[i]);
    }
    lm_entry_clear(self);
    PyMem_Free(entry->objects);
    if (entry->library != NULL) --entry->library->n_linked;
    for (int i = 0; i < entry->n_kept; ++i) lm_free_block(entry->kept[i]);
    PyMem_Free(entry->template);
    PyMem_Free(entry->constant_blocks);
    Py_XDECREF(entry->constants);
    Py_XDECREF(entry->library);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Describe the constants once and for all. */
static int lm_take_constants(Entry *const entry)
{
    const lm_program *const program = entry->library->program;
    entry->template = PyMem_Calloc(1, (size_t)program->frame_size + 1);
    entry->constant_blocks = PyMem_Calloc((size_t)program->n_constants + 1, sizeof(lm_block));
    if (entry->template == NULL || entry->constant_blocks == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < program->n_constants; ++i) {
        const lm_variable variable = program->variables[program->n_inputs + i];
        void *const place = entry->template + variable.offset;
        PyObject *const value = PyTuple_GET_ITEM(entry->constants, i);
        if (variable.type->dtype == LM_OBJECT) {
            *(PyObject **)place = value;
            continue;
        }
        PyArrayObject *const object = lm_readable(value, variable.type, "constant", i);
        if (object == NULL) return -1;
        lm_borrow(place, &entry->constant_blocks[i], object);
        PyTuple_SET_ITEM(entry->constants, i, (PyObject *)object); /* the tuple is this function's own */
        Py_DECREF(value);
    }
    return 0;
}

static PyObject *lm_library_link(PyObject *const self, PyObject *const args)
{
    PyObject *constants, *perform, *annotate, *params = NULL;
    if (!PyArg_ParseTuple(args, "OOO|O:link", &constants, &perform, &annotate, &params)) return NULL;
    Library *const library = (Library *)self;
    const ModuleState *const state = PyType_GetModuleState(Py_TYPE(self));
    Entry *const entry = (Entry *)state->entry->tp_alloc(state->entry, 0);
    if (entry == NULL) return NULL;
    entry->vectorcall = lm_entry_call;
    entry->library = (Library *)Py_NewRef(self);
    entry->threads = lm_default_threads();
    ++library->n_linked;
    entry->perform = Py_NewRef(perform);
    entry->annotate = Py_NewRef(annotate);
    PyObject *const listed = PySequence_List(constants);
    entry->constants = listed == NULL ? NULL : PyList_AsTuple(listed);
    Py_XDECREF(listed);
    if (entry->constants != NULL && PyTuple_GET_SIZE(entry->constants) != library->program->n_constants)
        PyErr_Format(PyExc_ValueError, "the program has %d constants", library->program->n_constants);
    if (PyErr_Occurred() || lm_take_constants(entry) < 0 || lm_open(entry, params) < 0) {
        Py_DECREF(entry);
        return NULL;
    }
    return (PyObject *)entry;
}

static void lm_library_dealloc(PyObject *const self)
{
    PyTypeObject *const type = Py_TYPE(self);
    if (((Library *)self)->weak_references != NULL) PyObject_ClearWeakRefs(self);
    if (((Library *)self)->library != NULL) dlclose(((Library *)self)->library);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *lm_load(PyObject *const module, PyObject *const path)
{
    PyObject *encoded;
    if (!PyUnicode_FSConverter(path, &encoded)) return NULL;
    const ModuleState *const state = PyModule_GetState(module);
    Library *const library = (Library *)state->library->tp_alloc(state->library, 0);
    if (library != NULL) {
        library->library = dlopen(PyBytes_AS_STRING(encoded), RTLD_NOW | RTLD_LOCAL);
        if (library->library != NULL) library->program = dlsym(library->library, "lamella_program");
        if (library->program != NULL) library->user = dlsym(library->library, "lamella_user_code");
    }
    Py_DECREF(encoded);
    if (library != NULL && library->program == NULL) {
        const char *const why = dlerror();
        PyErr_SetString(PyExc_OSError, why != NULL ? why : "this is no compiled function");
        Py_DECREF(library);
        return NULL;
    }
    return (PyObject *)library;
}

static PyMethodDef lm_library_methods[] = {
    {"link", lm_library_link, METH_VARARGS, "Return a compiled function with constants, what computes and annotates steps, and params."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef lm_library_members[] = {
    {"n_linked", T_INT, offsetof(Library, n_linked), READONLY, "How many functions use it."},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Library, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot lm_library_slots[] = {
    {Py_tp_doc, "A loaded shared object."},
    {Py_tp_dealloc, lm_library_dealloc},
    {Py_tp_methods, lm_library_methods},
    {Py_tp_members, lm_library_members},
    {0, NULL},
};

static PyType_Spec lm_library_spec = {
    .name = "lamella_glue.Library",
    .basicsize = sizeof(Library),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = lm_library_slots,
};

static PyMemberDef lm_entry_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Entry, vectorcall), READONLY, NULL},
    {"threads", T_INT, offsetof(Entry, threads), 0, "How many threads a call may have."},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef lm_entry_methods[] = {
    {"timed", lm_entry_timed, METH_O, "Do what a call does; return the outputs, and for each step its seconds and the bytes it allocated."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot lm_entry_slots[] = {
    {Py_tp_doc, "A compiled function: call it with the sequence of its inputs."},
    {Py_tp_dealloc, lm_entry_dealloc},
    {Py_tp_traverse, lm_entry_traverse},
    {Py_tp_clear, lm_entry_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_methods, lm_entry_methods},
    {Py_tp_members, lm_entry_members},
    {0, NULL},
};

static PyType_Spec lm_entry_spec = {
    .name = "lamella_glue.Entry",
    .basicsize = sizeof(Entry),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC
             | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = lm_entry_slots,
};

static int lm_module_exec(PyObject *const module)
{
    ModuleState *const state = PyModule_GetState(module);
    if (PyArray_ImportNumPyAPI() < 0) return -1;
    if (lm_array_memory_object == NULL) lm_array_memory_object = PyCapsule_New(&lm_array_memory, "mem_handler", NULL);
    if (lm_array_memory_object == NULL) return -1;
    state->library = (PyTypeObject *)PyType_FromModuleAndSpec(module, &lm_library_spec, NULL);
    if (state->library == NULL) return -1;
    state->entry = (PyTypeObject *)PyType_FromModuleAndSpec(module, &lm_entry_spec, NULL);
    return state->entry == NULL ? -1 : 0;
}

static int lm_module_traverse(PyObject *const module, visitproc visit, void *const arg)
{
    ModuleState *const state = PyModule_GetState(module);
    Py_VISIT(state->library);
    Py_VISIT(state->entry);
    return 0;
}

static int lm_module_clear(PyObject *const module)
{
    ModuleState *const state = PyModule_GetState(module);
    Py_CLEAR(state->library);
    Py_CLEAR(state->entry);
    return 0;
}

static PyMethodDef lm_module_methods[] = {
    {"load", lm_load, METH_O, "Load the shared object of a compiled function."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot lm_module_slots[] = {
    {Py_mod_exec, lm_module_exec},
    {0, NULL},
};

static PyModuleDef lm_module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "lamella_glue",
    .m_doc = "The host of compiled functions.",
    .m_size = sizeof(ModuleState),
    .m_methods = lm_module_methods,
    .m_slots = lm_module_slots,
    .m_traverse = lm_module_traverse,
    .m_clear = lm_module_clear,
};

PyMODINIT_FUNC PyInit_lamella_glue(void) { return PyModuleDef_Init(&lm_module); }
