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

typedef struct {
    const char *b;
    const void *x, *alpha;
    void *y;
    lm_int rows, columns, b_row;
} lm_narrow_product;

#define LM_NARROW_TARGET LM_SMALL_PRODUCT_SPEED __attribute__((target("avx512f,avx2,fma")))
#define LM_UNROLLED _Pragma("GCC unroll 16")

#define LM_NARROW_OF(V, n) \
    LM_NARROW_TARGET static void lm_narrow_##V##_##n(const lm_narrow_product *const p) { lm_narrow_##V(p, n); }

/* A vector is read of each row with what follows; of the last rows, which nothing may follow, a copy is. */
#define LM_NARROW(V, T) \
    LM_NARROW_TARGET static inline __attribute__((always_inline)) void lm_narrow_##V(const lm_narrow_product *const p, const int n) \
    { \
        const lm_int width = sizeof(V) / sizeof(T), row = p->columns * (lm_int)sizeof(T); \
        const T *const x = p->x, alpha = *(const T *)p->alpha; \
        T *const y = p->y; \
        V total[LM_MOST_VECTORS], last[LM_MOST_VECTORS]; \
        LM_UNROLLED for (int v = 0; v < n; ++v) total[v] = last[v] = (V){0}; \
        const lm_int direct = p->rows - 1 - ((lm_int)sizeof(V) * n - row + p->b_row - 1) / p->b_row; \
        for (lm_int k = 0, end; k < p->rows; k = end) { \
            V sum[LM_MOST_VECTORS]; \
            LM_UNROLLED for (int v = 0; v < n; ++v) sum[v] = (V){0}; \
            const lm_int limit = k < direct ? direct : p->rows; \
            end = limit - k < LM_SUMMED ? limit : k + LM_SUMMED; \
            for (lm_int i = k; i < end; ++i) { \
                const char *from = p->b + i * p->b_row; \
                if (i >= direct) from = memcpy(last, from, (size_t)row); \
                LM_UNROLLED for (int v = 0; v < n; ++v) sum[v] += x[i] * ((const V##_loose *)from)[v]; \
            } \
            LM_UNROLLED for (int v = 0; v < n; ++v) total[v] += sum[v]; \
        } \
        memcpy(last, total, sizeof(V) * (size_t)n); \
        for (lm_int j = 0; j < p->columns; ++j) y[j] += alpha * last[j / width][j % width]; \
    } \
    LM_NARROW_OF(V, 2) LM_NARROW_OF(V, 4) LM_NARROW_OF(V, 6) LM_NARROW_OF(V, 8) \
    LM_NARROW_OF(V, 10) LM_NARROW_OF(V, 12) LM_NARROW_OF(V, 14) LM_NARROW_OF(V, 16) \
    static void (*const lm_narrow_all_##V[])(const lm_narrow_product *) = { \
        lm_narrow_##V##_2, lm_narrow_##V##_4, lm_narrow_##V##_6, lm_narrow_##V##_8, \
        lm_narrow_##V##_10, lm_narrow_##V##_12, lm_narrow_##V##_14, lm_narrow_##V##_16};

LM_NARROW(lm_doubles_512, double)
LM_NARROW(lm_floats_512, float)

static int lm_multiply_narrow(
    lm_call *const call, const lm_dtype dtype, const lm_matrix y, const void *const alpha, const lm_matrix x, const lm_matrix b)
{
    const lm_int itemsize = dtype == LM_FLOAT64 ? 8 : 4, pairs = (b.columns * itemsize + 127) / 128;
    if (dtype != LM_FLOAT64 && dtype != LM_FLOAT32) return 0;
    if (b.rows < LM_ENOUGH_ROWS || b.columns * itemsize < LM_ENOUGH_BYTES || pairs > LM_MOST_VECTORS / 2) return 0;
    if (y.row_stride != itemsize || x.row_stride != itemsize) return 0;
    if (b.column_stride != itemsize || b.row_stride < b.columns * itemsize) return 0;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("fma")) return 0;
    const lm_narrow_product product = {b.data, x.data, alpha, y.data, b.rows, b.columns, b.row_stride};
    void *const unlocked = b.rows * b.columns >= LM_LONG_PASS ? call->serve->unlock() : NULL;
    (dtype == LM_FLOAT64 ? lm_narrow_all_lm_doubles_512 : lm_narrow_all_lm_floats_512)[pairs - 1](&product);
    if (unlocked != NULL) call->serve->lock(unlocked);
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
