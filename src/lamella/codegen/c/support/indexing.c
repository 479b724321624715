/* Places that index arrays select: elements are read, set or added to. The other axes of the array are kept: `n_outer` of them come before
   the axes that the index arrays broadcast to in the result, the rest behind. */

/* Places that are computed before their elements are visited. */
#define LM_CHUNK 256

/* Estimated picoseconds for a place, and for an element. */
#define LM_TIME_OF_PLACE 1500
#define LM_TIME_OF_ELEMENT 300

/* What an index of one axis alone selects is visited as soon as its place is known; with an index out of bounds, the first element is. */
#define LM_VISIT_POINTS(name, T, U, statement) \
    __attribute__((optimize("O2"))) static int lm_##name##_directly( \
        const lm_int n, const char *index, const lm_int step, const lm_int length, char *const array, const lm_int by, \
        char *const beside, const lm_int stride) \
    { \
        int outside = 0; \
        for (lm_int k = 0; k < n; ++k, index += step) { \
            lm_int at = *(const int64_t *)index; \
            at += at < 0 ? length : 0; \
            const int is_outside = (uintptr_t)at >= (uintptr_t)length; \
            outside |= is_outside; \
            T *const a = (T *)(array + (is_outside ? 0 : at) * by); \
            U *const b = (U *)(beside + k * stride); \
            statement; \
        } \
        return outside; \
    } \
    static void lm_##name##_points( \
        const lm_int n, const lm_int *const places, char *const array, char *const beside, const lm_int stride) \
    { \
        for (lm_int k = 0; k < n; ++k) { \
            T *const a = (T *)(array + places[k]); \
            U *const b = (U *)(beside + k * stride); \
            statement; \
        } \
    } \
    static void lm_##name##_row(const lm_int n, char *const array, const lm_int by, char *const beside, const lm_int stride) \
    { \
        for (lm_int i = 0; i < n; ++i) { \
            T *const a = (T *)(array + i * by); \
            U *const b = (U *)(beside + i * stride); \
            statement; \
        } \
    }

#define LM_MOVE_POINTS(size, T) LM_VISIT_POINTS(read##size, const T, T, *b = *a) LM_VISIT_POINTS(set##size, T, const T, *a = *b)

LM_MOVE_POINTS(1, uint8_t)
LM_MOVE_POINTS(2, uint16_t)
LM_MOVE_POINTS(4, uint32_t)
LM_MOVE_POINTS(8, uint64_t)
LM_MOVE_POINTS(16, lm_16_bytes)
LM_VISIT_POINTS(add_f32, float, const float, *a += *b)
LM_VISIT_POINTS(add_f64, double, const double, *a += *b)
LM_VISIT_POINTS(add_i32, uint32_t, const uint32_t, *a += *b)
LM_VISIT_POINTS(add_i64, uint64_t, const uint64_t, *a += *b)

/* Say how elements are visited, where the unit does not. */
static void lm_choose_visit(lm_indexed *const x)
{
#define LM_CHOOSE(name) (x->points = lm_##name##_points, x->row = lm_##name##_row, x->directly = lm_##name##_directly)
    const lm_int size = x->itemsize;
    if (x->points != NULL) return;
    if (x->action == LM_INDEX_ADD)
        switch (x->dtype) {
        case LM_FLOAT32: LM_CHOOSE(add_f32); break;
        case LM_FLOAT64: LM_CHOOSE(add_f64); break;
        case LM_INT32: case LM_UINT32: LM_CHOOSE(add_i32); break;
        default: LM_CHOOSE(add_i64); break;
        }
    else if (x->action == LM_INDEX_READ)
        size == 1 ? LM_CHOOSE(read1) : size == 2 ? LM_CHOOSE(read2) : size == 4 ? LM_CHOOSE(read4) : size == 8 ? LM_CHOOSE(read8) : LM_CHOOSE(read16);
    else
        size == 1 ? LM_CHOOSE(set1) : size == 2 ? LM_CHOOSE(set2) : size == 4 ? LM_CHOOSE(set4) : size == 8 ? LM_CHOOSE(set8) : LM_CHOOSE(set16);
#undef LM_CHOOSE
}

/* Leave out kept axes of length 1, and join those that lie in memory as one. */
static inline void lm_join_kept(lm_indexed *const x)
{
    int n = 0, n_outer = 0;
    for (int i = 0; i < x->n_kept; ++i) {
        const int first = i < x->n_outer ? 0 : n_outer; /* an outer axis is not joined with an inner one */
        if (x->shape[i] == 1) continue;
        if (n > first && x->strides[n - 1] == x->strides[i] * x->shape[i] && x->at[n - 1] == x->at[i] * x->shape[i])
            x->shape[n - 1] *= x->shape[i];
        else
            x->shape[n++] = x->shape[i];
        x->strides[n - 1] = x->strides[i];
        x->at[n - 1] = x->at[i];
        if (i < x->n_outer) n_outer = n;
    }
    x->n_kept = n;
    x->n_outer = n_outer;
}

/* Move on to the next element of some axes; 0 after the last one. */
static inline int lm_next(
    lm_int *const index, const int first, const int end, const lm_indexed *const x, char **const array, char **const beside)
{
    for (int i = end - 1; i >= first; --i) {
        *array += x->strides[i];
        *beside += x->at[i];
        if (++index[i] < x->shape[i]) return 1;
        *array -= x->strides[i] * x->shape[i];
        *beside -= x->at[i] * x->shape[i];
        index[i] = 0;
    }
    return 0;
}

