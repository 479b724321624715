/* Floats, with NumPy's answers where C has others or none. NaN propagates; a zero has a sign. */

#define LM_REAL(T, suffix) \
    static inline T lm_sign_##suffix(const T x) { return x > 0 ? (T)1 : x < 0 ? (T)-1 : x == 0 ? (T)0 : x; } \
    /* There is an instruction for the comparison alone. */ \
    static inline T lm_maximum_##suffix(const T x, const T y) { const T z = x > y ? x : y; return x != x ? x : z; } \
    static inline T lm_minimum_##suffix(const T x, const T y) { const T z = x < y ? x : y; return x != x ? x : z; }

LM_REAL(double, f64)
LM_REAL(float, f32)

/* Of two zeros of different sign, halves prefer the first. */
static inline float lm_maximum_f16(const float x, const float y) { return x >= y || x != x ? x : y; }
static inline float lm_minimum_f16(const float x, const float y) { return x <= y || x != x ? x : y; }
