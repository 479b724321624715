/* Functions that are called without Python: instances of a subclass of Python's `Function`, each with a plan of its calls.

   A call whose arguments are what the compiled code reads as they are (arrays of the dtype, the dimensions and the known lengths; numbers,
   where there are no dimensions) is done here. All others, those with errors among them, are left to the `__call__` of Python, before
   anything has happened. */

/* What may be done with an argument. */
enum {
    LM_TAKES_NUMBERS = 1, /* numbers of Python are accepted, where nothing is lost */
    LM_ROUNDS = 2,        /* and floats are rounded to a shorter dtype */
    LM_MUTABLE = 4,       /* it may be overwritten */
};

/* Arguments that are put in order here, where some are given by name or not given. */
#define LM_MOST_NAMED 64

typedef struct {
    PyObject_HEAD
    Entry *entry;
    PyObject *python;    /* the `__call__` of Python */
    PyObject *rules;     /* bytes: for each argument, what may be done with it */
    PyObject *keywords;  /* a tuple: for each argument its name, or None */
    PyObject *defaults;  /* a tuple: for each argument its default, or `required` */
    PyObject *required;
    PyObject *read;      /* a tuple: the cells of the shared variables that are read */
    PyObject *updated;   /* a tuple: the cells of those that are set, to the last results */
    PyObject *acquire, *release; /* tuples: methods of the locks that are held, in the order in which they are acquired */
    PyObject *kind;      /* how the other results are handed back: in a list, a tuple or a dict; None: as they are */
    PyObject *keys;      /* a tuple: of that dict */
    int n_arguments, has_mutable;
    Py_ssize_t trust_offset, value_offset;
} Plan;

/* What our functions have that those of Python have not: at the end of the object. */
typedef struct {
    vectorcallfunc vectorcall;
    PyObject *plan;
} FunctionPart;

/* ---------------------------------------------------------------------------------------------- arguments */

/* Write a number as the filter of a `TensorType` without dimensions does. Return 0 where it is for the filter to decide. */
static int lm_take_number(lm_number *const number, const lm_type *const type, const int rules, PyObject *const value)
{
    const lm_dtype dtype = type->dtype;
    if (PyArray_IsScalar(value, Generic)) {
        PyArray_Descr *const descr = PyArray_DescrFromType(lm_dtypes[dtype].typenum);
        const int fits = Py_TYPE(value) == descr->typeobj;
        Py_DECREF(descr);
        if (fits) PyArray_ScalarAsCtype(value, number);
        return fits;
    }
    if (!(rules & LM_TAKES_NUMBERS)) return 0;
    if (PyFloat_CheckExact(value)) {
        const double real = PyFloat_AS_DOUBLE(value);
        if (dtype == LM_FLOAT64 || dtype == LM_COMPLEX128) {
            number->real[0] = real;
            number->real[1] = 0;
            return 1;
        }
        if (dtype != LM_FLOAT32 || !(rules & LM_ROUNDS)) return 0;
        number->single = (float)real;
        return __builtin_isfinite(number->single) || !__builtin_isfinite(real);
    }
    if (PyLong_CheckExact(value)) {
        int overflow;
        const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow != 0) return 0;
        if (dtype == LM_INT64) number->integer = integer;
        else if (dtype == LM_FLOAT64) number->real[0] = (double)integer;
        else return 0;
        return 1;
    }
    if (PyBool_Check(value)) {
        const int truth = value == Py_True;
        if (dtype == LM_BOOL) number->bytes[0] = (char)truth;
        else if (dtype == LM_INT64) number->integer = truth;
        else if (dtype == LM_FLOAT64) number->real[0] = truth;
        else return 0;
        return 1;
    }
    if (PyComplex_CheckExact(value) && dtype == LM_COMPLEX128) {
        const Py_complex both = PyComplex_AsCComplex(value);
        number->real[0] = both.real;
        number->real[1] = both.imag;
        return 1;
    }
    return 0;
}

