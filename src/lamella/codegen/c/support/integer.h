/* Integers, with NumPy's answers where C has none: division by 0 gives 0, results wrap, shifts may be of any width.

   `U` holds products of values of `T` modulo its range. It has at least 32 bits, so that no operand becomes a (signed) int. */

#define LM_INTEGER(T, U, suffix) \
    static inline T lm_power_##suffix(const T base, const T exponent) \
    { \
        U result = 1, square = (U)base; \
        for (U left = (U)exponent; left != 0; left >>= 1) { \
            if (left & 1) result *= square; \
            square *= square; \
        } \
        return (T)result; \
    }

#define LM_SIGNED(T, U, bits) \
    LM_INTEGER(T, U, i##bits) \
    static inline T lm_floor_divide_i##bits(const T x, const T y) \
    { \
        if (y == 0) return 0; \
        if (y == -1) return (T)(0 - (U)x); \
        return (T)(x / y - ((x % y != 0) & ((x < 0) != (y < 0)))); \
    } \
    static inline T lm_mod_i##bits(const T x, const T y) \
    { \
        if (y == 0 || y == -1) return 0; \
        const T rest = (T)(x % y); \
        return (T)((rest != 0) & ((rest < 0) != (y < 0)) ? rest + y : rest); \
    } \
    static inline T lm_abs_i##bits(const T x) { return (T)(x < 0 ? 0 - (U)x : (U)x); } \
    static inline int lm_is_negative_i##bits(const T x) { return x < 0; } \
    static inline T lm_sign_i##bits(const T x) { return (T)((x > 0) - (x < 0)); } \
    static inline T lm_left_shift_i##bits(const T x, const T y) { return (T)(y >= 0 && y < bits ? (U)x << y : 0); } \
    static inline T lm_right_shift_i##bits(const T x, const T y) \
    { \
        return (T)(x >> (y >= 0 && y < bits ? y : bits - 1)); \
    }

#define LM_UNSIGNED(T, U, bits) \
    LM_INTEGER(T, U, u##bits) \
    static inline T lm_floor_divide_u##bits(const T x, const T y) { return (T)(y == 0 ? 0 : x / y); } \
    static inline T lm_mod_u##bits(const T x, const T y) { return (T)(y == 0 ? 0 : x % y); } \
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
