/* The host of an exported function: plain C, no Python. Arrays come in from C and go out to it; errors are noted as text.

   It is a part of the file of an exported library, behind its header, lamella.h, the function's unit, and core.c. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* An array that is written into the file, in C's order. */
typedef struct {
    const void *data; /* NULL for none */
    const lm_int *shape;
} lm_written;

/* What the host has to know of a function beside its program, whose inputs are those of a call, and then shared variables. */
typedef struct {
    const lm_program *program;
    const char *const *names;    /* of the inputs of a call, then of the shared variables */
    const char *const *failures; /* for each step, what to say where it cannot be computed */
    const lm_written *constants;
    const lm_written *defaults;  /* for each input of a call */
    const lm_written *shared;    /* for each shared variable its first value */
    const lm_type *const *shared_types;
    const int *read;             /* for each input after those of a call, the number of the shared variable */
    const int *updated;          /* for each output after those of a call, the number of the shared variable that it sets */
    int n_given, n_returned, n_shared;
} lm_export;

/* One value of a shared variable: an array in C's order. */
typedef struct {
    lm_block *block; /* NULL for what is written into the file */
    const char *data;
    const lm_int *shape;
} lm_state_value;

/* What a call of an exported function works with. */
typedef struct {
    const lm_export *export;
    int status;
} lm_plain_call;

static _Thread_local char lm_message[512];

/* Note an error. */
__attribute__((format(printf, 2, 3))) static int lm_fail(const int status, const char *const format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(lm_message, sizeof(lm_message), format, arguments);
    va_end(arguments);
    return status;
}

static int lm_want_of_memory(void) { return lm_fail(LAMELLA_NO_MEMORY, "there is not enough memory"); }

/* ---------------------------------------------------------------------------------------------- services */

/* How many threads a call may have: as the environment says when it is first asked. */
static int lm_threads(void)
{
    static int known;
    int n = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (n == 0) {
        n = lm_default_threads();
        __atomic_store_n(&known, n, __ATOMIC_RELAXED);
    }
    return n;
}

/* Memory that is not counted, since it outlives the call. */
static lm_block lm_lasting = {-1, 0, NULL};

static void *lm_plain_unlock(void) { return NULL; }

static void lm_plain_lock(void *const state) { (void)state; }

static void lm_plain_release(lm_call *const call, lm_block *const block) { lm_release_plain(call, block); }

/* ---------------------------------------------------------------------------------------------- arrays in */

static int lm_is_in_c_order(const int ndim, const lm_int *const shape, const lm_int *const strides, lm_int itemsize)
{
    for (int i = 0; i < ndim; ++i)
        if (shape[i] == 0) return 1;
    for (int i = ndim - 1; i >= 0; --i) {
        if (shape[i] != 1 && strides[i] != itemsize) return 0;
        itemsize *= shape[i];
    }
    return 1;
}

/* Describe an array that lies in C's order. */
static void lm_describe(lm_array *const array, const lm_type *const type, const void *const data, const lm_int *const shape)
{
    int order[type->ndim + 1];
    for (int i = 0; i < type->ndim; ++i) {
        order[i] = i;
        lm_shape(array)[i] = shape[i];
    }
    lm_set_strides(type->ndim, shape, lm_strides(array, type->ndim), order, type->itemsize);
    array->data = (char *)data;
    array->block = &lm_lasting;
}

/* Put a copy in the place of an array: in C's order, or with its axes in the order of some strides. */
static int lm_separate(lm_call *const call, lm_array *const array, const lm_type *const type, const lm_int *const order)
{
    lm_int strides[type->ndim + 1];
    memcpy(strides, lm_strides(array, type->ndim), (size_t)type->ndim * sizeof(lm_int));
    const char *const from = array->data;
    if (lm_allocate(call, array, type, order != NULL, &order) < 0) return lm_want_of_memory();
    lm_copy(call, type->itemsize, type->ndim, lm_shape(array), array->data, lm_strides(array, type->ndim), from, strides);
    return 0;
}

static void lm_add_text(size_t *const used, const char *const format, ...) __attribute__((format(printf, 2, 3)));

static void lm_add_text(size_t *const used, const char *const format, ...)
{
    if (*used >= sizeof(lm_message)) return;
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(lm_message + *used, sizeof(lm_message) - *used, format, arguments);
    va_end(arguments);
    if (n > 0) *used += (size_t)n;
}

/* Strides that have axes in an order of some number: 0 is C's. */
static void lm_numbered_order(const int ndim, int number, lm_int *const strides)
{
    for (int axis = 0; axis < ndim; ++axis) strides[axis] = 0;
    for (int rest = ndim; rest > 0; --rest) {
        int place = number % rest, axis = 0;
        number /= rest;
        for (; strides[axis] != 0 || place > 0; ++axis) place -= strides[axis] == 0;
        strides[axis] = rest;
    }
}

