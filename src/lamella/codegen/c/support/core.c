/* Services that need no host: memory, copies, and the steps of a function. */

#include <stdlib.h>
#include <time.h>

static lm_int *lm_shape(lm_array *const array) { return (lm_int *)(array + 1); }

static lm_int *lm_strides(lm_array *const array, const int ndim) { return (lm_int *)(array + 1) + ndim; }

static char *lm_plain_memory(lm_block *const block)
{
    const uintptr_t after = (uintptr_t)(block + 1);
    return (char *)((after + LM_ALIGNMENT - 1) / LM_ALIGNMENT * LM_ALIGNMENT);
}

static int lm_is_large(const lm_int size) { return (size_t)size >= LM_LARGE; }

static lm_block *lm_new_block(lm_call *const call, const lm_int size)
{
    /* The smallest that is large enough, and not much larger. */
    int best = -1;
    for (int i = 0; i < call->n_spare; ++i) {
        const lm_int found = call->spare[i]->size;
        if (found >= size && found / 2 <= size && (best < 0 || found < call->spare[best]->size)) best = i;
    }
    if (best >= 0) {
        lm_block *const spare = call->spare[best];
        call->spare[best] = call->spare[--call->n_spare];
        spare->count = 1;
        return spare;
    }
    const int is_large = lm_is_large(size);
    const size_t overhead = sizeof(lm_block) + LM_ALIGNMENT;
    lm_block *const made = is_large ? lm_take_large(overhead + (size_t)size) : malloc(overhead + (size_t)size);
    if (made != NULL) {
        made->count = 1;
        made->size = is_large ? (lm_int)(lm_large_size(made) - overhead) : size;
        made->owner = NULL;
    }
    return made;
}

/* Free plain memory that nobody uses any more; NULL is none. */
static void lm_free_block(lm_block *const block)
{
    if (block == NULL) return;
    if (lm_is_large(block->size)) lm_give_large(block);
    else free(block);
}

static void lm_release_plain(lm_call *const call, lm_block *const block)
{
    const int room = (int)(sizeof(call->spare) / sizeof(call->spare[0]));
    if (call->n_spare < room && block->size > 0) call->spare[call->n_spare++] = block;
    else lm_free_block(block);
}

/* Set the strides of a new array, its axes in memory ordered as given; return its size in bytes, or -1 if there is no such. */
static lm_int lm_set_strides(
    const int ndim, const lm_int *const shape, lm_int *const strides, const int *const order, const lm_int itemsize)
{
    lm_int size = itemsize;
    int empty = 0;
    for (int i = ndim - 1; i >= 0; --i) {
        const int axis = order[i];
        strides[axis] = shape[axis] == 1 ? 0 : size;
        if (shape[axis] < 0) return -1;
        if (shape[axis] == 0) empty = 1;
        else if (__builtin_mul_overflow(size, shape[axis], &size)) return -1;
    }
    return empty ? 0 : size;
}

static int lm_allocate(
    lm_call *const call, lm_array *const array, const lm_type *const type, const int n, const lm_int *const *const strides)
{
    int order[type->ndim + 1];
    lm_axis_order(order, type->ndim, n, strides);
    const lm_int size =
        lm_set_strides(type->ndim, lm_shape(array), lm_strides(array, type->ndim), order, type->itemsize);
    lm_block *const block = size < 0 ? NULL : lm_new_block(call, size);
    array->block = block;
    if (block == NULL) return -1;
    array->data = lm_plain_memory(block);
    return 0;
}

/* Write one element many times, side by side. */
static void lm_fill(char *const to, const char *const from, const size_t itemsize, const size_t n)
{
    const size_t size = n * itemsize;
    int zeros = 1;
    for (size_t i = 0; i < itemsize; ++i) zeros = zeros && from[i] == 0;
    if (zeros || itemsize == 1) {
        memset(to, from[0], size);
        return;
    }
    /* A piece that stays in the nearest cache is copied again and again. */
    size_t done = itemsize < size ? itemsize : size;
    memcpy(to, from, done);
    while (done < size) {
        size_t piece = done < 4096 ? done : 4096 / itemsize * itemsize;
        if (piece > size - done) piece = size - done;
        memcpy(to + done, to, piece);
        done += piece;
    }
}

