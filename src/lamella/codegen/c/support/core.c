/* Services that need no host: memory, loops over several dimensions, and the steps of a function. */

#include <stdlib.h>
#include <time.h>

/* Elements from which on a pass lets others run. */
#define LM_LONG_PASS 50000

#define LM_ALIGNMENT 64

static lm_int *lm_shape(lm_array *const array) { return (lm_int *)(array + 1); }

static lm_int *lm_strides(lm_array *const array, const int ndim) { return (lm_int *)(array + 1) + ndim; }

static char *lm_plain_memory(lm_block *const block)
{
    const uintptr_t after = (uintptr_t)(block + 1);
    return (char *)((after + LM_ALIGNMENT - 1) / LM_ALIGNMENT * LM_ALIGNMENT);
}

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
    lm_block *const made = malloc(sizeof(lm_block) + LM_ALIGNMENT + (size_t)size);
    if (made != NULL) {
        made->count = 1;
        made->size = size;
        made->owner = NULL;
    }
    return made;
}

static void lm_release_plain(lm_call *const call, lm_block *const block)
{
    const int room = (int)(sizeof(call->spare) / sizeof(call->spare[0]));
    if (call->n_spare < room && block->size > 0) call->spare[call->n_spare++] = block;
    else free(block);
}

/* Whether axis `a` lies outside of axis `b`, by the first operand that can tell; -1 where none can. */
static int lm_is_outer(const int a, const int b, const int n, const lm_int *const *const strides)
{
    for (int i = 0; i < n; ++i) {
        const lm_int sa = strides[i][a] < 0 ? -strides[i][a] : strides[i][a];
        const lm_int sb = strides[i][b] < 0 ? -strides[i][b] : strides[i][b];
        if (sa != 0 && sb != 0 && sa != sb) return sa > sb;
    }
    return -1;
}

/* Order axes from the outermost to the innermost as operands of some strides have them in memory. */
static void lm_axis_order(int *const order, const int ndim, const int n, const lm_int *const *const strides)
{
    for (int i = 0; i < ndim; ++i) {
        int place = i;
        for (int j = i - 1; j >= 0; --j) {
            const int outer = lm_is_outer(order[j], i, n, strides);
            if (outer == 1) break;
            if (outer == 0) place = j;
        }
        for (int j = i; j > place; --j) order[j] = order[j - 1];
        order[place] = i;
    }
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

static void lm_nest(
    lm_call *const call, const lm_kernel kernel, const int n, const int ndim, const lm_int *const shape,
    char *const *const data, const lm_int *const *const strides)
{
    lm_int length[ndim + 1], total = 1;
    int order[ndim + 1];
    for (int i = 0; i < ndim; ++i) total *= shape[i];
    if (total == 0) return;
    lm_axis_order(order, ndim, n, strides);

    /* Leave out axes of length 1, and join those that lie in memory as one does, for all operands. */
    lm_int step[ndim + 1][n];
    int depth = 0;
    for (int i = 0; i < ndim; ++i) {
        const int axis = order[i];
        if (shape[axis] == 1) continue;
        int joined = depth > 0;
        for (int k = 0; k < n && joined; ++k) joined = step[depth - 1][k] == strides[k][axis] * shape[axis];
        if (joined) length[depth - 1] *= shape[axis];
        else length[depth++] = shape[axis];
        for (int k = 0; k < n; ++k) step[depth - 1][k] = strides[k][axis];
    }
    if (depth == 0) {
        for (int k = 0; k < n; ++k) step[0][k] = 0;
        length[depth++] = 1;
    }

    char *at[n];
    lm_int index[ndim + 1];
    for (int k = 0; k < n; ++k) at[k] = data[k];
    for (int i = 0; i < depth; ++i) index[i] = 0;
    const int inner = depth - 1;
    void *const unlocked = total >= LM_LONG_PASS ? call->serve->unlock() : NULL;
    for (;;) {
        kernel(length[inner], at, step[inner]);
        int axis = inner - 1;
        for (; axis >= 0; --axis) {
            for (int k = 0; k < n; ++k) at[k] += step[axis][k];
            if (++index[axis] < length[axis]) break;
            for (int k = 0; k < n; ++k) at[k] -= step[axis][k] * length[axis];
            index[axis] = 0;
        }
        if (axis < 0) break;
    }
    if (unlocked != NULL) call->serve->lock(unlocked);
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

#define LM_COPY_KERNEL(size) \
    static void lm_copy##size(const lm_int n, char *const *const data, const lm_int *const strides) \
    { \
        char *const to = data[0]; \
        const char *const from = data[1]; \
        if (strides[0] == size && strides[1] == size) memcpy(to, from, (size_t)n * size); \
        else if (strides[0] == size && strides[1] == 0) lm_fill(to, from, size, (size_t)n); \
        else \
            for (lm_int i = 0; i < n; ++i) memcpy(to + i * strides[0], from + i * strides[1], size); \
    }

LM_COPY_KERNEL(1)
LM_COPY_KERNEL(2)
LM_COPY_KERNEL(4)
LM_COPY_KERNEL(8)
LM_COPY_KERNEL(16)

static void lm_copy(
    lm_call *const call, const lm_int itemsize, const int ndim, const lm_int *const shape, char *const to,
    const lm_int *const to_strides, const char *const from, const lm_int *const from_strides)
{
    const lm_kernel kernel = itemsize == 1 ? lm_copy1
                             : itemsize == 2 ? lm_copy2
                             : itemsize == 4 ? lm_copy4
                             : itemsize == 8 ? lm_copy8
                                             : lm_copy16;
    lm_nest(
        call, kernel, 2, ndim, shape, (char *const[]){to, (char *)from}, (const lm_int *const[]){to_strides, from_strides});
}

static void lm_drop(lm_call *const call, const lm_type *const type, void *const place)
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

/* Run the steps; where `costs` is not NULL, note there what each of them cost. */
static int lm_run_steps(lm_call *const call, const lm_program *const program, char *const frame, lm_cost *const costs)
{
    const lm_variable *const variables = program->variables;
    void *at[program->most_operands + 1];
    for (int i = 0; i < program->n_steps; ++i) {
        const lm_step *const step = &program->steps[i];
        const int n = step->n_in + step->n_out, *const numbers = step->variables;
        call->step = i;
        for (int k = 0; k < n; ++k) at[k] = numbers[k] < 0 ? NULL : frame + variables[numbers[k]].offset;
        const double start = LM_UNLIKELY(costs != NULL) ? lm_now() : 0;
        int status = step->run == NULL ? LM_REFER : step->run(call, at);
        if (LM_UNLIKELY(status == LM_REFER)) status = lm_refer(call, program, step, at);
        if (LM_UNLIKELY(status < 0)) return -1;
        if (LM_UNLIKELY(costs != NULL)) costs[i] = (lm_cost){lm_now() - start, lm_new_bytes(program, step, at)};
        for (int k = n; k < n + step->n_dead; ++k)
            lm_drop(call, variables[numbers[k]].type, frame + variables[numbers[k]].offset);
    }
    return 0;
}
