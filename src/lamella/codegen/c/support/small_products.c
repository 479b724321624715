/* Products of matrices with few columns, such as stacks of small ones are made of: a BLAS would spend more on preparing for them.

   Rows of the result are computed four at a time, each in two vector registers, which hold more columns than there are: rows of the second
   factor are read, and those of the result written, with what follows them. Where nothing does, a copy of them is. */

/* A matrix, or a vector (of one column), whose elements lie as strides in bytes say. */
typedef struct {
    char *data;
    lm_int rows, columns, row_stride, column_stride;
} lm_matrix;

static lm_matrix lm_transposed(const lm_matrix matrix)
{
    return (lm_matrix){matrix.data, matrix.columns, matrix.rows, matrix.column_stride, matrix.row_stride};
}

/* A stack of products, c = a @ b, and 1; or 0 where they are better left to a BLAS. `depth` axes have the lengths `shape`; along them, c, a and b
   have strides. `matrix` has their first matrices. */
static int lm_multiply_small(
    lm_call *call, lm_dtype dtype, int depth, const lm_int *shape, const lm_int *const *strides, const lm_matrix *matrix);

#if defined(__x86_64__) && defined(__GNUC__)

/* Elements of the second factor up to which it is near enough to the processor; rows of which all the second factor is copied. */
#define LM_SMALL_FACTOR 16384
#define LM_FEW_INNER 64

/* Products that are added up before their sum is added to others: errors grow with this and the number of sums, not with all. */
#define LM_SUMMED 128

/* A factor (a), whose elements lie anyhow, and one (b) of which the rows from `direct` on are copied to `copied`; c, whose rows follow each
   other, is written. Both have `columns`. */
typedef struct {
    lm_int rows, inner, columns, direct, a_row, a_column, b_row;
    const char *a, *b;
    const void *copied;
    char *c;
} lm_small_product;

/* The host is compiled to be ready soon; this is to keep its sums in registers, and to multiply and add at once. */
#if defined(__clang__)
#define LM_SMALL_PRODUCT_SPEED
#else
#define LM_SMALL_PRODUCT_SPEED __attribute__((optimize("O2")))
#endif