/* Take over an argument. Return 0 where Python is to have a look at it. */
static inline int lm_take_argument(const Plan *const plan, Frame *const frame, const int i, PyObject *const value, const int trusted)
{
    const lm_type *const type = plan->entry->library->program->variables[i].type;
    const int rules = PyBytes_AS_STRING(plan->rules)[i];
    if (type->dtype == LM_OBJECT) {
        if (!trusted || (rules & LM_MUTABLE)) return 0;
    } else if (type->is_number)
        return lm_take_number(&frame->numbers[i], type, trusted ? 0 : rules, value);
    else if (!PyArray_CheckExact(value))
        return !trusted && type->ndim == 0 && lm_take_number(&frame->numbers[i], type, rules, value);
    else if (!lm_is_of_type((PyArrayObject *)value, type) || !PyArray_ISBEHAVED_RO((PyArrayObject *)value))
        return 0;
    frame->objects[i] = Py_NewRef(value);
    return 1;
}

/* Put arguments, some of them given by name or not given, in order. Return 0 where Python is to do it, or to refuse it. */
static int lm_arrange(
    const Plan *const plan, PyObject *const *const args, const Py_ssize_t n_args, PyObject *const names, PyObject **const values)
{
    if (plan->n_arguments > LM_MOST_NAMED || n_args > plan->n_arguments) return 0;
    for (int i = 0; i < plan->n_arguments; ++i) values[i] = i < n_args ? args[i] : NULL;
    for (Py_ssize_t k = 0; names != NULL && k < PyTuple_GET_SIZE(names); ++k) {
        int place = plan->n_arguments - 1;
        while (place >= 0 && PyTuple_GET_ITEM(plan->keywords, place) != PyTuple_GET_ITEM(names, k)) --place;
        if (place < 0 || values[place] != NULL) return 0;
        values[place] = args[n_args + k];
    }
    for (int i = 0; i < plan->n_arguments; ++i) {
        if (values[i] != NULL) continue;
        values[i] = PyTuple_GET_ITEM(plan->defaults, i);
        if (values[i] == plan->required || (PyBytes_AS_STRING(plan->rules)[i] & LM_MUTABLE)) return 0;
    }
    return 1;
}

static inline int lm_take_arguments(
    const Plan *const plan, Frame *const frame, PyObject *const *const args, const Py_ssize_t n_args, PyObject *const names,
    const int trusted)
{
    PyObject *arranged[LM_MOST_NAMED];
    const int as_given = n_args == plan->n_arguments && (names == NULL || PyTuple_GET_SIZE(names) == 0);
    if (!as_given && !lm_arrange(plan, args, n_args, names, arranged)) return 0;
    PyObject *const *const values = as_given ? args : arranged;
    for (int i = 0; i < plan->n_arguments; ++i)
        if (!lm_take_argument(plan, frame, i, values[i], trusted)) return 0;
    return 1;
}

/* ---------------------------------------------------------------------------------------------- shared variables */

static PyObject **lm_value_of(const Plan *const plan, PyObject *const cells, const Py_ssize_t i)
{
    return (PyObject **)((char *)PyTuple_GET_ITEM(cells, i) + plan->value_offset);
}

/* Take over the values of shared variables. Return 0 where Python is to do it, and -1 with the error noted. */
static inline int lm_read_shared(const Plan *const plan, Frame *const frame)
{
    const lm_program *const program = plan->entry->library->program;
    for (int i = plan->n_arguments; i < program->n_inputs; ++i) {
        PyObject *const value = *lm_value_of(plan, plan->read, i - plan->n_arguments);
        if (value == NULL) return 0;
        if (lm_take_input(program, frame, i, value) < 0) return -1;
    }
    return 1;
}

