/* Floats, with NumPy's answers where C has others or none. NaN propagates; a zero has a sign. */

/* The remainder of a division, with the sign of `x`. Where the quotient has no more digits than a double, its integer part is right, or one too
   large because the quotient was rounded up to it; and what is left of `x` is exact, since it is a multiple of the last digit of `x` or `y`. */
static inline double lm_fmod_f64(const double x, const double y)
{
#if defined(__FP_FAST_FMA)
    const double quotient = trunc(x / y);
    if (fabs(quotient) < 0x1p52) {
        const double rest = quotient == 0 ? x : __builtin_fma(-quotient, y, x);
        return rest == 0 || (rest < 0) == (x < 0) ? rest : rest + copysign(y, x);
    }
#endif
    return fmod(x, y);
}

static inline float lm_fmod_f32(const float x, const float y)
{
    return (float)lm_fmod_f64(x, y);
}

/* The remainder has the sign of the divisor. A quotient is rounded to the integer that the exact one floors to: dividing
   `x - rest` leaves it off by less than a half. */
#define LM_REAL(T, suffix, f) \
    static inline T lm_mod_##suffix(const T x, const T y) \
    { \
        const T rest = lm_fmod_##suffix(x, y); \
        if (y == 0) return rest; \
        if (rest == 0) return copysign##f((T)0, y); \
        return (rest < 0) != (y < 0) ? rest + y : rest; \
    } \
    static inline T lm_floor_divide_##suffix(const T x, const T y) \
    { \
        if (y == 0) return x / y; \
        const T rest = lm_fmod_##suffix(x, y); \
        T quotient = (x - rest) / y; \
        if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1; \
        if (quotient == 0) return copysign##f((T)0, x / y); \
        const T floored = floor##f(quotient); \
        return quotient - floored > (T)0.5 ? floored + 1 : floored; \
    } \
    static inline T lm_sign_##suffix(const T x) { return x > 0 ? (T)1 : x < 0 ? (T)-1 : x == 0 ? (T)0 : x; } \
    /* There is an instruction for the comparison alone. */ \
    static inline T lm_maximum_##suffix(const T x, const T y) { const T z = x > y ? x : y; return x != x ? x : z; } \
    static inline T lm_minimum_##suffix(const T x, const T y) { const T z = x < y ? x : y; return x != x ? x : z; } \
    static inline T lm_logaddexp_##suffix(const T x, const T y) \
    { \
        const T greater = x > y ? x : y; \
        const T sum = greater + log1p##f(exp##f(-fabs##f(x - y))); \
        return x == y ? x + (T)0.693147180559945309417232121458176568 : sum; \
    } \
    static inline T lm_logaddexp2_##suffix(const T x, const T y) \
    { \
        const T greater = x > y ? x : y; \
        const T log2_of_e = (T)1.44269504088896340735992468100189214; \
        const T sum = greater + log2_of_e * log1p##f(exp2##f(-fabs##f(x - y))); \
        return x == y ? x + 1 : sum; \
    } \
    static inline T lm_log1mexp_##suffix(const T x) \
    { \
        const T near_zero = log##f(-expm1##f(x)), far = log1p##f(-exp##f(x)); \
        return x > (T)-0.693147180559945309417232121458176568 ? near_zero : far; \
    } \
    static inline T lm_xlogy_##suffix(const T x, const T y) { const T z = x * log##f(y); return x == 0 && y == y ? 0 : z; } \
    static inline T lm_sigmoid_##suffix(const T x) { return 1 / (1 + exp##f(-x)); } \
    static inline T lm_log_sigmoid_##suffix(const T x) \
    { \
        const T tail = log1p##f(exp##f(-fabs##f(x))); \
        return x < 0 ? x - tail : -tail; \
    }

LM_REAL(double, f64, )
LM_REAL(float, f32, f)

/* Of two zeros of different sign, halves prefer the first. */
static inline float lm_maximum_f16(const float x, const float y) { return x >= y || x != x ? x : y; }
static inline float lm_minimum_f16(const float x, const float y) { return x <= y || x != x ? x : y; }