/* For each element of the outer axes, go through places in order, and there through the inner axes. */
static void lm_at_places(
    const lm_indexed *const x, const lm_int n, const lm_int *const places, char *beside, const lm_int stride)
{
    lm_int index[x->n_kept + 1];
    for (int i = 0; i < x->n_kept; ++i) {
        if (x->shape[i] == 0) return;
        index[i] = 0;
    }
    char *array = x->array;
    const int last = x->n_kept - 1;
    do {
        if (x->n_kept == x->n_outer) {
            x->points(n, places, array, beside, stride);
            continue;
        }
        for (lm_int k = 0; k < n; ++k) {
            char *a = array + places[k], *b = beside + k * stride;
            do {
                if (x->action != LM_INDEX_ADD && x->strides[last] == x->itemsize && x->at[last] == x->itemsize)
                    memcpy(x->action == LM_INDEX_READ ? b : a, x->action == LM_INDEX_READ ? a : b, (size_t)(x->shape[last] * x->itemsize));
                else x->row(x->shape[last], a, x->strides[last], b, x->at[last]);
            } while (lm_next(index, x->n_outer, last, x, &a, &b));
        }
    } while (lm_next(index, 0, x->n_outer, x, &array, &beside));
}

/* Compute places; return whether an index is out of bounds. */
static int lm_places(
    const lm_indexed *const x, const lm_int n, const lm_int first, char *const *const data, const lm_int *const strides,
    lm_int *const places)
{
    int outside = 0;
    if (x->n_indices == 0)
        for (lm_int k = 0; k < n; ++k) places[k] = 0;
    for (int i = 0; i < x->n_indices; ++i) {
        const char *index = data[i] + first * strides[i];
        const lm_int length = x->lengths[i], by = x->by[i], stride = strides[i];
        for (lm_int k = 0; k < n; ++k, index += stride) {
            lm_int at = *(const int64_t *)index;
            at += at < 0 ? length : 0;
            outside |= (uintptr_t)at >= (uintptr_t)length;
            places[k] = i == 0 ? at * by : places[k] + at * by;
        }
    }
    return outside;
}

/* Whether an integer is no index of an axis, counted from its first or its last element: a sign is set then, in 64 bits that may wrap. */
__attribute__((optimize("O3"))) static int lm_any_outside(
    const lm_int n, const char *const index, const lm_int stride, const lm_int axis_length)
{
    const uint64_t length = (uint64_t)axis_length;
    uint64_t signs = 0;
    if (stride == 8)
        for (lm_int k = 0; k < n; ++k) {
            const uint64_t at = ((const uint64_t *)index)[k];
            signs |= (at + length) | (length - 1 - at);
        }
    else
        for (lm_int k = 0; k < n; ++k) {
            const uint64_t at = *(const uint64_t *)(index + k * stride);
            signs |= (at + length) | (length - 1 - at);
        }
    return (int)(signs >> 63);
}

/* Operands: one that sets the order, what is put beside the array, the index arrays, and an lm_indexed. Of a chunk with an index out of
   bounds nothing is visited. */
static void lm_visit_places(const lm_int n, char *const *const data, const lm_int *const strides)
{
    lm_indexed *const x = *(lm_indexed *const *)data[0];
    lm_int places[LM_CHUNK];
    if (x->action == LM_INDEX_CHECK) {
        int outside = 0;
        for (int i = 0; i < x->n_indices; ++i) outside |= lm_any_outside(n, data[i + 3], strides[i + 3], x->lengths[i]);
        if (outside) __atomic_store_n(&x->outside, 1, __ATOMIC_RELAXED);
        return;
    }
    if (x->directly != NULL && x->n_kept == 0 && x->n_indices == 1 && x->lengths[0] > 0) {
        const int outside = x->directly(n, data[3], strides[3], x->lengths[0], x->array, x->by[0], data[2], strides[2]);
        if (outside) __atomic_store_n(&x->outside, 1, __ATOMIC_RELAXED);
        return;
    }
    for (lm_int done = 0; done < n; done += LM_CHUNK) {
        const lm_int count = n - done < LM_CHUNK ? n - done : LM_CHUNK;
        if (LM_UNLIKELY(lm_places(x, count, done, data + 3, strides + 3, places))) __atomic_store_n(&x->outside, 1, __ATOMIC_RELAXED);
        else lm_at_places(x, count, places, data[2] + done * strides[2], strides[2]);
    }
}

static void lm_index(
    lm_call *const call, lm_indexed *const x, const int ndim, const lm_int *const shape, char *const *const data,
    const lm_int *const *const strides)
{
    const int n = x->n_indices + 3;
    lm_int zeros[ndim + 1], kept = 1;
    char *at[n];
    const lm_int *steps[n];
    for (int i = 0; i < ndim; ++i) zeros[i] = 0;
    at[0] = (char *)&x;
    steps[0] = zeros;
    for (int k = 1; k < n; ++k) {
        at[k] = data[k - 1];
        steps[k] = strides[k - 1];
    }
    for (int i = 0; i < x->n_kept; ++i) kept *= x->shape[i];
    lm_choose_visit(x);
    lm_join_kept(x);
    x->outside = 0;
    if (x->action == LM_INDEX_READ || x->action == LM_INDEX_CHECK) {
        const lm_loop loop = {lm_visit_places, 0, n, 0, LM_TIME_OF_PLACE + kept * LM_TIME_OF_ELEMENT, NULL};
        lm_each(call, &loop, ndim, shape, at, steps);
        return;
    }
    /* The order in which elements are written matters: one may be selected several times. */
    lm_int total = 1;
    for (int i = 0; i < ndim; ++i) total *= shape[i];
    void *const unlocked = total < LM_LONG_PASS && total * kept >= LM_LONG_PASS ? call->serve->unlock() : NULL;
    lm_nest(call, lm_visit_places, n, ndim, shape, at, steps);
    if (unlocked != NULL) call->serve->lock(unlocked);
}
