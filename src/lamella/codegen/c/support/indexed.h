/* Places that index arrays select. The other axes of the array are kept: `n_outer` of them come before the axes that the index arrays
   broadcast to in the result, the rest behind. */

#define LM_CHUNK 256

typedef struct { uint64_t first, second; } lm_16_bytes;

typedef struct {
    int outside;                    /* whether an index was out of bounds */
    int n_outer, n_kept;
    char *array;                    /* the first element */
    const lm_int *lengths, *by;     /* lengths and strides of the axes that are indexed */
    lm_int *shape, *strides, *at;   /* kept axes: lengths, strides in the array, and in what is put beside it */
} lm_indexed;

/* Elements at `n` places from `array` on, and as many from `beside` on, `stride` apart. */
typedef void (*lm_points)(lm_int n, const lm_int *places, char *array, char *beside, lm_int stride);

/* `n` elements from `array` on, and as many from `beside` on. */
typedef void (*lm_row_of)(lm_int n, char *array, lm_int array_stride, char *beside, lm_int stride);

/* Whether an integer of a vector is no index of an axis, counted from its first or its last element. */
static inline int lm_any_outside(const lm_int n, const char *const data, const lm_int stride, const lm_int length)
{
    lm_int outside = 0;
    if (stride == 8)
        for (lm_int k = 0; k < n; ++k) {
            const lm_int index = ((const int64_t *)data)[k];
            outside |= index < -length || index >= length;
        }
    else
        for (lm_int k = 0; k < n; ++k) {
            const lm_int index = *(const int64_t *)(data + k * stride);
            outside |= index < -length || index >= length;
        }
    return outside != 0;
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
static inline void lm_at_places(
    const lm_indexed *const x, const lm_int n, const lm_int *const places, char *beside, const lm_int stride,
    const lm_points points, const lm_row_of row)
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
            points(n, places, array, beside, stride);
            continue;
        }
        for (lm_int k = 0; k < n; ++k) {
            char *a = array + places[k], *b = beside + k * stride;
            do row(x->shape[last], a, x->strides[last], b, x->at[last]);
            while (lm_next(index, x->n_outer, last, x, &a, &b));
        }
    } while (lm_next(index, 0, x->n_outer, x, &array, &beside));
}
