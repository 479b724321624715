/* What `blas.c` asks of a BLAS: of one that is linked, under -DLAMELLA_BLAS, or as plain loops.

   LAMELLA_BLAS_NAME tells how the linked one writes the name of a routine of Fortran's: dgemm_, unless defined otherwise. */

#ifdef LAMELLA_BLAS

#ifndef LAMELLA_BLAS_NAME
#define LAMELLA_BLAS_NAME(name) name##_
#endif

#define LM_ROUTINES(letter, code, ...) \
    extern void LAMELLA_BLAS_NAME(letter##gemm)( \
        const char *, const char *, const int *, const int *, const int *, const void *, const void *, const int *, const void *, \
        const int *, const void *, void *, const int *); \
    extern void LAMELLA_BLAS_NAME(letter##gemv)( \
        const char *, const int *, const int *, const void *, const void *, const int *, const void *, const int *, const void *, \
        void *, const int *); \
    extern void LAMELLA_BLAS_NAME(letter##syrk)( \
        const char *, const char *, const int *, const int *, const void *, const void *, const int *, const void *, void *, \
        const int *);

#define LM_TABLE_ROW(letter, code, size, ...) \
    {code, NULL, NULL, NULL, lm_one_##size, LAMELLA_BLAS_NAME(letter##gemm), LAMELLA_BLAS_NAME(letter##gemv), \
     LAMELLA_BLAS_NAME(letter##syrk)},

#else

typedef struct { float re, im; } lm_blas_c;
typedef struct { double re, im; } lm_blas_z;

#define LM_TIMES(x, y) ((x) * (y))
#define LM_ADD_TO(z, x, y) ((z) += (x) * (y))
#define LM_COMPLEX_TIMES(T) (T){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}

static inline lm_blas_c lm_times_c(const lm_blas_c x, const lm_blas_c y) { return LM_COMPLEX_TIMES(lm_blas_c); }
static inline lm_blas_z lm_times_z(const lm_blas_z x, const lm_blas_z y) { return LM_COMPLEX_TIMES(lm_blas_z); }

#define LM_COMPLEX_ADD_TO(z, x, y) ((z).re += (x).re * (y).re - (x).im * (y).im, (z).im += (x).re * (y).im + (x).im * (y).re)

/* Matrices lie column by column. `beta` is 1, to add to what is there, or 0. */
#define LM_ROUTINES(letter, code, size, T, TIMES, ADD_TO, IS_ZERO) \
    static void lm_gemm_##letter( \
        const char *const trans_a, const char *const trans_b, const int *const m, const int *const n, const int *const k, \
        const void *const alpha, const void *const a, const int *const lda, const void *const b, const int *const ldb, \
        const void *const beta, void *const c, const int *const ldc) \
    { \
        const T scale = *(const T *)alpha, *const left = a, *const right = b, zero = {0}; \
        const lm_int right_row = *trans_b == 'N' ? 1 : *ldb, right_column = *trans_b == 'N' ? *ldb : 1; \
        for (lm_int j = 0; j < *n; ++j) { \
            T *restrict const column = (T *)c + j * *ldc; \
            if (IS_ZERO(*(const T *)beta)) \
                for (lm_int i = 0; i < *m; ++i) column[i] = zero; \
            for (lm_int l = 0; l < *k && *trans_a == 'N'; ++l) { \
                const T factor = TIMES(scale, right[l * right_row + j * right_column]); \
                const T *const from = left + l * *lda; \
                for (lm_int i = 0; i < *m; ++i) ADD_TO(column[i], from[i], factor); \
            } \
            for (lm_int i = 0; i < *m && *trans_a != 'N'; ++i) { \
                const T *const from = left + i * *lda; \
                T sum = zero; \
                for (lm_int l = 0; l < *k; ++l) ADD_TO(sum, from[l], right[l * right_row + j * right_column]); \
                ADD_TO(column[i], scale, sum); \
            } \
        } \
    } \
    static void lm_gemv_##letter( \
        const char *const trans, const int *const m, const int *const n, const void *const alpha, const void *const a, \
        const int *const lda, const void *const x, const int *const incx, const void *const beta, void *const y, \
        const int *const incy) \
    { \
        const int rows = *trans == 'N' ? *m : *n, columns = *trans == 'N' ? *n : *m; \
        const T scale = *(const T *)alpha, *const matrix = a, zero = {0}; \
        const T *const from = (const T *)x + (*incx < 0 ? (lm_int)(1 - columns) * *incx : 0); \
        T *const to = (T *)y + (*incy < 0 ? (lm_int)(1 - rows) * *incy : 0); \
        const lm_int row_step = *trans == 'N' ? 1 : *lda, column_step = *trans == 'N' ? *lda : 1; \
        for (int i = 0; i < rows && IS_ZERO(*(const T *)beta); ++i) to[i * (lm_int)*incy] = zero; \
        for (int l = 0; l < columns && *trans == 'N'; ++l) { \
            const T factor = TIMES(scale, from[l * (lm_int)*incx]); \
            for (int i = 0; i < rows; ++i) ADD_TO(to[i * (lm_int)*incy], matrix[i * row_step + l * column_step], factor); \
        } \
        for (int i = 0; i < rows && *trans != 'N'; ++i) { \
            T sum = zero; \
            for (int l = 0; l < columns; ++l) \
                ADD_TO(sum, matrix[i * row_step + l * column_step], from[l * (lm_int)*incx]); \
            ADD_TO(to[i * (lm_int)*incy], scale, sum); \
        } \
    } \
    static void lm_syrk_##letter( \
        const char *const uplo, const char *const trans, const int *const n, const int *const k, const void *const alpha, \
        const void *const a, const int *const lda, const void *const beta, void *const c, const int *const ldc) \
    { \
        (void)uplo; \
        lm_gemm_##letter(trans, *trans == 'N' ? "T" : "N", n, n, k, alpha, a, lda, a, lda, beta, c, ldc); \
    }

#define LM_TABLE_ROW(letter, code, size, ...) \
    {code, NULL, NULL, NULL, lm_one_##size, lm_gemm_##letter, lm_gemv_##letter, lm_syrk_##letter},

#endif

#define LM_REAL_IS_ZERO(x) ((x) == 0)
#define LM_COMPLEX_IS_ZERO(x) ((x).re == 0 && (x).im == 0)

#define LM_BLAS_DTYPES(EACH) \
    EACH(s, LM_FLOAT32, single, float, LM_TIMES, LM_ADD_TO, LM_REAL_IS_ZERO) \
    EACH(d, LM_FLOAT64, double, double, LM_TIMES, LM_ADD_TO, LM_REAL_IS_ZERO) \
    EACH(c, LM_COMPLEX64, single, lm_blas_c, lm_times_c, LM_COMPLEX_ADD_TO, LM_COMPLEX_IS_ZERO) \
    EACH(z, LM_COMPLEX128, double, lm_blas_z, lm_times_z, LM_COMPLEX_ADD_TO, LM_COMPLEX_IS_ZERO)

LM_BLAS_DTYPES(LM_ROUTINES)

static const lm_blas_routines *lm_find_blas(const lm_dtype dtype)
{
    static const lm_blas_routines known[] = {LM_BLAS_DTYPES(LM_TABLE_ROW)};
    size_t i = 0;
    while (known[i].dtype != dtype) ++i; /* nobody asks for others */
    return &known[i];
}
