/* The transposed product of a matrix of few columns and a vector, y += alpha * x @ b: its sums stay in registers while all rows of the matrix go
   by once, one after the other. A BLAS, which takes several rows at a time, is slower to read them. */

/* y += alpha * x @ b, for vectors (of one column) y and x, and 1; or 0 where that is better left to a BLAS. */
static int lm_multiply_narrow(
    lm_call *call, lm_dtype dtype, lm_matrix y, const void *alpha, lm_matrix x, lm_matrix b);

#if defined(__x86_64__) && defined(__GNUC__)

/* Vectors of a row, at most; bytes of a row, and rows, of which there are enough. */
#define LM_MOST_VECTORS 16
#define LM_ENOUGH_BYTES 96
#define LM_ENOUGH_ROWS 64

/* Bytes of the matrix that a thread takes at a time, about; how many parts there are at most, each with sums of its own. */
#define LM_NARROW_PART (1 << 21)
#define LM_MOST_NARROW_PARTS 64

typedef struct lm_narrow_product {
    const char *b;
    const void *x, *alpha;
    void *y;
    lm_int rows, columns, b_row, in_part; /* rows of a part */
    void (*run)(const struct lm_narrow_product *, lm_int begin, lm_int end, char *sums);
    char *sums; /* of each part: as many bytes as the most vectors */
} lm_narrow_product;

#define LM_BYTES_OF_SUMS (LM_MOST_VECTORS * 64)

#define LM_NARROW_TARGET LM_SMALL_PRODUCT_SPEED __attribute__((target("avx512f,avx2,fma")))
#define LM_UNROLLED _Pragma("GCC unroll 16")

#define LM_NARROW_OF(V, n) \
    LM_NARROW_TARGET static void lm_narrow_##V##_##n( \
        const lm_narrow_product *const p, const lm_int begin, const lm_int end, char *const sums) \
    { \
        lm_narrow_##V(p, n, begin, end, sums); \
    }

/* A vector is read of each row with what follows; of the last rows, which nothing may follow, a copy is. */
#define LM_NARROW(V, T) \
    LM_NARROW_TARGET static inline __attribute__((always_inline)) void lm_narrow_##V( \
        const lm_narrow_product *const p, const int n, const lm_int begin, const lm_int end, char *const sums) \
    { \
        const lm_int row = p->columns * (lm_int)sizeof(T); \
        const T *const x = p->x; \
        V total[LM_MOST_VECTORS], copy[LM_MOST_VECTORS]; \
        LM_UNROLLED for (int v = 0; v < n; ++v) total[v] = copy[v] = (V){0}; \
        const lm_int direct = p->rows - 1 - ((lm_int)sizeof(V) * n - row + p->b_row - 1) / p->b_row; \
        for (lm_int k = begin, last; k < end; k = last) { \
            V sum[LM_MOST_VECTORS]; \
            LM_UNROLLED for (int v = 0; v < n; ++v) sum[v] = (V){0}; \
            last = end - k < LM_SUMMED ? end : k + LM_SUMMED; \
            for (lm_int i = k; i < last; ++i) { \
                const char *from = p->b + i * p->b_row; \
                if (i >= direct) from = memcpy(copy, from, (size_t)row); \
                LM_UNROLLED for (int v = 0; v < n; ++v) sum[v] += x[i] * ((const V##_loose *)from)[v]; \
            } \
            LM_UNROLLED for (int v = 0; v < n; ++v) total[v] += sum[v]; \
        } \
        memcpy(sums, total, sizeof(V) * (size_t)n); \
    } \
    LM_NARROW_OF(V, 2) LM_NARROW_OF(V, 4) LM_NARROW_OF(V, 6) LM_NARROW_OF(V, 8) \
    LM_NARROW_OF(V, 10) LM_NARROW_OF(V, 12) LM_NARROW_OF(V, 14) LM_NARROW_OF(V, 16) \
    static void (*const lm_narrow_all_##V[])(const lm_narrow_product *, lm_int, lm_int, char *) = { \
        lm_narrow_##V##_2, lm_narrow_##V##_4, lm_narrow_##V##_6, lm_narrow_##V##_8, \
        lm_narrow_##V##_10, lm_narrow_##V##_12, lm_narrow_##V##_14, lm_narrow_##V##_16}; \
    static void lm_finish_narrow_##V(const lm_narrow_product *const p, const int parts) \
    { \
        const T alpha = *(const T *)p->alpha; \
        T *const y = p->y; \
        for (lm_int j = 0; j < p->columns; ++j) { \
            T sum = 0; \
            for (int part = 0; part < parts; ++part) sum += ((const T *)(p->sums + part * LM_BYTES_OF_SUMS))[j]; \
            y[j] += alpha * sum; \
        } \
    }

LM_NARROW(lm_doubles_512, double)
LM_NARROW(lm_floats_512, float)

static void lm_narrow_part(void *const data, const int part)
{
    const lm_narrow_product *const p = data;
    const lm_int begin = part * p->in_part, end = begin + p->in_part;
    p->run(p, begin, end < p->rows ? end : p->rows, p->sums + part * LM_BYTES_OF_SUMS);
}

static int lm_multiply_narrow(
    lm_call *const call, const lm_dtype dtype, const lm_matrix y, const void *const alpha, const lm_matrix x, const lm_matrix b)
{
    const int is_double = dtype == LM_FLOAT64;
    const lm_int itemsize = is_double ? 8 : 4, row = b.columns * itemsize, pairs = (row + 127) / 128;
    if (!is_double && dtype != LM_FLOAT32) return 0;
    if (b.rows < LM_ENOUGH_ROWS || row < LM_ENOUGH_BYTES || pairs > LM_MOST_VECTORS / 2) return 0;
    if (y.row_stride != itemsize || x.row_stride != itemsize) return 0;
    if (b.column_stride != itemsize || b.row_stride < row) return 0;
    if (!lm_has_wide_vectors()) return 0;
    lm_int parts = b.rows * row / LM_NARROW_PART + 1;
    if (parts > LM_MOST_NARROW_PARTS) parts = LM_MOST_NARROW_PARTS;
    _Alignas(64) char sums[parts * LM_BYTES_OF_SUMS];
    lm_narrow_product product = {
        .b = b.data, .x = x.data, .alpha = alpha, .y = y.data, .rows = b.rows, .columns = b.columns, .b_row = b.row_stride,
        .in_part = (b.rows + parts - 1) / parts, .sums = sums,
        .run = (is_double ? lm_narrow_all_lm_doubles_512 : lm_narrow_all_lm_floats_512)[pairs - 1]};
    parts = (b.rows + product.in_part - 1) / product.in_part;
    void *const unlocked = b.rows * b.columns >= LM_LONG_PASS ? call->serve->unlock() : NULL;
    lm_parallel(call, (int)parts, lm_narrow_part, &product);
    if (unlocked != NULL) call->serve->lock(unlocked);
    (is_double ? lm_finish_narrow_lm_doubles_512 : lm_finish_narrow_lm_floats_512)(&product, (int)parts);
    return 1;
}

#else

static int lm_multiply_narrow(
    lm_call *const call, const lm_dtype dtype, const lm_matrix y, const void *const alpha, const lm_matrix x, const lm_matrix b)
{
    (void)call, (void)dtype, (void)y, (void)alpha, (void)x, (void)b;
    return 0;
}

#endif