/* Whether an argument that may be overwritten may share memory with another input. */
static inline int lm_is_entangled(const Plan *const plan, const Frame *const frame)
{
    if (!plan->has_mutable) return 0;
    for (int i = 0; i < plan->n_arguments; ++i)
        if ((PyBytes_AS_STRING(plan->rules)[i] & LM_MUTABLE) && frame->objects[i] != NULL
            && lm_meets_another(frame->objects, plan->entry->library->program->n_inputs, i))
            return 1;
    return 0;
}

/* Set the shared variables, giving the references to their new values away. */
static void lm_update(const Plan *const plan, PyObject *const *const values)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(plan->updated); ++i) Py_XSETREF(*lm_value_of(plan, plan->updated, i), values[i]);
}

/* Release the first `n` locks; an error that is noted stays. */
static void lm_release_locks(const Plan *const plan, Py_ssize_t n)
{
    if (n == 0) return;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    while (n > 0) {
        PyObject *const done = PyObject_CallNoArgs(PyTuple_GET_ITEM(plan->release, --n));
        if (done == NULL) PyErr_WriteUnraisable(plan->release);
        Py_XDECREF(done);
    }
    PyErr_Restore(type, value, traceback);
}

static int lm_acquire_locks(const Plan *const plan)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(plan->acquire); ++i) {
        PyObject *const done = PyObject_CallNoArgs(PyTuple_GET_ITEM(plan->acquire, i));
        if (done == NULL) {
            lm_release_locks(plan, i);
            return -1;
        }
        Py_DECREF(done);
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------------- results */

/* Hand back results in the form that was asked for, giving the references away; also if that fails. */
static PyObject *lm_packed_results(const Plan *const plan, PyObject *const *const results, const int n)
{
    if (plan->kind == Py_None) return n > 0 ? results[0] : Py_NewRef(Py_None);
    if (plan->kind == (PyObject *)&PyList_Type) return lm_listed(results, n);
    const int is_tuple = plan->kind == (PyObject *)&PyTuple_Type;
    PyObject *packed = is_tuple ? PyTuple_New(n) : PyDict_New();
    for (int i = 0; i < n; ++i) {
        if (packed != NULL && is_tuple) {
            PyTuple_SET_ITEM(packed, i, results[i]);
            continue;
        }
        if (packed != NULL && PyDict_SetItem(packed, PyTuple_GET_ITEM(plan->keys, i), results[i]) < 0) Py_CLEAR(packed);
        Py_DECREF(results[i]);
    }
    return packed;
}

/* ---------------------------------------------------------------------------------------------- calls */

/* Try a call here. Return NULL, with no error noted, where Python is to do it. */
static inline PyObject *lm_call_directly(
    const Plan *const plan, Frame *const frame, PyObject *const *const args, const Py_ssize_t n_args, PyObject *const names,
    const int trusted)
{
    if (!lm_take_arguments(plan, frame, args, n_args, names, trusted)) return NULL;
    if (lm_acquire_locks(plan) < 0) return NULL;
    const int n_returned = plan->entry->library->program->n_outputs - (int)PyTuple_GET_SIZE(plan->updated);
    const int done = lm_read_shared(plan, frame) > 0 && !lm_is_entangled(plan, frame) && lm_run(plan->entry, frame, NULL) == 0;
    if (done) lm_update(plan, frame->results + n_returned);
    lm_release_locks(plan, PyTuple_GET_SIZE(plan->release));
    return done ? lm_packed_results(plan, frame->results, n_returned) : NULL;
}

static PyObject *lm_call_python(
    const Plan *const plan, PyObject *const self, PyObject *const *const args, const size_t nargsf, PyObject *const names)
{
    PyObject *const method = PyMethod_New(plan->python, self);
    if (method == NULL) return NULL;
    PyObject *const result = PyObject_Vectorcall(method, args, nargsf, names);
    Py_DECREF(method);
    return result;
}

static void lm_plan_dealloc(PyObject *self);

static FunctionPart *lm_function_part(PyObject *const self)
{
    return (FunctionPart *)((char *)self + Py_TYPE(self)->tp_vectorcall_offset);
}

static PyObject *lm_function_call(PyObject *const self, PyObject *const *const args, const size_t nargsf, PyObject *const names)
{
    Plan *const plan = (Plan *)lm_function_part(self)->plan;
    if (plan == NULL || Py_TYPE(plan)->tp_dealloc != lm_plan_dealloc) {
        PyErr_SetString(PyExc_TypeError, "the plan of this function has been taken away");
        return NULL;
    }
    PyObject *const trust = *(PyObject **)((char *)self + plan->trust_offset);
    if (trust != Py_True && trust != Py_False) return lm_call_python(plan, self, args, nargsf, names);
    Py_INCREF(plan);
    PyObject *result = NULL;
    Entry *const entry = plan->entry;
    Frame *const frame = lm_enter(entry);
    if (frame != NULL) {
        result = lm_call_directly(plan, frame, args, PyVectorcall_NARGS(nargsf), names, trust == Py_True);
        lm_leave(entry, frame);
    }
    if (result == NULL && !PyErr_Occurred()) result = lm_call_python(plan, self, args, nargsf, names);
    Py_DECREF(plan);
    return result;
}

/* ---------------------------------------------------------------------------------------------- plans */

static int lm_plan_traverse(PyObject *const self, visitproc visit, void *const arg)
{
    Plan *const plan = (Plan *)self;
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(plan->entry);
    Py_VISIT(plan->python);
    Py_VISIT(plan->defaults);
    Py_VISIT(plan->required);
    Py_VISIT(plan->read);
    Py_VISIT(plan->updated);
    Py_VISIT(plan->acquire);
    Py_VISIT(plan->release);
    Py_VISIT(plan->keys);
    return 0;
}

static void lm_plan_dealloc(PyObject *const self)
{
    Plan *const plan = (Plan *)self;
    PyTypeObject *const type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(plan->entry);
    Py_XDECREF(plan->python);
    Py_XDECREF(plan->rules);
    Py_XDECREF(plan->keywords);
    Py_XDECREF(plan->defaults);
    Py_XDECREF(plan->required);
    Py_XDECREF(plan->read);
    Py_XDECREF(plan->updated);
    Py_XDECREF(plan->acquire);
    Py_XDECREF(plan->release);
    Py_XDECREF(plan->kind);
    Py_XDECREF(plan->keys);
    type->tp_free(self);
    Py_DECREF(type);
}

/* Where instances of a class have a slot, in bytes; -1 with the error noted where they have no such. */
static Py_ssize_t lm_slot_offset(PyTypeObject *const type, const char *const name)
{
    PyObject *const found = PyObject_GetAttrString((PyObject *)type, name);
    if (found == NULL) return -1;
    Py_ssize_t offset = -1;
    if (Py_TYPE(found) == &PyMemberDescr_Type && ((PyMemberDescrObject *)found)->d_member->type == T_OBJECT_EX)
        offset = ((PyMemberDescrObject *)found)->d_member->offset;
    else PyErr_Format(PyExc_TypeError, "%s.%s is no slot", type->tp_name, name);
    Py_DECREF(found);
    return offset;
}

/* Note where cells, all of one class, have their values. */
static int lm_find_values(Plan *const plan, PyObject *const cells)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(cells); ++i) {
        const Py_ssize_t offset = lm_slot_offset(Py_TYPE(PyTuple_GET_ITEM(cells, i)), "value");
        if (offset < 0) return -1;
        if (plan->value_offset != 0 && plan->value_offset != offset) {
            PyErr_SetString(PyExc_TypeError, "the cells of shared variables are of several classes");
            return -1;
        }
        plan->value_offset = offset;
    }
    return 0;
}

