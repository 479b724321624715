/* Half precision: stored in 16 bits, computed in float, rounded after each operation. A float has more than twice the digits
   of a half, so that rounding twice gives what rounding once would. */

#ifdef __FLT16_MAX__

typedef _Float16 lm_half;

static inline float lm_from_half(const lm_half x) { return (float)x; }
static inline lm_half lm_to_half(const float x) { return (lm_half)x; }
static inline float lm_round_to_half_f64(const double x) { return (float)(lm_half)x; }

#else

typedef uint16_t lm_half;

static inline float lm_from_half(const lm_half x)
{
    const uint32_t sign = (uint32_t)(x & 0x8000u) << 16, exponent = (x >> 10) & 0x1fu, fraction = x & 0x3ffu;
    uint32_t bits;
    float result;
    if (exponent == 0) {
        result = (float)fraction * 0x1p-24f;
        memcpy(&bits, &result, sizeof bits);
        bits |= sign;
    } else
        bits = sign | (exponent == 0x1f ? 0x7f800000u : (exponent + 112) << 23) | fraction << 13;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* Round the magnitude to a multiple of the place of the last bit that a half has there, to even, by adding a number so large
   that a double keeps just the bits down to that place. */
static inline lm_half lm_half_from_f64(const double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000u);
    const uint64_t magnitude = bits & INT64_MAX;
    if (magnitude > UINT64_C(0x7ff0000000000000)) return sign | 0x7e00u;
    int exponent = (int)(magnitude >> 52) - 1023;
    if (exponent > 15) return sign | 0x7c00u;
    if (exponent < -14) exponent = -14;
    double value, last_place;
    const uint64_t place = (uint64_t)(exponent - 10 + 1023) << 52;
    memcpy(&value, &magnitude, sizeof value);
    memcpy(&last_place, &place, sizeof last_place);
    const volatile double shift = last_place * 0x1.8p52;
    const volatile double shifted = value + shift;
    const uint32_t units = (uint32_t)((shifted - shift) / last_place);
    /* A carry out of the fraction lands in the exponent, where it belongs. */
    return (lm_half)(sign | (units + ((uint32_t)(exponent + 14) << 10)));
}

static inline lm_half lm_to_half(const float x) { return lm_half_from_f64(x); }
static inline float lm_round_to_half_f64(const double x) { return lm_from_half(lm_half_from_f64(x)); }

#endif

static inline float lm_round_to_half(const float x) { return lm_from_half(lm_to_half(x)); }
static inline float lm_round_to_half_f32(const float x) { return lm_from_half(lm_to_half(x)); }
