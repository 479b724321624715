/* Complex numbers, multiplied and divided by NumPy's formulas: those of C treat infinities in other ways.

   A product is rounded before it is added. GCC 12 and 13 fuse pairs of a sum and a difference all the same, whatever
   -ffp-contract says, but only in vector code, so that elements of one array would be rounded differently. Where the
   processor adds to a product without rounding it, NumPy does so with the first of two products, which matters most where
   both overflow.

   What was added to a product is rounded before anything else, too: of -(x * y + z), GCC makes -(x * y) - z, which is 0 where
   it is to be -0. */

#if defined(__x86_64__)
#define LM_ROUNDED(x) __asm__("" : "+x"(x))
#elif defined(__aarch64__)
#define LM_ROUNDED(x) __asm__("" : "+w"(x))
#else
#define LM_ROUNDED(x) (void)(x)
#endif

#if defined(__FMA__) || defined(__aarch64__)
#define LM_ADD_TO_PRODUCT(x, y, z, f) __builtin_fma##f(x, y, z)
#else
#define LM_ADD_TO_PRODUCT(x, y, z, f) ((x) * (y) + (z))
#endif

#define LM_COMPLEX(C, T, suffix, f) \
    typedef struct { T re, im; } C; \
    static inline C lm_add_##suffix(const C x, const C y) { return (C){x.re + y.re, x.im + y.im}; } \
    static inline C lm_sub_##suffix(const C x, const C y) { return (C){x.re - y.re, x.im - y.im}; } \
    static inline C lm_mul_##suffix(const C x, const C y) \
    { \
        T ii = x.im * y.im, ir = x.im * y.re; \
        LM_ROUNDED(ii); LM_ROUNDED(ir); \
        T re = LM_ADD_TO_PRODUCT(x.re, y.re, -ii, f), im = LM_ADD_TO_PRODUCT(x.re, y.im, ir, f); \
        LM_ROUNDED(re); LM_ROUNDED(im); \
        return (C){re, im}; \
    } \
    /* R. L. Smith, "Algorithm 116: Complex division", Comm. ACM 5 (1962). */ \
    static inline C lm_divide_##suffix(const C x, const C y) \
    { \
        const T re = fabs##f(y.re), im = fabs##f(y.im); \
        if (re == 0 && im == 0) return (C){x.re / re, x.im / re}; \
        const T ratio = re >= im ? y.im / y.re : y.re / y.im; \
        const T scale = (T)1 / (re >= im ? y.re + y.im * ratio : y.im + y.re * ratio); \
        T re_part = x.re * ratio, im_part = x.im * ratio; \
        LM_ROUNDED(re_part); LM_ROUNDED(im_part); \
        if (re >= im) return (C){(x.re + im_part) * scale, (x.im - re_part) * scale}; \
        return (C){(re_part + x.im) * scale, (im_part - x.re) * scale}; \
    } \
    static inline C lm_reciprocal_##suffix(const C y) \
    { \
        if (fabs##f(y.im) <= fabs##f(y.re)) { \
            const T ratio = y.im / y.re, scale = y.re + y.im * ratio; \
            return (C){1 / scale, -ratio / scale}; \
        } \
        const T ratio = y.re / y.im, scale = y.re * ratio + y.im; \
        return (C){ratio / scale, -1 / scale}; \
    } \
    static inline int lm_is_nan_##suffix(const C x) { return x.re != x.re || x.im != x.im; } \
    /* Complex numbers are ordered by real part, then by imaginary part. */ \
    static inline int lm_less_##suffix(const C x, const C y) \
    { \
        return (x.re < y.re && x.im == x.im && y.im == y.im) || (x.re == y.re && x.im < y.im); \
    } \
    static inline int lm_less_equal_##suffix(const C x, const C y) \
    { \
        return (x.re < y.re && x.im == x.im && y.im == y.im) || (x.re == y.re && x.im <= y.im); \
    } \
    static inline C lm_maximum_##suffix(const C x, const C y) \
    { \
        return lm_is_nan_##suffix(x) || lm_less_equal_##suffix(y, x) ? x : y; \
    } \
    static inline C lm_minimum_##suffix(const C x, const C y) \
    { \
        return lm_is_nan_##suffix(x) || lm_less_equal_##suffix(x, y) ? x : y; \
    }

LM_COMPLEX(lm_complex64, float, c64, f)
LM_COMPLEX(lm_complex128, double, c128, )
