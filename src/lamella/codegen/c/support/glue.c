/* The host of compiled functions, a module of Python: it loads libraries and links what they hold. */

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

/* ---------------------------------------------------------------------------------------------- functions */

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
    free(entry->idle);
    PyMem_Free(entry->stored);
    PyMem_Free(entry->template);
    PyMem_Free(entry->constant_blocks);
    Py_XDECREF(entry->constants);
    Py_XDECREF(entry->library);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Describe, once and for all, what variables a call begins with. */
static int lm_set_template(Entry *const entry)
{
    const lm_program *const program = entry->library->program;
    for (int i = 0; i < program->n_variables; ++i) {
        const lm_type *const type = program->variables[i].type;
        const size_t size = type->dtype == LM_OBJECT ? sizeof(void *) : sizeof(lm_array) + 2 * sizeof(lm_int) * (size_t)type->ndim;
        const size_t end = (size_t)program->variables[i].offset + size;
        if (end > entry->template_size) entry->template_size = end;
    }
    entry->template = PyMem_Calloc(1, entry->template_size + 1);
    entry->stored = PyMem_Calloc((size_t)program->n_variables + 1, sizeof(int));
    entry->constant_blocks = PyMem_Calloc((size_t)program->n_constants + 1, sizeof(lm_block));
    if (entry->template == NULL || entry->stored == NULL || entry->constant_blocks == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = program->n_inputs + program->n_constants; i < program->n_variables; ++i)
        if (program->variables[i].storage) entry->stored[entry->n_stored++] = i;
    for (int i = 0; i < program->n_constants; ++i) {
        const lm_variable variable = program->variables[program->n_inputs + i];
        void *const place = entry->template + variable.offset;
        PyObject *const value = PyTuple_GET_ITEM(entry->constants, i);
        if (variable.type->dtype == LM_OBJECT) {
            *(PyObject **)place = value;
            continue;
        }
        PyArrayObject *const object = lm_array_of(value, variable.type, "constant", i);
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
    if (PyErr_Occurred() || lm_set_template(entry) < 0 || lm_open(entry, params) < 0) {
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
    {"function_type", lm_entry_function_type, METH_O, "Return a subclass of a class, whose instances are called as planned."},
    {"plan_calls", lm_entry_plan_calls, METH_VARARGS, "Plan the calls of an instance of such a class."},
    {"timed", lm_entry_timed, METH_O, "Do what a call does; return the outputs, and for each step that ran its seconds and the bytes it allocated, else None."},
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
    if (state->entry == NULL) return -1;
    state->plan = (PyTypeObject *)PyType_FromModuleAndSpec(module, &lm_plan_spec, NULL);
    return state->plan == NULL ? -1 : 0;
}

static int lm_module_traverse(PyObject *const module, visitproc visit, void *const arg)
{
    ModuleState *const state = PyModule_GetState(module);
    Py_VISIT(state->library);
    Py_VISIT(state->entry);
    Py_VISIT(state->plan);
    Py_VISIT(state->function_base);
    Py_VISIT(state->function);
    return 0;
}

static int lm_module_clear(PyObject *const module)
{
    ModuleState *const state = PyModule_GetState(module);
    Py_CLEAR(state->library);
    Py_CLEAR(state->entry);
    Py_CLEAR(state->plan);
    Py_CLEAR(state->function_base);
    Py_CLEAR(state->function);
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
