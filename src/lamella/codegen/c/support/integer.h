/* Integers, with NumPy's answers where C has none: division by 0 gives 0, results wrap, shifts may be of any width.

   `U` holds products of values of `T` modulo its range. It has at least 32 bits, so that no operand becomes a (signed) int. */

/* Integers of at most 32 bits are divided as floats `F` that have more than twice as many digits: their quotient is farther from an integer than
   rounding moves it, if it is none. There are vector instructions for that, and none for integers. `S` holds quotients. By 1, 0 or -1 the
   quotient is the product. */
#define LM_DIVIDE_SIGNED(T, U, S, F, bits) \
    static inline T lm_floor_divide_i##bits(const T x, const T y) \
    { \
        const int is_product = y >= -1 && y <= 1; \
        const T divisor = is_product ? 2 : y; \
        const S whole = (S)((F)x / (F)divisor), rest = x - whole * divisor; \
        const T floored = (T)(whole - ((rest != 0) & ((rest < 0) != (divisor < 0)))); \
        return is_product ? (T)((U)x * (U)y) : floored; \
    } \
    static inline T lm_mod_i##bits(const T x, const T y) \
    { \
        const int is_product = y >= -1 && y <= 1; \
        const T divisor = is_product ? 2 : y; \
        const S rest = x - (S)((F)x / (F)divisor) * divisor; \
        const S moved = (rest != 0) & ((rest < 0) != (divisor < 0)) ? rest + divisor : rest; \
        return is_product ? 0 : (T)moved; \
    }

#define LM_DIVIDE_UNSIGNED(T, U, S, F, bits) \
    static inline T lm_floor_divide_u##bits(const T x, const T y) \
    { \
        const T whole = (T)(S)((F)x / (F)(y == 0 ? 1 : y)); \
        return y == 0 ? 0 : whole; \
    } \
    static inline T lm_mod_u##bits(const T x, const T y) \
    { \
        const T rest = (T)((U)x - (U)(S)((F)x / (F)(y == 0 ? 1 : y)) * (U)y); \
        return y == 0 ? 0 : rest; \
    }

LM_DIVIDE_SIGNED(int8_t, uint32_t, int32_t, float, 8)
LM_DIVIDE_SIGNED(int16_t, uint32_t, int32_t, float, 16)
LM_DIVIDE_SIGNED(int32_t, uint32_t, int32_t, double, 32)
LM_DIVIDE_UNSIGNED(uint8_t, uint32_t, int32_t, float, 8)
LM_DIVIDE_UNSIGNED(uint16_t, uint32_t, int32_t, float, 16)
LM_DIVIDE_UNSIGNED(uint32_t, uint32_t, uint32_t, double, 32)

#if defined(__AVX512DQ__)

/* A quotient of doubles is off by a few thousand at the most; what it leaves is divided again, and then the quotient is right, or off by 1. */
#define LM_DIVIDE_I64(x, y) \
    const int is_product = y >= -1 && y <= 1; \
    const int64_t divisor = is_product ? 2 : y; \
    const int64_t most = (int64_t)((double)x / (double)divisor), left = (int64_t)((uint64_t)x - (uint64_t)most * (uint64_t)divisor); \
    const int64_t more = (int64_t)((double)left / (double)divisor), rest = left - more * divisor; \
    const int is_over = (rest != 0) & ((rest < 0) != (divisor < 0))

static inline int64_t lm_floor_divide_i64(const int64_t x, const int64_t y)
{
    LM_DIVIDE_I64(x, y);
    return is_product ? (int64_t)((uint64_t)x * (uint64_t)y) : most + more - is_over;
}

static inline int64_t lm_mod_i64(const int64_t x, const int64_t y)
{
    LM_DIVIDE_I64(x, y);
    return is_product ? 0 : is_over ? rest + divisor : rest;
}

/* Made less than the exact one, a quotient leaves nothing negative. */
#define LM_DIVIDE_U64(x, y) \
    const double less = 1 - 0x1p-50; \
    const uint64_t divisor = y <= 1 ? 2 : y; \
    const uint64_t most = (uint64_t)((double)x / (double)divisor * less), left = x - most * divisor; \
    const uint64_t more = (uint64_t)((double)left / (double)divisor * less), rest = left - more * divisor; \
    const int is_under = rest >= divisor

static inline uint64_t lm_floor_divide_u64(const uint64_t x, const uint64_t y)
{
    LM_DIVIDE_U64(x, y);
    return y <= 1 ? x * y : most + more + (uint64_t)is_under;
}

static inline uint64_t lm_mod_u64(const uint64_t x, const uint64_t y)
{
    LM_DIVIDE_U64(x, y);
    return y <= 1 ? 0 : is_under ? rest - divisor : rest;
}

#else

static inline int64_t lm_floor_divide_i64(const int64_t x, const int64_t y)
{
    if (y == 0) return 0;
    if (y == -1) return (int64_t)(0 - (uint64_t)x);
    return x / y - ((x % y != 0) & ((x < 0) != (y < 0)));
}

static inline int64_t lm_mod_i64(const int64_t x, const int64_t y)
{
    if (y == 0 || y == -1) return 0;
    const int64_t rest = x % y;
    return (rest != 0) & ((rest < 0) != (y < 0)) ? rest + y : rest;
}

static inline uint64_t lm_floor_divide_u64(const uint64_t x, const uint64_t y) { return y == 0 ? 0 : x / y; }
static inline uint64_t lm_mod_u64(const uint64_t x, const uint64_t y) { return y == 0 ? 0 : x % y; }

#endif

#define LM_SIGNED(T, U, bits) \
    static inline T lm_abs_i##bits(const T x) { return (T)(x < 0 ? 0 - (U)x : (U)x); } \
    static inline int lm_is_negative_i##bits(const T x) { return x < 0; } \
    static inline T lm_sign_i##bits(const T x) { return (T)((x > 0) - (x < 0)); } \
    static inline T lm_left_shift_i##bits(const T x, const T y) { return (T)(y >= 0 && y < bits ? (U)x << y : 0); } \
    static inline T lm_right_shift_i##bits(const T x, const T y) \
    { \
        return (T)(x >> (y >= 0 && y < bits ? y : bits - 1)); \
    }

#define LM_UNSIGNED(T, U, bits) \
    static inline T lm_abs_u##bits(const T x) { return x; } \
    static inline T lm_sign_u##bits(const T x) { return x > 0; } \
    static inline T lm_left_shift_u##bits(const T x, const T y) { return (T)(y < bits ? (U)x << y : 0); } \
    static inline T lm_right_shift_u##bits(const T x, const T y) { return (T)(y < bits ? (U)x >> y : 0); }

LM_SIGNED(int8_t, uint32_t, 8)
LM_SIGNED(int16_t, uint32_t, 16)
LM_SIGNED(int32_t, uint32_t, 32)
LM_SIGNED(int64_t, uint64_t, 64)
LM_UNSIGNED(uint8_t, uint32_t, 8)
LM_UNSIGNED(uint16_t, uint32_t, 16)
LM_UNSIGNED(uint32_t, uint32_t, 32)
LM_UNSIGNED(uint64_t, uint64_t, 64)
