/* Floats to integers, as NumPy's loops over arrays do it: towards 0; what does not fit as the processor's instructions give it. */

static inline int32_t lm_i32_from_f64(const double x) { return (int32_t)x; }
static inline int64_t lm_i64_from_f64(const double x) { return (int64_t)x; }
static inline int8_t lm_i8_from_f64(const double x) { return (int8_t)(int32_t)x; }
static inline int16_t lm_i16_from_f64(const double x) { return (int16_t)(int32_t)x; }
static inline uint8_t lm_u8_from_f64(const double x) { return (uint8_t)(int32_t)x; }
static inline uint16_t lm_u16_from_f64(const double x) { return (uint16_t)(int32_t)x; }

/* There are instructions for signed results only: the upper half of the range is moved down, and back. */
static inline uint32_t lm_u32_from_f64(const double x)
{
    return x >= 0x1p31 ? (uint32_t)(int32_t)(x - 0x1p31) ^ 0x80000000u : (uint32_t)(int32_t)x;
}

static inline uint64_t lm_u64_from_f64(const double x)
{
    return x >= 0x1p63 ? (uint64_t)(int64_t)(x - 0x1p63) ^ UINT64_C(0x8000000000000000) : (uint64_t)(int64_t)x;
}

/* Halves are converted one by one, by the instruction for 64 bits. */
static inline uint32_t lm_u32_from_f16(const float x) { return (uint32_t)(int64_t)x; }