#define LM_ADD_PRODUCTS(V, T, from) \
    { \
        const V b0 = *(const V##_loose *)(from), b1 = *((const V##_loose *)(from) + 1); \
        const T x0 = *(const T *)a0, x1 = *(const T *)a1, x2 = *(const T *)a2, x3 = *(const T *)a3; \
        c00 += x0 * b0, c01 += x0 * b1, c10 += x1 * b0, c11 += x1 * b1; \
        c20 += x2 * b0, c21 += x2 * b1, c30 += x3 * b0, c31 += x3 * b1; \
        a0 += p->a_column, a1 += p->a_column, a2 += p->a_column, a3 += p->a_column; \
    }

#define LM_WRITE_ROW(V, T, i, first, second) \
    if ((i) < p->rows) { \
        const V both[2] = {first, second}; \
        T *const to = (T *)p->c + (i) * p->columns; \
        if ((p->rows - 1 - (i)) * p->columns >= width - p->columns) { \
            *(V##_loose *)to = first; \
            *((V##_loose *)to + 1) = second; \
        } else \
            memcpy(to, both, (size_t)p->columns * sizeof(T)); \
    }

#define LM_SMALL_PRODUCT(V, T, bytes, isa) \
    typedef T V __attribute__((vector_size(bytes))); \
    typedef V V##_loose __attribute__((aligned(sizeof(T)), may_alias)); \
    LM_SMALL_PRODUCT_SPEED __attribute__((target(isa))) static void lm_small_product_##V(const lm_small_product *const p) \
    { \
        const lm_int width = 2 * bytes / (lm_int)sizeof(T); \
        for (lm_int i = 0; i < p->rows; i += 4) { \
            const lm_int left = p->rows - i; \
            const char *a0 = p->a + i * p->a_row, *a1 = left > 1 ? a0 + p->a_row : a0; \
            const char *a2 = left > 2 ? a1 + p->a_row : a0, *a3 = left > 3 ? a2 + p->a_row : a0; \
            V c00 = {0}, c01 = {0}, c10 = {0}, c11 = {0}, c20 = {0}, c21 = {0}, c30 = {0}, c31 = {0}; \
            V t00 = {0}, t01 = {0}, t10 = {0}, t11 = {0}, t20 = {0}, t21 = {0}, t30 = {0}, t31 = {0}; \
            const char *b = p->b; \
            for (lm_int k = 0, end; k < p->direct; k = end) { \
                end = p->direct - k < LM_SUMMED ? p->direct : k + LM_SUMMED; \
                for (lm_int j = k; j < end; ++j, b += p->b_row) LM_ADD_PRODUCTS(V, T, b) \
                t00 += c00, t01 += c01, t10 += c10, t11 += c11, t20 += c20, t21 += c21, t30 += c30, t31 += c31; \
                c00 = c01 = c10 = c11 = c20 = c21 = c30 = c31 = (V){0}; \
            } \
            const T *copied = p->copied; \
            for (lm_int k = p->direct; k < p->inner; ++k, copied += width) LM_ADD_PRODUCTS(V, T, copied) \
            LM_WRITE_ROW(V, T, i, t00 + c00, t01 + c01) \
            LM_WRITE_ROW(V, T, i + 1, t10 + c10, t11 + c11) \
            LM_WRITE_ROW(V, T, i + 2, t20 + c20, t21 + c21) \
            LM_WRITE_ROW(V, T, i + 3, t30 + c30, t31 + c31) \
        } \
    }

LM_SMALL_PRODUCT(lm_doubles_256, double, 32, "avx2,fma")
LM_SMALL_PRODUCT(lm_doubles_512, double, 64, "avx512f,avx2,fma")
LM_SMALL_PRODUCT(lm_floats_256, float, 32, "avx2,fma")
LM_SMALL_PRODUCT(lm_floats_512, float, 64, "avx512f,avx2,fma")

/* Products of a stack, whose parts threads share: some matrices each, or some rows of one. */
typedef struct {
    lm_small_product first; /* the first matrix */
    void (*run)(const lm_small_product *);
    lm_int itemsize, width, b_column;
    int depth; /* axes of the stack: their lengths, and the strides of c, a and b */
    const lm_int *shape, *const *strides;
    lm_int rows, pieces, n_pieces; /* rows of a piece; pieces of a matrix; all pieces */
    lm_int in_part; /* pieces of a part */
} lm_small_products;

/* Multiplications of a part: some 50 microseconds. */
#define LM_PART_OF_PRODUCTS (1 << 20)

/* Multiply, having copied the last rows of the second factor. */
static void lm_multiply_piece(const lm_small_products *const all, lm_small_product piece)
{
    const lm_int copied = piece.inner - piece.direct, size = all->itemsize, row = all->width * size;
    char copy[copied * row + 1] __attribute__((aligned(64)));
    memset(copy, 0, sizeof(copy));
    for (lm_int k = 0; k < copied; ++k)
        lm_copy_kernel(size)(
            piece.columns, (char *const[]){copy + k * row, (char *)piece.b + (piece.direct + k) * piece.b_row},
            (const lm_int[]){size, all->b_column});
    piece.copied = copy;
    all->run(&piece);
}

static void lm_multiply_part(void *const data, const int part)
{
    const lm_small_products *const all = data;
    const lm_int begin = part * all->in_part, end = begin + all->in_part < all->n_pieces ? begin + all->in_part : all->n_pieces;
    for (lm_int i = begin; i < end; ++i) {
        lm_small_product piece = all->first;
        const lm_int row = i % all->pieces * all->rows;
        lm_int rest = i / all->pieces;
        for (int axis = all->depth - 1; axis >= 0; --axis) {
            const lm_int here = rest % all->shape[axis];
            rest /= all->shape[axis];
            piece.c += here * all->strides[0][axis];
            piece.a += here * all->strides[1][axis];
            piece.b += here * all->strides[2][axis];
        }
        piece.c += row * piece.columns * all->itemsize;
        piece.a += row * piece.a_row;
        if (piece.rows - row > all->rows) piece.rows = all->rows;
        else piece.rows -= row;
        lm_multiply_piece(all, piece);
    }
}

/* Say how matrices that lie as these do are multiplied by rows, or return 0 where that is better left to a BLAS. */
static int lm_plan_rows(
    lm_small_products *const all, const lm_dtype dtype, const lm_matrix *const c, const lm_matrix *const a,
    const lm_matrix *const b)
{
    const int is_double = dtype == LM_FLOAT64;
    const lm_int itemsize = is_double ? 8 : 4, columns = c->columns, inner = a->columns;
    const int is_wide = columns * itemsize > 64;
    if (!is_double && dtype != LM_FLOAT32) return 0;
    if (columns < 3 || columns * itemsize > 128 || inner * columns > LM_SMALL_FACTOR) return 0;
    if (c->rows < 4 || c->column_stride != itemsize || c->row_stride != columns * itemsize) return 0;
    if (!__builtin_cpu_supports("fma")) return 0;
    if (is_wide ? !__builtin_cpu_supports("avx512f") : !__builtin_cpu_supports("avx2")) return 0;
    const lm_int width = (is_wide ? 128 : 64) / itemsize;
    lm_int direct = 0;
    if (inner > LM_FEW_INNER) {
        if (b->column_stride != itemsize || b->row_stride < columns * itemsize) return 0;
        /* Rows that others follow by as much as is read with them. */
        direct = inner - 1 - ((width - columns) * itemsize + b->row_stride - 1) / b->row_stride;
    }
    all->first = (lm_small_product){
        c->rows, inner, columns, direct, a->row_stride, a->column_stride, b->row_stride, a->data, b->data, NULL, c->data};
    if (is_double) all->run = is_wide ? lm_small_product_lm_doubles_512 : lm_small_product_lm_doubles_256;
    else all->run = is_wide ? lm_small_product_lm_floats_512 : lm_small_product_lm_floats_256;
    all->itemsize = itemsize;
    all->width = width;
    all->b_column = b->column_stride;
    return 1;
}

static int lm_multiply_small(
    lm_call *const call, const lm_dtype dtype, const int depth, const lm_int *const shape, const lm_int *const *const strides,
    const lm_matrix *const matrix)
{
    const lm_int *const across[] = {strides[0], strides[2], strides[1]};
    lm_small_products all = {.depth = depth, .shape = shape, .strides = strides};
    if (!lm_plan_rows(&all, dtype, &matrix[0], &matrix[1], &matrix[2])) {
        const lm_matrix c = lm_transposed(matrix[0]), a = lm_transposed(matrix[2]), b = lm_transposed(matrix[1]);
        if (!lm_plan_rows(&all, dtype, &c, &a, &b)) return 0;
        all.strides = across;
    }
    lm_int n = 1;
    for (int axis = 0; axis < depth; ++axis) n *= shape[axis];
    const lm_int of_row = all.first.columns * (all.first.inner + 1), of_matrix = all.first.rows * of_row;
    all.rows = LM_PART_OF_PRODUCTS / of_row / 4 * 4 + 4;
    all.pieces = (all.first.rows + all.rows - 1) / all.rows;
    all.n_pieces = n * all.pieces;
    all.in_part = all.pieces > 1 ? 1 : LM_PART_OF_PRODUCTS / of_matrix + 1;
    void *const unlocked = (double)n * (double)of_matrix >= LM_LONG_PASS ? call->serve->unlock() : NULL;
    lm_parallel(call, (int)((all.n_pieces + all.in_part - 1) / all.in_part), lm_multiply_part, &all);
    if (unlocked != NULL) call->serve->lock(unlocked);
    return 1;
}

#else

static int lm_multiply_small(
    lm_call *const call, const lm_dtype dtype, const int depth, const lm_int *const shape, const lm_int *const *const strides,
    const lm_matrix *const matrix)
{
    (void)call, (void)dtype, (void)depth, (void)shape, (void)strides, (void)matrix;
    return 0;
}

#endif