static PyObject *lm_methods_of(PyObject *const objects, const char *const name)
{
    const Py_ssize_t n = PyTuple_GET_SIZE(objects);
    PyObject *const methods = PyTuple_New(n);
    for (Py_ssize_t i = 0; methods != NULL && i < n; ++i) {
        PyObject *const method = PyObject_GetAttrString(PyTuple_GET_ITEM(objects, i), name);
        if (method == NULL) {
            Py_DECREF(methods);
            return NULL;
        }
        PyTuple_SET_ITEM(methods, i, method);
    }
    return methods;
}

/* Return names as they are compared: by identity, with those that calls give. */
static PyObject *lm_interned(PyObject *const names)
{
    const Py_ssize_t n = PyTuple_GET_SIZE(names);
    PyObject *const interned = PyTuple_New(n);
    for (Py_ssize_t i = 0; interned != NULL && i < n; ++i) {
        PyObject *name = Py_NewRef(PyTuple_GET_ITEM(names, i));
        if (PyUnicode_CheckExact(name)) PyUnicode_InternInPlace(&name);
        PyTuple_SET_ITEM(interned, i, name);
    }
    return interned;
}

static int lm_complete_plan(Plan *const plan, PyObject *const function, PyObject *const keywords, PyObject *const locks)
{
    const lm_program *const program = plan->entry->library->program;
    plan->n_arguments = (int)PyBytes_GET_SIZE(plan->rules);
    for (int i = 0; i < plan->n_arguments; ++i) plan->has_mutable |= PyBytes_AS_STRING(plan->rules)[i] & LM_MUTABLE;
    if (PyTuple_GET_SIZE(keywords) != plan->n_arguments || PyTuple_GET_SIZE(plan->defaults) != plan->n_arguments
        || plan->n_arguments + PyTuple_GET_SIZE(plan->read) != program->n_inputs
        || PyTuple_GET_SIZE(plan->updated) > program->n_outputs) {
        PyErr_SetString(PyExc_ValueError, "the plan does not fit the compiled function");
        return -1;
    }
    const Py_ssize_t n_returned = program->n_outputs - PyTuple_GET_SIZE(plan->updated);
    if (plan->kind == (PyObject *)&PyDict_Type ? PyTuple_GET_SIZE(plan->keys) != n_returned
                                              : plan->kind == Py_None && n_returned > 1) {
        PyErr_SetString(PyExc_ValueError, "the form of the results does not fit the compiled function");
        return -1;
    }
    plan->trust_offset = lm_slot_offset(Py_TYPE(function), "trust_input");
    if (plan->trust_offset < 0 || lm_find_values(plan, plan->read) < 0 || lm_find_values(plan, plan->updated) < 0) return -1;
    plan->keywords = lm_interned(keywords);
    plan->acquire = lm_methods_of(locks, "acquire");
    plan->release = lm_methods_of(locks, "release");
    return plan->keywords == NULL || plan->acquire == NULL || plan->release == NULL ? -1 : 0;
}

