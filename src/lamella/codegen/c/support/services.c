/* What the host does for generated code: the interpreter lock, Ops computed by their `perform`, objects. */

static void *lm_unlock(void) { return PyEval_SaveThread(); }

static void lm_lock(void *const state) { PyEval_RestoreThread(state); }

static int lm_host_reference(
    lm_call *const call, const int step, const int n_in, const lm_value *const in, const int n_out, const lm_value *const out)
{
    Entry *const entry = call->host;
    PyObject *const inputs = PyList_New(n_in);
    if (inputs == NULL) return -1;
    for (int i = 0; i < n_in; ++i) {
        PyObject *const value = lm_object_of(in[i].place, in[i].type);
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
        else status = lm_accept(call, out[i].place, out[i].type, value, i);
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
    return sorted == NULL ? -1 : lm_accept(call, out->place, out->type, sorted, 0);
}

static void *lm_host_as_object(lm_call *const call, const lm_value *const value)
{
    (void)call;
    return lm_object_of(value->place, value->type);
}

static int lm_host_from_object(lm_call *const call, const lm_value *const value, void *const object)
{
    lm_drop(call, value->type, value->place);
    if (value->type->dtype != LM_OBJECT) return lm_accept(call, value->place, value->type, object, 0);
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
    .reduce = lm_reduce,
    .rows = lm_rows,
    .index = lm_index,
    .pass_at = lm_pass_at,
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
