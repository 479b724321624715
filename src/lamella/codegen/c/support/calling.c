/* One call of a compiled function. */

static inline void *lm_place(const lm_program *const program, const Frame *const frame, const int variable)
{
    return frame->variables + program->variables[variable].offset;
}

static char *lm_cut(char **const rest, const size_t size)
{
    char *const piece = *rest;
    *rest += size;
    return piece;
}

static Frame *lm_new_frame(const lm_program *const program)
{
    const size_t n_inputs = (size_t)program->n_inputs, n_outputs = (size_t)program->n_outputs, alignment = LM_ALIGNMENT;
    const size_t input_size = sizeof(lm_number) + sizeof(lm_block) + sizeof(PyObject *);
    char *rest = malloc(
        sizeof(Frame) + alignment + (size_t)program->frame_size + n_inputs * input_size + n_outputs * sizeof(PyObject *));
    if (rest == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    Frame *const frame = (Frame *)lm_cut(&rest, sizeof(Frame));
    rest = (char *)(((uintptr_t)rest + alignment - 1) / alignment * alignment);
    frame->variables = lm_cut(&rest, (size_t)program->frame_size);
    frame->numbers = (lm_number *)lm_cut(&rest, n_inputs * sizeof(lm_number));
    frame->blocks = (lm_block *)lm_cut(&rest, n_inputs * sizeof(lm_block));
    frame->objects = (PyObject **)lm_cut(&rest, n_inputs * sizeof(PyObject *));
    frame->results = (PyObject **)lm_cut(&rest, n_outputs * sizeof(PyObject *));
    memset(frame->objects, 0, n_inputs * sizeof(PyObject *));
    return frame;
}

/* Return a frame for one call, or NULL with the error noted. It goes to `lm_leave`. */
static inline Frame *lm_enter(Entry *const entry)
{
    Frame *const idle = entry->idle;
    entry->idle = NULL; /* while this call lets others run, they find none */
    return LM_UNLIKELY(idle == NULL) ? lm_new_frame(entry->library->program) : idle;
}

/* Give up the inputs, and the frame. */
static inline void lm_leave(Entry *const entry, Frame *const frame)
{
    for (int i = 0; i < entry->library->program->n_inputs; ++i) Py_CLEAR(frame->objects[i]);
    if (entry->idle == NULL) entry->idle = frame;
    else free(frame);
}

/* Take over an input as it is given, in a function that has checked nothing. */
static int lm_take_input(const lm_program *const program, Frame *const frame, const int i, PyObject *const value)
{
    const lm_type *const type = program->variables[i].type;
    frame->objects[i] = type->dtype == LM_OBJECT ? Py_NewRef(value) : (PyObject *)lm_array_of(value, type, "input", i);
    return frame->objects[i] == NULL ? -1 : 0;
}

/* Bring the variables into the state in which a call begins. */
static inline int lm_prepare(const Entry *const entry, Frame *const frame)
{
    const lm_program *const program = entry->library->program;
    memcpy(frame->variables, entry->template, entry->template_size);
    for (int i = 0; i < entry->n_stored; ++i)
        ((lm_array *)lm_place(program, frame, entry->stored[i]))->data =
            frame->variables + program->variables[entry->stored[i]].storage;
    for (int i = 0; i < program->n_inputs; ++i) {
        void *const place = lm_place(program, frame, i);
        PyObject *object = frame->objects[i];
        if (program->variables[i].type->dtype == LM_OBJECT) {
            *(PyObject **)place = object;
            continue;
        }
        if (object == NULL) {
            *(lm_array *)place = (lm_array){.data = frame->numbers[i].bytes};
            continue;
        }
        if (program->overwritten[i] && !lm_may_overwrite(frame->objects, program->n_inputs, i)) {
            object = PyArray_NewCopy((PyArrayObject *)object, NPY_KEEPORDER);
            if (object == NULL) return -1;
            Py_SETREF(frame->objects[i], object);
        }
        lm_borrow(place, &frame->blocks[i], (PyArrayObject *)object);
    }
    return 0;
}

static inline int lm_take_results(const lm_program *const program, Frame *const frame)
{
    for (int i = 0; i < program->n_outputs; ++i) {
        const lm_type *const type = program->variables[program->outputs[i]].type;
        void *const place = lm_place(program, frame, program->outputs[i]);
        frame->results[i] = lm_object_of(place, type);
        if (frame->results[i] == NULL) {
            while (i > 0) Py_DECREF(frame->results[--i]);
            return -1;
        }
    }
    return 0;
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

/* Compute the results from the inputs that the frame holds. */
static int lm_run(Entry *const entry, Frame *const frame, lm_cost *const costs)
{
    const lm_program *const program = entry->library->program;
    if (lm_prepare(entry, frame) < 0) return -1;
    Run run;
    lm_call *const call = &run.call;
    run.entry = entry;
    run.n_owners = 0;
    call->serve = &lm_python_services;
    call->step = -1;
    call->threads = entry->threads;
    call->host = entry;
    call->n_spare = entry->n_kept;
    memcpy(call->spare, entry->kept, (size_t)entry->n_kept * sizeof(lm_block *));
    entry->n_kept = 0;
    int status = lm_run_steps(call, program, frame->variables, costs);
    if (LM_UNLIKELY(status < 0)) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        lm_annotate(entry, call->step);
    } else
        status = lm_take_results(program, frame);
    for (int i = program->n_inputs + program->n_constants; i < program->n_variables; ++i)
        lm_drop(call, program->variables[i].type, lm_place(program, frame, i));
    lm_int kept = 0;
    const int unused = entry->n_kept == 0; /* no other call has come back meanwhile */
    for (int i = 0; i < call->n_spare; ++i) {
        lm_block *const block = call->spare[i];
        const int is_kept = unused && !lm_is_large(block->size) && kept + block->size <= LM_KEPT_MEMORY;
        if (is_kept) {
            kept += block->size;
            entry->kept[entry->n_kept++] = block;
        } else lm_free_block(block);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------- from a sequence to a list */

static int lm_take_inputs(const lm_program *const program, Frame *const frame, PyObject *const values)
{
    if (PySequence_Fast_GET_SIZE(values) != program->n_inputs) {
        PyErr_Format(
            PyExc_TypeError, "the compiled function takes %d inputs, not %zd", program->n_inputs,
            PySequence_Fast_GET_SIZE(values));
        return -1;
    }
    for (int i = 0; i < program->n_inputs; ++i)
        if (lm_take_input(program, frame, i, PySequence_Fast_GET_ITEM(values, i)) < 0) return -1;
    return 0;
}

/* Return `n` results, from the first one on, as a list that takes over the references to them; also if that fails. */
static PyObject *lm_listed(PyObject *const *const results, const int n)
{
    PyObject *const list = PyList_New(n);
    for (int i = 0; i < n; ++i) {
        if (list != NULL) PyList_SET_ITEM(list, i, results[i]);
        else Py_DECREF(results[i]);
    }
    return list;
}

static PyObject *lm_entry_run(PyObject *const self, PyObject *const inputs, lm_cost *const costs)
{
    Entry *const entry = (Entry *)self;
    const lm_program *const program = entry->library->program;
    PyObject *const values = PySequence_Fast(inputs, "the inputs of a compiled function are a sequence");
    if (values == NULL) return NULL;
    PyObject *results = NULL;
    Frame *const frame = lm_enter(entry);
    if (frame != NULL) {
        Py_INCREF(self);
        if (lm_take_inputs(program, frame, values) == 0 && lm_run(entry, frame, costs) == 0)
            results = lm_listed(frame->results, program->n_outputs);
        lm_leave(entry, frame);
        Py_DECREF(self);
    }
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
    for (int i = 0; i < n; ++i) costs[i].seconds = -1; /* of a step that does not run */
    PyObject *const results = lm_entry_run(self, inputs, costs);
    PyObject *const told = results == NULL ? NULL : PyList_New(n);
    for (int i = 0; told != NULL && i < n; ++i) {
        PyObject *const cost =
            costs[i].seconds < 0 ? Py_NewRef(Py_None) : Py_BuildValue("dn", costs[i].seconds, (Py_ssize_t)costs[i].bytes);
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
