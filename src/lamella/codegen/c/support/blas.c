/* Products of matrices by a BLAS, whose routines the host finds. */

#include <limits.h>
#include <stdlib.h>

typedef void (*lm_gemm)(
    const char *trans_a, const char *trans_b, const int *m, const int *n, const int *k, const void *alpha, const void *a,
    const int *lda, const void *b, const int *ldb, const void *beta, void *c, const int *ldc);
typedef void (*lm_gemv)(
    const char *trans, const int *m, const int *n, const void *alpha, const void *a, const int *lda, const void *x,
    const int *incx, const void *beta, void *y, const int *incy);

typedef void (*lm_syrk)(
    const char *uplo, const char *trans, const int *n, const int *k, const void *alpha, const void *a, const int *lda,
    const void *beta, void *c, const int *ldc);

typedef struct {
    lm_dtype dtype;
    const char *gemm_name, *gemv_name, *syrk_name;
    const void *one; /* the number, as an element */
    lm_gemm gemm;
    lm_gemv gemv;
    lm_syrk syrk;
} lm_blas_routines;

static const float lm_one_single[] = {1, 0};
static const double lm_one_double[] = {1, 0}, lm_zero_element[] = {0, 0};

/* Return the routines for a dtype; NULL, with the error noted, where there are none. */
static const lm_blas_routines *lm_find_blas(lm_dtype dtype);

/* Whether the BLAS can take `count` columns of some length as they lie, their elements side by side, and how far apart they are. */
static int lm_leading(
    const lm_int length, const lm_int count, const lm_int inner, const lm_int outer, const lm_int itemsize, int *const leading)
{
    const lm_int least = length > 1 ? length : 1;
    if (length > 1 && inner != itemsize) return 0;
    if (count <= 1) {
        *leading = (int)least;
        return 1;
    }
    if (outer % itemsize != 0 || outer / itemsize < least || outer / itemsize > INT_MAX) return 0;
    *leading = (int)(outer / itemsize);
    return 1;
}

/* Copy a matrix so that its columns lie one behind the other; `*memory` is to be freed. */
static int lm_packed(lm_call *const call, lm_matrix *const matrix, const lm_int itemsize, void **const memory)
{
    char *const to = malloc((size_t)(matrix->rows * matrix->columns * itemsize) + 1);
    if (to == NULL) return -1;
    const lm_int shape[] = {matrix->rows, matrix->columns}, from[] = {matrix->row_stride, matrix->column_stride};
    const lm_int strides[] = {itemsize, itemsize * matrix->rows};
    lm_copy(call, itemsize, 2, shape, to, strides, matrix->data, from);
    matrix->data = to;
    matrix->row_stride = strides[0];
    matrix->column_stride = strides[1];
    *memory = to;
    return 0;
}

/* How the BLAS is to read a matrix: as it is ('N') or transposed ('T'), copied where it can do neither. */
static int lm_readied(
    lm_call *const call, lm_matrix *const matrix, const lm_int itemsize, char *const trans, int *const leading,
    void **const memory)
{
    *trans = 'N';
    if (lm_leading(matrix->rows, matrix->columns, matrix->row_stride, matrix->column_stride, itemsize, leading)) return 0;
    *trans = 'T';
    if (lm_leading(matrix->columns, matrix->rows, matrix->column_stride, matrix->row_stride, itemsize, leading)) return 0;
    *trans = 'N';
    if (lm_packed(call, matrix, itemsize, memory) < 0) return -1;
    *leading = (int)(matrix->rows > 1 ? matrix->rows : 1);
    return 0;
}

/* How far apart the BLAS finds the elements of a vector: 0 where it cannot take them as they lie. */
static int lm_increment(const lm_int length, const lm_int stride, const lm_int itemsize)
{
    if (length <= 1) return 1;
    const lm_int increment = stride / itemsize;
    return stride % itemsize == 0 && increment >= -INT_MAX && increment <= INT_MAX ? (int)increment : 0;
}

/* The address that the BLAS wants of a vector: the lowest one. */
static char *lm_lowest(const char *const data, const lm_int length, const lm_int stride)
{
    return (char *)data + (length > 1 && stride < 0 ? (length - 1) * stride : 0);
}

static void lm_set_to_zero(lm_call *const call, const lm_matrix matrix, const lm_int itemsize)
{
    const lm_int shape[] = {matrix.rows, matrix.columns}, to[] = {matrix.row_stride, matrix.column_stride}, from[] = {0, 0};
    lm_copy(call, itemsize, 2, shape, matrix.data, to, (char[16]){0}, from);
}