/* Run a step on copies of its inputs in the order of some number, if there is any to copy. */
static int lm_run_in_order(
    lm_call *const call, const lm_step *const step, const int n_in, const lm_value *const in, const int n_out,
    const lm_value *const out, const int number)
{
    size_t size = 0;
    for (int i = 0; i < n_in; ++i) size += 2 + 2 * (size_t)in[i].type->ndim;
    lm_int memory[size + 1], *next = memory;
    void *at[n_in + n_out + 1];
    int is_copy[n_in + 1], n_copies = 0, status = 0;
    for (int i = 0; i < n_in; ++i) {
        const int ndim = in[i].type->ndim;
        lm_int order[ndim + 1];
        lm_numbered_order(ndim, number, order);
        at[i] = next;
        next += 2 + 2 * ndim;
        memcpy(at[i], in[i].place, (2 + 2 * (size_t)ndim) * sizeof(lm_int));
        const int is_ready =
            number == 0 && lm_is_in_c_order(ndim, lm_shape(at[i]), lm_strides(at[i], ndim), in[i].type->itemsize);
        if (status == 0 && !is_ready) status = lm_separate(call, at[i], in[i].type, order) < 0 ? -1 : 0;
        is_copy[i] = status == 0 && !is_ready;
        n_copies += is_copy[i];
    }
    for (int i = 0; i < n_out; ++i) at[n_in + i] = out[i].place;
    if (status == 0) status = n_copies > 0 ? step->run(call, at) : LM_REFER;
    for (int i = 0; i < n_in; ++i)
        if (is_copy[i]) lm_release(call, &((lm_array *)at[i])->block);
    return status;
}

/* Run a step on inputs in other orders than theirs, for its code may know no way through what it was given: in C's order, and
   where there is one of few axes, in all others. */
static int lm_run_in_orders(
    lm_call *const call, const lm_step *const step, const int n_in, const lm_value *const in, const int n_out,
    const lm_value *const out)
{
    int n_orders = 1;
    if (n_in == 1 && in[0].type->ndim <= 6)
        for (int i = 2; i <= in[0].type->ndim; ++i) n_orders *= i;
    int status = LM_REFER;
    for (int number = 0; number < n_orders && status == LM_REFER && step->run != NULL; ++number) {
        for (int i = 0; i < n_out; ++i) lm_release(call, &((lm_array *)out[i].place)->block);
        status = lm_run_in_order(call, step, n_in, in, n_out, out, number);
    }
    return status;
}

/* A step refers: there is an error to raise, or its code does not know what it is given. */
static int lm_plain_reference(
    lm_call *const call, const int step, const int n_in, const lm_value *const in, const int n_out, const lm_value *const out)
{
    lm_plain_call *const host = call->host;
    const int status = lm_run_in_orders(call, &host->export->program->steps[step], n_in, in, n_out, out);
    if (status != LM_REFER) return status;
    size_t used = 0;
    lm_add_text(&used, "%s; given: arrays of shapes", host->export->failures[step]);
    for (int i = 0; i < n_in; ++i) {
        lm_add_text(&used, "%s(", i == 0 ? " " : ", ");
        for (int axis = 0; axis < in[i].type->ndim; ++axis)
            lm_add_text(
                &used, "%s%lld", axis == 0 ? "" : ", ", (long long)lm_shape(in[i].place)[axis]);
        lm_add_text(&used, ")");
    }
    host->status = LAMELLA_FAILED;
    return -1;
}

static const char *const lm_dtype_names[] = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
};

/* How elements of a dtype are to be aligned. */
static lm_int lm_alignment(const lm_type *const type)
{
    return type->dtype == LM_COMPLEX64 || type->dtype == LM_COMPLEX128 ? type->itemsize / 2 : type->itemsize;
}

