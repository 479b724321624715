/* What has to be true before the BLAS may be asked. */

/* Whether a factor is neither 0 nor infinite nor NaN: then it may be taken into a product before that is added up. */
#define LM_IS_PLAIN(T, suffix) \
    static inline int lm_is_plain_##suffix(const T x) { return x != 0 && x - x == 0; }

LM_IS_PLAIN(float, f32)
LM_IS_PLAIN(double, f64)

/* Whether the BLAS can write to an array as it lies. */
static inline int lm_is_writable_by_blas(const int ndim, const lm_int *const shape, const lm_int *const strides, const lm_int itemsize)
{
    if (ndim == 1) return shape[0] <= 1 || (strides[0] != 0 && strides[0] % itemsize == 0);
    for (int inner = 0; inner < 2; ++inner) {
        const int outer = 1 - inner;
        if (shape[inner] > 1 && strides[inner] != itemsize) continue;
        if (shape[outer] <= 1) return 1;
        const lm_int leading = strides[outer] / itemsize;
        if (strides[outer] % itemsize == 0 && leading >= shape[inner] && leading >= 1 && leading <= INT32_MAX) return 1;
    }
    return 0;
}