/* y += alpha * a @ x for vectors (of one column) y and x. */
static int lm_add_matrix_vector(
    lm_call *const call, const lm_blas_routines *const blas, const lm_int itemsize, const lm_matrix y, const void *const alpha,
    lm_matrix a, lm_matrix x)
{
    if (lm_multiply_narrow(call, blas->dtype, y, alpha, x, lm_transposed(a))) return 0;
    void *packed[2] = {NULL, NULL};
    char trans;
    int leading, by = lm_increment(x.rows, x.row_stride, itemsize);
    if (by == 0) {
        if (lm_packed(call, &x, itemsize, &packed[0]) < 0) return -1;
        by = 1;
    }
    trans = 'T';
    const int by_rows =
        a.rows == 1 && lm_leading(a.columns, a.rows, a.column_stride, a.row_stride, itemsize, &leading); /* a sum, not many */
    if (!by_rows && lm_readied(call, &a, itemsize, &trans, &leading, &packed[1]) < 0) {
        free(packed[0]);
        return -1;
    }
    const int rows = (int)(trans == 'N' ? a.rows : a.columns), columns = (int)(trans == 'N' ? a.columns : a.rows);
    const int y_by = lm_increment(y.rows, y.row_stride, itemsize);
    void *const unlocked = a.rows * a.columns >= LM_LONG_PASS ? call->serve->unlock() : NULL;
    blas->gemv(
        &trans, &rows, &columns, alpha, a.data, &leading, lm_lowest(x.data, x.rows, x.row_stride), &by, blas->one,
        lm_lowest(y.data, y.rows, y.row_stride), &y_by);
    if (unlocked != NULL) call->serve->lock(unlocked);
    free(packed[0]);
    free(packed[1]);
    return 0;
}

/* Whether b is a transposed: then their product is symmetric. */
static int lm_is_transposed(const lm_matrix a, const lm_matrix b)
{
    return a.data == b.data && a.rows == b.columns && a.columns == b.rows && a.row_stride == b.column_stride
           && a.column_stride == b.row_stride;
}

/* Write the elements below the diagonal to above it, or those above to below. */
static void lm_mirror(const lm_matrix c, const lm_int itemsize, const int below)
{
    for (lm_int i = 0; i < c.rows; ++i)
        for (lm_int j = 0; j < i; ++j) {
            char *const low = c.data + i * c.row_stride + j * c.column_stride;
            char *const high = c.data + j * c.row_stride + i * c.column_stride;
            memcpy(below ? low : high, below ? high : low, (size_t)itemsize);
        }
}

/* c += alpha * 0: what a sum of no products adds may change the sign of a zero. Numbers are real: products of complex ones, which the BLAS
   multiplies in another way, are added to nothing (see the lowering of Gemm). */
static void lm_add_nothing(const lm_matrix c, const lm_dtype dtype, const void *const alpha)
{
    for (lm_int i = 0; i < c.rows; ++i)
        for (lm_int j = 0; j < c.columns; ++j) {
            char *const element = c.data + i * c.row_stride + j * c.column_stride;
            if (dtype == LM_FLOAT32) *(float *)element += *(const float *)alpha * 0;
            else *(double *)element += *(const double *)alpha * 0;
        }
}