static PyObject *lm_entry_plan_calls(PyObject *const self, PyObject *const args)
{
    PyObject *function, *python, *rules, *keywords, *defaults, *required, *read, *updated, *locks, *kind, *keys;
    if (!PyArg_ParseTuple(
            args, "OOSO!O!OO!O!O!OO!:plan_calls", &function, &python, &rules, &PyTuple_Type, &keywords, &PyTuple_Type, &defaults,
            &required, &PyTuple_Type, &read, &PyTuple_Type, &updated, &PyTuple_Type, &locks, &kind, &PyTuple_Type, &keys))
        return NULL;
    const ModuleState *const state = PyType_GetModuleState(Py_TYPE(self));
    if (Py_TYPE(function) != state->function) {
        PyErr_SetString(PyExc_TypeError, "this is no function whose calls can be planned");
        return NULL;
    }
    Plan *const plan = (Plan *)state->plan->tp_alloc(state->plan, 0);
    if (plan == NULL) return NULL;
    plan->entry = (Entry *)Py_NewRef(self);
    plan->python = Py_NewRef(python);
    plan->rules = Py_NewRef(rules);
    plan->defaults = Py_NewRef(defaults);
    plan->required = Py_NewRef(required);
    plan->read = Py_NewRef(read);
    plan->updated = Py_NewRef(updated);
    plan->kind = Py_NewRef(kind);
    plan->keys = Py_NewRef(keys);
    if (lm_complete_plan(plan, function, keywords, locks) < 0) {
        Py_DECREF(plan);
        return NULL;
    }
    FunctionPart *const part = lm_function_part(function);
    Py_XSETREF(part->plan, (PyObject *)plan);
    part->vectorcall = lm_function_call;
    Py_RETURN_NONE;
}

