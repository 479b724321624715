/* Stable sorting without NumPy, in NumPy's order: NaN last; complex numbers by their real parts, then by their imaginary parts. */

/* A sort by merging, which begins with short rows sorted by insertion. */
#define LM_SORT(T, suffix, LESS) \
    typedef struct { T key; int64_t place; } lm_item_##suffix; \
    static void lm_sort_##suffix(lm_item_##suffix *items, lm_item_##suffix *spare, const lm_int n) \
    { \
        lm_item_##suffix *const wanted = items; \
        for (lm_int begin = 0; begin < n; begin += 16) \
            for (lm_int i = begin + 1; i < n && i < begin + 16; ++i) { \
                const lm_item_##suffix item = items[i]; \
                lm_int to = i; \
                for (; to > begin && LESS(item.key, items[to - 1].key); --to) items[to] = items[to - 1]; \
                items[to] = item; \
            } \
        for (lm_int length = 16; length < n; length *= 2) { \
            for (lm_int begin = 0; begin < n; begin += 2 * length) { \
                const lm_int middle = begin + length < n ? begin + length : n, end = middle + length < n ? middle + length : n; \
                lm_int i = begin, j = middle; \
                for (lm_int to = begin; to < end; ++to) \
                    spare[to] = j < end && (i == middle || LESS(items[j].key, items[i].key)) ? items[j++] : items[i++]; \
            } \
            lm_item_##suffix *const sorted = spare; \
            spare = items; \
            items = sorted; \
        } \
        if (items != wanted) memcpy(wanted, items, (size_t)n * sizeof(*items)); \
    }

typedef struct { double re, im; } lm_complex_key;

#define LM_INTEGER_LESS(a, b) ((a) < (b))
#define LM_REAL_LESS(a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))

static inline int lm_complex_key_less(const lm_complex_key a, const lm_complex_key b)
{
    if (a.re < b.re) return a.im == a.im || b.im != b.im;
    if (a.re > b.re) return b.im != b.im && a.im == a.im;
    if (a.re == b.re || (a.re != a.re && b.re != b.re)) return LM_REAL_LESS(a.im, b.im);
    return b.re != b.re;
}

LM_SORT(int64_t, signed, LM_INTEGER_LESS)
LM_SORT(uint64_t, unsigned, LM_INTEGER_LESS)
LM_SORT(double, real, LM_REAL_LESS)
LM_SORT(lm_complex_key, complex, lm_complex_key_less)

/* Halves are ordered as integers, the zeros as one. */
static int64_t lm_half_key(const uint16_t bits)
{
    const int64_t magnitude = bits & 0x7fff;
    if (magnitude > 0x7c00) return 0x8000;
    return bits & 0x8000 ? -magnitude : magnitude;
}

static int64_t lm_signed_key(const lm_dtype dtype, const char *const element)
{
    switch (dtype) {
    case LM_INT8: return *(const int8_t *)element;
    case LM_INT16: return *(const int16_t *)element;
    case LM_INT32: return *(const int32_t *)element;
    case LM_INT64: return *(const int64_t *)element;
    case LM_UINT16: return *(const uint16_t *)element;
    case LM_UINT32: return *(const uint32_t *)element;
    case LM_FLOAT16: return lm_half_key(*(const uint16_t *)element);
    default: return *(const uint8_t *)element;
    }
}

/* Sort a row whose items lie in `memory`, which has room for twice as many. */
#define LM_SORT_ROW(suffix, KEY) \
    do { \
        lm_item_##suffix *const items = memory; \
        for (lm_int i = 0; i < n; ++i) { \
            const char *const element = from + i * from_stride; \
            items[i].key = KEY; \
            items[i].place = i; \
        } \
        lm_sort_##suffix(items, items + n, n); \
        for (lm_int i = 0; i < n; ++i) places[i] = items[i].place; \
    } while (0)

static void lm_sorted_places(
    const lm_dtype dtype, void *const memory, int64_t *const places, const lm_int n, const char *const from,
    const lm_int from_stride)
{
    switch (dtype) {
    case LM_UINT64: LM_SORT_ROW(unsigned, *(const uint64_t *)element); break;
    case LM_FLOAT32: LM_SORT_ROW(real, *(const float *)element); break;
    case LM_FLOAT64: LM_SORT_ROW(real, *(const double *)element); break;
    case LM_COMPLEX64:
        LM_SORT_ROW(complex, ((lm_complex_key){((const float *)element)[0], ((const float *)element)[1]}));
        break;
    case LM_COMPLEX128: LM_SORT_ROW(complex, *(const lm_complex_key *)element); break;
    default: LM_SORT_ROW(signed, lm_signed_key(dtype, element)); break;
    }
}

static int lm_plain_sort(lm_call *const call, const lm_value *const out, const lm_value *const in, const int axis, const int indices)
{
    const int ndim = in->type->ndim;
    const lm_dtype dtype = in->type->dtype;
    const lm_int itemsize = in->type->itemsize, *const shape = lm_shape(in->place), *const from_strides = lm_strides(in->place, ndim);
    lm_drop(call, out->type, out->place);
    memcpy(lm_shape(out->place), shape, (size_t)ndim * sizeof(lm_int));
    if (call->serve->allocate_escaping(call, out->place, out->type, 0, NULL) < 0) return -1;
    const lm_int n = shape[axis], *const to_strides = lm_strides(out->place, ndim);
    lm_int index[ndim + 1];
    for (int i = 0; i < ndim; ++i) {
        index[i] = 0;
        if (shape[i] == 0) return 0;
    }
    int64_t *const places = malloc((size_t)n * (sizeof(int64_t) + 2 * sizeof(lm_item_complex)));
    if (places == NULL) return -1;
    char *to = ((lm_array *)out->place)->data;
    const char *from = ((lm_array *)in->place)->data;
    for (;;) {
        lm_sorted_places(dtype, places + n, places, n, from, from_strides[axis]);
        for (lm_int i = 0; i < n; ++i) {
            char *const element = to + i * to_strides[axis];
            if (indices) *(int64_t *)element = places[i];
            else memcpy(element, from + places[i] * from_strides[axis], (size_t)itemsize);
        }
        int moved = ndim - 1;
        for (; moved >= 0; --moved) {
            if (moved == axis) continue;
            to += to_strides[moved];
            from += from_strides[moved];
            if (++index[moved] < shape[moved]) break;
            to -= to_strides[moved] * shape[moved];
            from -= from_strides[moved] * shape[moved];
            index[moved] = 0;
        }
        if (moved < 0) break;
    }
    free(places);
    return 0;
}