#define LM_COPY_KERNEL(size, T) \
    static void lm_copy##size(const lm_int n, char *const *const data, const lm_int *const strides) \
    { \
        char *to = data[0]; \
        const char *from = data[1]; \
        const lm_int to_stride = strides[0], from_stride = strides[1]; \
        if (to_stride == size && from_stride == size) memcpy(to, from, (size_t)n * size); \
        else if (to_stride == size && from_stride == 0) lm_fill(to, from, size, (size_t)n); \
        else { \
            lm_int i = 0; \
            for (; i + 4 <= n; i += 4, to += 4 * to_stride, from += 4 * from_stride) { \
                *(T *)to = *(const T *)from; \
                *(T *)(to + to_stride) = *(const T *)(from + from_stride); \
                *(T *)(to + 2 * to_stride) = *(const T *)(from + 2 * from_stride); \
                *(T *)(to + 3 * to_stride) = *(const T *)(from + 3 * from_stride); \
            } \
            for (; i < n; ++i, to += to_stride, from += from_stride) *(T *)to = *(const T *)from; \
        } \
    }

typedef struct { uint64_t first, second; } lm_16_bytes;

LM_COPY_KERNEL(1, uint8_t)
LM_COPY_KERNEL(2, uint16_t)
LM_COPY_KERNEL(4, uint32_t)
LM_COPY_KERNEL(8, uint64_t)
LM_COPY_KERNEL(16, lm_16_bytes)

static lm_kernel lm_copy_kernel(const lm_int itemsize)
{
    return itemsize == 1 ? lm_copy1 : itemsize == 2 ? lm_copy2 : itemsize == 4 ? lm_copy4 : itemsize == 8 ? lm_copy8 : lm_copy16;
}

static void lm_copy(
    lm_call *const call, const lm_int itemsize, const int ndim, const lm_int *const shape, char *const to,
    const lm_int *const to_strides, const char *const from, const lm_int *const from_strides)
{
    /* The C library's own copies write past the caches where that pays. */
    const lm_loop loop = {lm_copy_kernel(itemsize), 1, 2, 0, 60 * itemsize, NULL};
    lm_each(
        call, &loop, ndim, shape, (char *const[]){to, (char *)from}, (const lm_int *const[]){to_strides, from_strides});
}

static inline void lm_drop(lm_call *const call, const lm_type *const type, void *const place)
{
    if (type->dtype == LM_OBJECT) {
        void **const object = place;
        call->serve->release_object(*object);
        *object = NULL;
    } else
        lm_release(call, &((lm_array *)place)->block);
}

/* Let the reference interpreter compute a step. */
static int lm_refer(lm_call *const call, const lm_program *const program, const lm_step *const step, void *const *const at)
{
    const int n = step->n_in + step->n_out;
    lm_value values[n + 1];
    for (int k = 0; k < n; ++k) values[k] = (lm_value){at[k], program->variables[step->variables[k]].type};
    const lm_value *const outputs = values + step->n_in;
    for (int k = 0; k < step->n_out; ++k) lm_drop(call, outputs[k].type, outputs[k].place);
    return call->serve->reference(call, call->step, step->n_in, values, step->n_out, outputs);
}

/* What a step cost: its time, and the bytes of its outputs, but for those that lie in the memory of an input. */
typedef struct {
    double seconds;
    lm_int bytes;
} lm_cost;

static double lm_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static lm_int lm_new_bytes(const lm_program *const program, const lm_step *const step, void *const *const at)
{
    lm_int total = 0;
    for (int k = step->n_in; k < step->n_in + step->n_out; ++k) {
        const lm_type *const type = program->variables[step->variables[k]].type;
        if (type->dtype == LM_OBJECT) continue;
        lm_array *const output = at[k];
        int is_new = 1;
        for (int i = 0; i < step->n_in; ++i) {
            if (at[i] == NULL || program->variables[step->variables[i]].type->dtype == LM_OBJECT) continue;
            const lm_array *const input = at[i];
            if (output->block == NULL ? output->data == input->data : output->block == input->block) is_new = 0;
        }
        lm_int bytes = is_new * type->itemsize;
        for (int axis = 0; axis < type->ndim; ++axis) bytes *= lm_shape(output)[axis];
        total += bytes;
    }
    return total;
}