static PyType_Slot lm_plan_slots[] = {
    {Py_tp_doc, "How a function is called."},
    {Py_tp_dealloc, lm_plan_dealloc},
    {Py_tp_traverse, lm_plan_traverse},
    {0, NULL},
};

static PyType_Spec lm_plan_spec = {
    .name = "lamella_glue.Plan",
    .basicsize = sizeof(Plan),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_GC,
    .slots = lm_plan_slots,
};

/* ---------------------------------------------------------------------------------------------- the class of functions */

static PyObject *lm_function_method(PyObject *const self, PyObject *const *const args, const Py_ssize_t n_args, PyObject *const names)
{
    return lm_function_call(self, args, (size_t)n_args, names);
}

/* What Python would make of `tp_call` has no signature to be shown. */
static PyMethodDef lm_function_methods[] = {
    {"__call__", (PyCFunction)(void (*)(void))lm_function_method, METH_FASTCALL | METH_KEYWORDS | METH_COEXIST,
     "__call__($self, /, *args, **kwargs)\n--\n\nCompute the outputs from values of the inputs, given in order or by name."},
    {NULL, NULL, 0, NULL},
};

/* Return a subclass of a class of Python's: it inherits all but how its instances are called, and how large they are. */
static PyObject *lm_new_function_type(PyTypeObject *const base)
{
    const Py_ssize_t at = base->tp_basicsize;
    PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, at + (Py_ssize_t)offsetof(FunctionPart, vectorcall), READONLY, NULL},
        {"_plan", T_OBJECT_EX, at + (Py_ssize_t)offsetof(FunctionPart, plan), 0, NULL}, /* the collector visits it for that */
        {NULL, 0, 0, 0, NULL},
    };
    PyType_Slot slots[] = {
        {Py_tp_call, PyVectorcall_Call},
        {Py_tp_members, members},
        {Py_tp_methods, lm_function_methods},
        {base->tp_doc == NULL ? 0 : Py_tp_doc, (void *)base->tp_doc},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = "lamella.Function",
        .basicsize = (int)(at + (Py_ssize_t)sizeof(FunctionPart)),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
        .slots = slots,
    };
    return PyType_FromSpecWithBases(&spec, (PyObject *)base);
}

static PyObject *lm_entry_function_type(PyObject *const self, PyObject *const base)
{
    ModuleState *const state = PyType_GetModuleState(Py_TYPE(self));
    if (!PyType_Check(base) || !PyType_HasFeature((PyTypeObject *)base, Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_HAVE_GC)
        || ((PyTypeObject *)base)->tp_itemsize != 0) {
        PyErr_SetString(PyExc_TypeError, "a class that is written in Python is expected");
        return NULL;
    }
    if (state->function_base != (PyTypeObject *)base) {
        PyObject *const made = lm_new_function_type((PyTypeObject *)base);
        if (made == NULL) return NULL;
        Py_XSETREF(state->function, (PyTypeObject *)made);
        Py_XSETREF(state->function_base, (PyTypeObject *)Py_NewRef(base));
    }
    return Py_NewRef((PyObject *)state->function);
}
