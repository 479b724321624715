/* Functions of complex numbers: the C library's, which NumPy calls too, and what NumPy makes of them. LM_ROUNDED keeps loops over the latter
   from calling vector versions, whose values are others than NumPy's. */

#define LM_TO_C(T, z, x) T _Complex z; __real__ z = (x).re; __imag__ z = (x).im
#define LM_FROM_C(C, z) (C){__real__ z, __imag__ z}

/* Declared here, for <complex.h> defines macros with names that others have. */
#define LM_COMPLEX_FUNCTION(C, T, suffix, f, name) \
    T _Complex c##name##f(T _Complex); \
    static inline C lm_##name##_##suffix(const C x) \
    { \
        LM_TO_C(T, z, x); \
        z = c##name##f(z); \
        return LM_FROM_C(C, z); \
    }

#define LM_COMPLEX_MATHS(C, T, suffix, f) \
    LM_COMPLEX_FUNCTION(C, T, suffix, f, exp) LM_COMPLEX_FUNCTION(C, T, suffix, f, log) \
    LM_COMPLEX_FUNCTION(C, T, suffix, f, sqrt) LM_COMPLEX_FUNCTION(C, T, suffix, f, sin) \
    LM_COMPLEX_FUNCTION(C, T, suffix, f, cos) LM_COMPLEX_FUNCTION(C, T, suffix, f, tan) \
    LM_COMPLEX_FUNCTION(C, T, suffix, f, asin) LM_COMPLEX_FUNCTION(C, T, suffix, f, acos) \
    LM_COMPLEX_FUNCTION(C, T, suffix, f, atan) LM_COMPLEX_FUNCTION(C, T, suffix, f, sinh) \
    LM_COMPLEX_FUNCTION(C, T, suffix, f, cosh) LM_COMPLEX_FUNCTION(C, T, suffix, f, tanh) \
    LM_COMPLEX_FUNCTION(C, T, suffix, f, asinh) LM_COMPLEX_FUNCTION(C, T, suffix, f, acosh) \
    LM_COMPLEX_FUNCTION(C, T, suffix, f, atanh) \
    T _Complex cpow##f(T _Complex, T _Complex); \
    static inline C lm_log2_##suffix(const C x) \
    { \
        const C z = lm_log_##suffix(x); \
        return (C){z.re * (T)1.44269504088896340735992468100189214, z.im * (T)1.44269504088896340735992468100189214}; \
    } \
    static inline C lm_log10_##suffix(const C x) \
    { \
        const C z = lm_log_##suffix(x); \
        return (C){z.re * (T)0.434294481903251827651128918916605082, z.im * (T)0.434294481903251827651128918916605082}; \
    } \
    static inline C lm_exp2_##suffix(const C x) \
    { \
        return lm_exp_##suffix((C){ \
            x.re * (T)0.693147180559945309417232121458176568, x.im * (T)0.693147180559945309417232121458176568}); \
    } \
    static inline C lm_expm1_##suffix(const C x) \
    { \
        T half = sin##f(x.im / 2); \
        LM_ROUNDED(half); \
        return (C){expm1##f(x.re) * cos##f(x.im + 0) - 2 * half * half, exp##f(x.re) * sin##f(x.im)}; \
    } \
    static inline C lm_log1p_##suffix(const C x) \
    { \
        T size = hypot##f(x.re + 1, x.im); \
        LM_ROUNDED(size); \
        return (C){log##f(size), atan2##f(x.im, x.re + 1)}; \
    } \
    static inline C lm_sign_##suffix(const C x) \
    { \
        T size = hypot##f(x.re, x.im); \
        const T one = 1; \
        LM_ROUNDED(size); \
        if (size != size || (isinf(x.re) && isinf(x.im))) return (C){NAN, NAN}; \
        if (isinf(size)) return isinf(x.re) ? (C){copysign##f(one, x.re), 0} : (C){0, copysign##f(one, x.im)}; \
        return size == 0 ? (C){0, 0} : (C){x.re / size, x.im / size}; \
    } \
    /* Small integer powers are products, by repeated squaring; here NumPy rounds both products of a sum. */ \
    static inline C lm_rounded_mul_##suffix(const C x, const C y) \
    { \
        T rr = x.re * y.re, ii = x.im * y.im, ri = x.re * y.im, ir = x.im * y.re; \
        LM_ROUNDED(rr); LM_ROUNDED(ii); LM_ROUNDED(ri); LM_ROUNDED(ir); \
        return (C){rr - ii, ri + ir}; \
    } \
    static inline C lm_integer_power_##suffix(const C x, const int n) \
    { \
        if (n == 1) return x; \
        if (n == 2) return lm_rounded_mul_##suffix(x, x); \
        if (n == 3) return lm_rounded_mul_##suffix(x, lm_rounded_mul_##suffix(x, x)); \
        C result = {1, 0}, power = x; \
        const int exponent = n < 0 ? -n : n; \
        for (int bit = 1; bit <= exponent; bit <<= 1) { \
            if (exponent & bit) result = lm_rounded_mul_##suffix(result, power); \
            if (bit << 1 <= exponent) power = lm_rounded_mul_##suffix(power, power); \
        } \
        return n < 0 ? lm_divide_##suffix((C){1, 0}, result) : result; \
    } \
    static inline C lm_power_##suffix(const C x, const C y) \
    { \
        if (y.re == 0 && y.im == 0) return (C){1, 0}; \
        if (x.re == 0 && x.im == 0) return y.re > 0 ? (C){0, 0} : (C){NAN, NAN}; \
        if (y.im == 0 && y.re > -100 && y.re < 100 && y.re == (T)(int)y.re) return lm_integer_power_##suffix(x, (int)y.re); \
        LM_TO_C(T, base, x); \
        LM_TO_C(T, exponent, y); \
        base = cpow##f(base, exponent); \
        return LM_FROM_C(C, base); \
    }

LM_COMPLEX_MATHS(lm_complex64, float, c64, f)
LM_COMPLEX_MATHS(lm_complex128, double, c128, )

#define LM_IN_DOUBLE_PRECISION(name) \
    static inline lm_complex64 lm_##name##_c64(const lm_complex64 z) \
    { \
        const lm_complex128 value = lm_##name##_c128((lm_complex128){z.re, z.im}); \
        return (lm_complex64){(float)value.re, (float)value.im}; \
    }