/* Run one step; where `costs` is not NULL, note there what it cost. */
static inline __attribute__((always_inline)) int lm_run_step(
    lm_call *const call, const lm_program *const program, char *const frame, const int i, void **const at, lm_cost *const costs)
{
    const lm_step *const step = &program->steps[i];
    const int n = step->n_in + step->n_out, *const numbers = step->variables;
    call->step = i;
    for (int k = 0; k < n; ++k) at[k] = numbers[k] < 0 ? NULL : frame + program->variables[numbers[k]].offset;
    const double start = LM_UNLIKELY(costs != NULL) ? lm_now() : 0;
    int status = step->run == NULL ? LM_REFER : step->run(call, at);
    if (LM_UNLIKELY(status == LM_REFER)) status = lm_refer(call, program, step, at);
    if (LM_UNLIKELY(status < 0)) return -1;
    if (LM_UNLIKELY(costs != NULL)) costs[i] = (lm_cost){lm_now() - start, lm_new_bytes(program, step, at)};
    return 0;
}

/* A run on demand. */
typedef struct {
    const lm_program *program;
    char *frame;
    int *uses;  /* of each variable, how often it is still to be read */
    int *state; /* of each step */
    int *stack; /* steps that wait, each below what it waits for */
    int *unread; /* variables that have been read once more */
    int n_stack, n_unread;
} lm_run_state;

enum { LM_UNDECIDED, LM_CONDITION_HOLDS, LM_CONDITION_FAILS, LM_FINISHED };

/* Whether a step needs an input, as far as it is decided. */
static int lm_needs(const lm_run_state *const run, const int step, const int input)
{
    const int values = run->program->demand->choices[step];
    if (values == 0 || input == 0) return 1;
    return run->state[step] == LM_CONDITION_HOLDS  ? input <= values
           : run->state[step] == LM_CONDITION_FAILS ? input > values
                                                    : 0;
}

static void lm_note_reads(lm_run_state *const run, const int step, const int needed)
{
    const int *const inputs = run->program->demand->inputs[step];
    for (int k = 0; k < run->program->steps[step].n_in; ++k)
        if (inputs[k] >= 0 && lm_needs(run, step, k) == needed) run->unread[run->n_unread++] = inputs[k];
}

static int lm_is_wanted(const lm_run_state *const run, const int step)
{
    const lm_step *const of = &run->program->steps[step];
    for (int k = of->n_in; k < of->n_in + of->n_out; ++k)
        if (run->uses[of->variables[k]] > 0) return 1;
    return 0;
}

/* Forget what has been read for the last time; steps that nobody needs any more are finished without having run. */
static void lm_forget_unread(lm_call *const call, lm_run_state *const run)
{
    const lm_program *const program = run->program;
    while (run->n_unread > 0) {
        const int variable = run->unread[--run->n_unread], producer = program->demand->producers[variable];
        if (--run->uses[variable] > 0) continue;
        if (variable >= program->n_inputs + program->n_constants)
            lm_drop(call, program->variables[variable].type, run->frame + program->variables[variable].offset);
        if (producer < 0 || run->state[producer] == LM_FINISHED || lm_is_wanted(run, producer)) continue;
        lm_note_reads(run, producer, 1);
        if (run->state[producer] == LM_UNDECIDED) lm_note_reads(run, producer, 0);
        run->state[producer] = LM_FINISHED;
    }
}

static void lm_wait_for(lm_run_state *const run, const int step)
{
    if (step >= 0 && run->state[step] != LM_FINISHED) run->stack[run->n_stack++] = step;
}

/* Decide a choice whose condition is known: what only the other branch needs is not needed any more. */
static void lm_decide(lm_call *const call, lm_run_state *const run, const int step)
{
    const int condition = run->program->demand->inputs[step][0];
    const lm_array *const array = (const lm_array *)(run->frame + run->program->variables[condition].offset);
    run->state[step] = *(const unsigned char *)array->data ? LM_CONDITION_HOLDS : LM_CONDITION_FAILS;
    lm_note_reads(run, step, 0);
    lm_forget_unread(call, run);
}