/* c += alpha * a @ b, where the BLAS can write to c as it lies; c = alpha * a @ b, if c is `fresh`. */
static int lm_add_product(
    lm_call *const call, const lm_blas_routines *const blas, const lm_int itemsize, lm_matrix c, const void *const alpha,
    lm_matrix a, lm_matrix b, const int fresh)
{
    if (c.rows == 0 || c.columns == 0) return 0;
    const int is_vector = c.columns == 1 || c.rows == 1;
    if (fresh && (is_vector || a.columns == 0)) lm_set_to_zero(call, c, itemsize);
    if (a.columns == 0) {
        if (!fresh) lm_add_nothing(c, blas->dtype, alpha);
        return 0;
    }
    if (c.columns == 1) return lm_add_matrix_vector(call, blas, itemsize, c, alpha, a, b);
    if (is_vector)
        return lm_add_matrix_vector(call, blas, itemsize, lm_transposed(c), alpha, lm_transposed(b), lm_transposed(a));
    if (fresh && alpha == blas->one) {
        const lm_int *const none[] = {NULL, NULL, NULL};
        if (lm_multiply_small(call, blas->dtype, 0, NULL, none, (const lm_matrix[]){c, a, b})) return 0;
    }
    const int is_symmetric = fresh && lm_is_transposed(a, b);
    if (!is_symmetric && lm_multiply_blocks(call, blas->dtype, c, alpha, a, b, fresh)) return 0;
    int c_leading, a_leading, b_leading;
    if (!lm_leading(c.rows, c.columns, c.row_stride, c.column_stride, itemsize, &c_leading)) {
        const lm_matrix left = lm_transposed(b);
        b = lm_transposed(a);
        a = left;
        c = lm_transposed(c);
        lm_leading(c.rows, c.columns, c.row_stride, c.column_stride, itemsize, &c_leading);
    }
    const void *const beta = fresh ? lm_zero_element : blas->one;
    void *packed[2] = {NULL, NULL};
    char a_trans, b_trans;
    if (lm_readied(call, &a, itemsize, &a_trans, &a_leading, &packed[0]) < 0) return -1;
    if (!is_symmetric && lm_readied(call, &b, itemsize, &b_trans, &b_leading, &packed[1]) < 0) {
        free(packed[0]);
        return -1;
    }
    const int m = (int)c.rows, n = (int)c.columns, k = (int)a.columns;
    void *const unlocked = (double)m * n * k >= LM_LONG_PASS ? call->serve->unlock() : NULL;
    if (is_symmetric) {
        blas->syrk("U", &a_trans, &n, &k, alpha, a.data, &a_leading, beta, c.data, &c_leading);
        lm_mirror(c, itemsize, 1);
    } else
        blas->gemm(
            &a_trans, &b_trans, &m, &n, &k, alpha, a.data, &a_leading, b.data, &b_leading, beta, c.data, &c_leading);
    if (unlocked != NULL) call->serve->lock(unlocked);
    free(packed[0]);
    free(packed[1]);
    return 0;
}

/* The last two axes of an array as a matrix; a vector is a column, or (`as_row`) a row; a number is a matrix of one element. */
static lm_matrix lm_last_matrix(const lm_value *const value, const int as_row)
{
    lm_array *const array = value->place;
    const int ndim = value->type->ndim;
    if (ndim == 0) return (lm_matrix){array->data, 1, 1, 0, 0};
    const lm_int *const shape = lm_shape(array), *const strides = lm_strides(array, ndim);
    if (ndim == 1) {
        const lm_matrix column = {array->data, shape[0], 1, strides[0], 0};
        return as_row ? lm_transposed(column) : column;
    }
    return (lm_matrix){array->data, shape[ndim - 2], shape[ndim - 1], strides[ndim - 2], strides[ndim - 1]};
}

/* out += alpha * a @ b, for matrices and vectors; out = a @ b, where there is no factor. */
static int lm_host_add_product(
    lm_call *const call, const lm_value *const out, const void *const alpha, const lm_value *const a, const lm_value *const b)
{
    const lm_blas_routines *const blas = lm_find_blas(out->type->dtype);
    if (blas == NULL) return -1;
    return lm_add_product(
        call, blas, out->type->itemsize, lm_last_matrix(out, a->type->ndim == 1), alpha == NULL ? blas->one : alpha,
        lm_last_matrix(a, 1), lm_last_matrix(b, 0), alpha == NULL);
}

/* out = a @ b, for stacks of matrices, which broadcast along axes of length 1. */
static int lm_host_products(lm_call *const call, const lm_value *const out, const lm_value *const a, const lm_value *const b)
{
    const lm_blas_routines *const blas = lm_find_blas(out->type->dtype);
    if (blas == NULL) return -1;
    const int depth = out->type->ndim - 2;
    const lm_int *const shape = lm_shape(out->place);
    const lm_value *const values[] = {out, a, b};
    lm_matrix matrix[3];
    lm_int index[depth + 1];
    for (int i = 0; i < depth; ++i) {
        index[i] = 0;
        if (shape[i] == 0) return 0;
    }
    const lm_int *strides[3];
    for (int v = 0; v < 3; ++v) {
        matrix[v] = lm_last_matrix(values[v], 0);
        strides[v] = lm_strides(values[v]->place, values[v]->type->ndim);
    }
    if (lm_multiply_small(call, blas->dtype, depth, shape, strides, matrix)) return 0;
    for (;;) {
        if (lm_add_product(call, blas, out->type->itemsize, matrix[0], blas->one, matrix[1], matrix[2], 1) < 0) return -1;
        int axis = depth - 1;
        for (; axis >= 0; --axis) {
            ++index[axis];
            const lm_int moved = index[axis] < shape[axis] ? 1 : 1 - shape[axis];
            for (int v = 0; v < 3; ++v) matrix[v].data += moved * strides[v][axis];
            if (moved == 1) break;
            index[axis] = 0;
        }
        if (axis < 0) return 0;
    }
}