/* Check an array that C gives, and describe it. */
static int lm_take(
    lm_call *const call, lm_array *const array, const lm_type *const type, const lamella_array *const given,
    const char *const name)
{
    if ((int)given->dtype != (int)type->dtype || given->ndim != type->ndim)
        return lm_fail(
            LAMELLA_BAD_INPUT, "%s: an array of dtype %s and %d dimensions is expected, not of dtype %s and %d dimensions", name,
            lm_dtype_names[type->dtype], type->ndim,
            (size_t)given->dtype < sizeof(lm_dtype_names) / sizeof(lm_dtype_names[0]) ? lm_dtype_names[given->dtype] : "?",
            given->ndim);
    lm_int size = type->itemsize;
    int is_empty = 0;
    for (int i = 0; i < type->ndim; ++i) {
        const lm_int length = given->shape[i];
        if (length < 0 || (type->shape[i] >= 0 && type->shape[i] != length))
            return lm_fail(
                LAMELLA_BAD_INPUT, "%s: the length along axis %d is %lld, and must be %s%lld", name, i, (long long)length,
                type->shape[i] < 0 ? "at least " : "", (long long)(type->shape[i] < 0 ? 0 : type->shape[i]));
        is_empty = is_empty || length == 0;
        if (length != 0 && __builtin_mul_overflow(size, length, &size))
            return lm_fail(LAMELLA_BAD_INPUT, "%s: the array is larger than memory", name);
    }
    if (given->data == NULL && !is_empty) return lm_fail(LAMELLA_BAD_INPUT, "%s: there are no elements: data is NULL", name);
    lm_describe(array, type, given->data, given->shape);
    lm_int *const strides = lm_strides(array, type->ndim), alignment = lm_alignment(type);
    int is_aligned = (uintptr_t)given->data % (uintptr_t)alignment == 0;
    for (int i = 0; i < type->ndim && given->strides != NULL; ++i) {
        strides[i] = given->shape[i] == 1 ? 0 : given->strides[i];
        is_aligned = is_aligned && strides[i] % alignment == 0;
    }
    return is_aligned ? 0 : lm_separate(call, array, type, NULL);
}

/* ---------------------------------------------------------------------------------------------- arrays out */

/* What belongs to an array that was given to C; its lengths and strides follow. */
typedef struct {
    lm_block *block;
    lm_int layout[];
} lm_owner;

static void lm_free_array(lamella_array *const array)
{
    if (array == NULL) return;
    lm_owner *const owner = array->owner;
    if (owner != NULL) {
        lm_free_block(owner->block);
        free(owner);
    }
    *array = (lamella_array){0};
}

/* Return the memory of an array in C's order, which nobody else has: its own, or that of a copy; NULL for want of memory. */
static lm_block *lm_own_memory(lm_call *const call, lm_array *const array, const lm_type *const type, char **const data)
{
    lm_block *const block = array->block;
    *data = array->data;
    if (block != NULL && block->count == 1
        && lm_is_in_c_order(type->ndim, lm_shape(array), lm_strides(array, type->ndim), type->itemsize)) {
        array->block = NULL;
        return block;
    }
    lm_int copy[2 + 2 * type->ndim];
    memcpy(copy, array, sizeof(copy));
    lm_array *const made = (lm_array *)copy;
    if (lm_separate(call, made, type, NULL) < 0) return NULL;
    *data = made->data;
    return made->block;
}

static int lm_give(lm_call *const call, lm_array *const array, const lm_type *const type, lamella_array *const made)
{
    lm_owner *const owner = malloc(sizeof(lm_owner) + (2 * (size_t)type->ndim + 1) * sizeof(lm_int));
    if (owner == NULL) return lm_want_of_memory();
    char *data;
    owner->block = lm_own_memory(call, array, type, &data);
    if (owner->block == NULL) {
        free(owner);
        return LAMELLA_NO_MEMORY;
    }
    lm_int *const shape = owner->layout, *const strides = owner->layout + type->ndim;
    lm_int stride = type->itemsize;
    for (int i = type->ndim - 1; i >= 0; --i) {
        shape[i] = lm_shape(array)[i];
        strides[i] = stride;
        stride *= shape[i] > 0 ? shape[i] : 1;
    }
    *made = (lamella_array){data, (lamella_dtype)type->dtype, type->ndim, shape, strides, owner};
    return 0;
}

/* ---------------------------------------------------------------------------------------------- shared variables */

static void lm_drop_state_value(lm_state_value *const value)
{
    lm_free_block(value->block);
    value->block = NULL;
}

/* The lengths of an array follow its elements in memory: those of a value are kept with it. */
static int lm_keep(lm_call *const call, lm_array *const array, const lm_type *const type, lm_state_value *const value)
{
    lm_int size = type->itemsize;
    for (int i = 0; i < type->ndim; ++i) size *= lm_shape(array)[i];
    const lm_int room = (size + (lm_int)sizeof(lm_int) - 1) / (lm_int)sizeof(lm_int) * (lm_int)sizeof(lm_int);
    lm_block *const block = lm_new_block(call, room + (type->ndim + 1) * (lm_int)sizeof(lm_int));
    if (block == NULL) return lm_want_of_memory();
    char *const data = lm_plain_memory(block);
    lm_int *const shape = (lm_int *)(data + room);
    memcpy(shape, lm_shape(array), (size_t)type->ndim * sizeof(lm_int));
    int order[type->ndim + 1];
    lm_int strides[type->ndim + 1];
    for (int i = 0; i < type->ndim; ++i) order[i] = i;
    lm_set_strides(type->ndim, shape, strides, order, type->itemsize);
    lm_copy(call, type->itemsize, type->ndim, shape, data, strides, array->data, lm_strides(array, type->ndim));
    *value = (lm_state_value){block, data, shape};
    return 0;
}