/* Decide all that can be: what is going to be overwritten may then be read by fewer. */
static void lm_decide_what_is_known(lm_call *const call, lm_run_state *const run)
{
    const lm_demand *const demand = run->program->demand;
    for (int step = 0; step < run->program->n_steps; ++step) {
        if (demand->choices[step] == 0 || run->state[step] != LM_UNDECIDED) continue;
        const int producer = demand->producers[demand->inputs[step][0]];
        if (producer < 0 || run->state[producer] == LM_FINISHED) lm_decide(call, run, step);
    }
}

/* Whether a step can run; if not, it waits, below what it waits for. */
static int lm_is_ready(lm_call *const call, lm_run_state *const run, const int step)
{
    const lm_demand *const demand = run->program->demand;
    const int *const inputs = demand->inputs[step];
    const int waiting = run->n_stack;
    run->stack[run->n_stack++] = step;
    if (demand->choices[step] > 0 && run->state[step] == LM_UNDECIDED) {
        lm_wait_for(run, demand->producers[inputs[0]]);
        if (run->n_stack > waiting + 1) return 0;
        lm_decide(call, run, step);
    }
    for (const int *other = demand->before[step]; *other >= 0; ++other)
        if (run->state[*other] != LM_FINISHED) {
            lm_decide_what_is_known(call, run);
            break;
        }
    for (const int *other = demand->before[step]; *other >= 0; ++other) lm_wait_for(run, *other);
    for (int k = 0; k < run->program->steps[step].n_in; ++k)
        if (inputs[k] >= 0 && lm_needs(run, step, k)) lm_wait_for(run, demand->producers[inputs[k]]);
    if (run->n_stack > waiting + 1) return 0;
    run->n_stack = waiting;
    return 1;
}

static int lm_run_waiting(lm_call *const call, lm_run_state *const run, lm_cost *const costs)
{
    const lm_program *const program = run->program;
    void *at[program->most_operands + 1];
    while (run->n_stack > 0) {
        const int step = run->stack[--run->n_stack];
        if (run->state[step] == LM_FINISHED || !lm_is_ready(call, run, step)) continue;
        if (lm_run_step(call, program, run->frame, step, at, costs) < 0) return -1;
        const lm_step *const done = &program->steps[step];
        for (int k = done->n_in; k < done->n_in + done->n_out; ++k)
            if (run->uses[done->variables[k]] == 0)
                lm_drop(call, program->variables[done->variables[k]].type, at[k]);
        lm_note_reads(run, step, 1);
        run->state[step] = LM_FINISHED;
        lm_forget_unread(call, run);
    }
    return 0;
}

static int lm_run_on_demand(lm_call *const call, const lm_program *const program, char *const frame, lm_cost *const costs)
{
    const lm_demand *const demand = program->demand;
    const size_t n_variables = (size_t)program->n_variables, n_steps = (size_t)program->n_steps;
    int *const memory = malloc((n_variables + n_steps + 2 * (size_t)demand->most_waiting) * sizeof(int));
    if (memory == NULL) return -1;
    lm_run_state run = {.program = program, .frame = frame, .uses = memory};
    run.state = run.uses + n_variables;
    run.stack = run.state + n_steps;
    run.unread = run.stack + demand->most_waiting;
    memcpy(run.uses, demand->uses, n_variables * sizeof(int));
    memset(run.state, 0, n_steps * sizeof(int));
    for (int i = program->n_outputs - 1; i >= 0; --i) lm_wait_for(&run, demand->producers[program->outputs[i]]);
    const int status = lm_run_waiting(call, &run, costs);
    free(memory);
    return status;
}

/* Run the steps; where `costs` is not NULL, note there what each of them cost. */
static int lm_run_steps(lm_call *const call, const lm_program *const program, char *const frame, lm_cost *const costs)
{
    if (LM_UNLIKELY(program->demand != NULL)) return lm_run_on_demand(call, program, frame, costs);
    void *at[program->most_operands + 1];
    for (int i = 0; i < program->n_steps; ++i) {
        if (lm_run_step(call, program, frame, i, at, costs) < 0) return -1;
        const lm_step *const step = &program->steps[i];
        const int n = step->n_in + step->n_out, *const numbers = step->variables;
        for (int k = n; k < n + step->n_dead; ++k)
            lm_drop(call, program->variables[numbers[k]].type, frame + program->variables[numbers[k]].offset);
    }
    return 0;
}
