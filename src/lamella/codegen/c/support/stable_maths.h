/* Logarithms of sums and differences of exponentials, sigmoids, and x * log(y), whose plain formulas overflow, lose digits or are not defined
   at 0. NaN propagates. */

#define LM_STABLE_MATHS(T, suffix, f) \
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

LM_STABLE_MATHS(double, f64, )
LM_STABLE_MATHS(float, f32, f)