static void lm_free_spare(lm_call *const call)
{
    while (call->n_spare > 0) lm_free_block(call->spare[--call->n_spare]);
}

/* ---------------------------------------------------------------------------------------------- one call */

static int lm_take_all(
    lm_call *const call, const lm_export *const export, char *const frame, const lm_state_value *const values,
    const lamella_array *const *const given)
{
    const lm_program *const program = export->program;
    for (int i = 0; i < program->n_inputs; ++i) {
        const lm_type *const type = program->variables[i].type;
        lm_array *const array = (lm_array *)(frame + program->variables[i].offset);
        int status = 0;
        if (i >= export->n_given) {
            const lm_state_value *const value = &values[export->read[i - export->n_given]];
            lm_describe(array, type, value->data, value->shape);
        } else if (given[i] != NULL) status = lm_take(call, array, type, given[i], export->names[i]);
        else if (export->defaults[i].data != NULL) lm_describe(array, type, export->defaults[i].data, export->defaults[i].shape);
        else status = lm_fail(LAMELLA_BAD_INPUT, "%s: it is NULL, and has no default value", export->names[i]);
        if (status == 0 && program->overwritten[i] && array->block == &lm_lasting) status = lm_separate(call, array, type, NULL);
        if (status != 0) return status;
    }
    for (int i = 0; i < program->n_constants; ++i) {
        const lm_variable *const variable = &program->variables[program->n_inputs + i];
        lm_describe(
            (lm_array *)(frame + variable->offset), variable->type, export->constants[i].data, export->constants[i].shape);
    }
    for (int i = program->n_inputs + program->n_constants; i < program->n_variables; ++i)
        if (program->variables[i].storage)
            ((lm_array *)(frame + program->variables[i].offset))->data = frame + program->variables[i].storage;
    return 0;
}

static int lm_give_all(
    lm_call *const call, const lm_export *const export, char *const frame, lm_state_value *const values,
    lamella_array *const *const made)
{
    const lm_program *const program = export->program;
    const int n_updated = program->n_outputs - export->n_returned;
    lm_state_value updates[n_updated + 1];
    int status = 0, n_given = 0, n_kept = 0;
    for (; n_kept < n_updated && status == 0; n_kept += status == 0) {
        const lm_variable *const variable = &program->variables[program->outputs[export->n_returned + n_kept]];
        status = lm_keep(call, (lm_array *)(frame + variable->offset), variable->type, &updates[n_kept]);
    }
    for (; n_given < export->n_returned && status == 0; n_given += status == 0) {
        if (made[n_given] == NULL) continue;
        const lm_variable *const variable = &program->variables[program->outputs[n_given]];
        status = lm_give(call, (lm_array *)(frame + variable->offset), variable->type, made[n_given]);
    }
    for (int i = 0; i < n_kept; ++i) {
        lm_state_value *const value = status == 0 ? &values[export->updated[i]] : &updates[i];
        lm_drop_state_value(value);
        if (status == 0) *value = updates[i];
    }
    while (status != 0 && n_given > 0) lm_free_array(made[--n_given]);
    return status;
}

static int lm_call_exported(
    const lm_services *const serve, const lm_export *const export, lm_state_value *const values,
    const lamella_array *const *const given, lamella_array *const *const made)
{
    const lm_program *const program = export->program;
    lm_plain_call host = {export, 0};
    lm_call call = {.serve = serve, .step = -1, .threads = lm_threads(), .host = &host};
    lm_message[0] = 0;
    for (int i = 0; i < export->n_returned; ++i)
        if (made[i] != NULL) *made[i] = (lamella_array){0};
    void *const memory = malloc((size_t)program->frame_size + 64);
    if (memory == NULL) return lm_want_of_memory();
    char *const frame = (char *)(((uintptr_t)memory + 63) / 64 * 64);
    memset(frame, 0, (size_t)program->frame_size);
    int status = lm_take_all(&call, export, frame, values, given);
    if (status == 0 && lm_run_steps(&call, program, frame, NULL) < 0) status = host.status != 0 ? host.status : lm_want_of_memory();
    if (status == 0) status = lm_give_all(&call, export, frame, values, made);
    for (int i = 0; i < program->n_variables; ++i)
        lm_release(&call, &((lm_array *)(frame + program->variables[i].offset))->block);
    lm_free_spare(&call);
    free(memory);
    return status;
}
