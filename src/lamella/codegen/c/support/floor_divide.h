/* Floored quotients of floats, with NumPy's bits. NumPy divides what the remainder leaves of `x`, and rounds to the integer that this is near. */

static double lm_floor_divide_f64_alone(const double x, const double y)
{
    if (y == 0) return x / y;
    const double rest = fmod(x, y);
    double quotient = (x - rest) / y;
    if (rest != 0 && (rest < 0) != (y < 0)) quotient -= 1;
    if (quotient == 0) return copysign(0.0, x / y);
    const double floored = floor(quotient);
    return quotient - floored > 0.5 ? floored + 1 : floored;
}

/* A quotient below 2**50 is the integer below the exact one. The integer part of the rounded one is that, or one too large because of the
   rounding; what is left of `x` tells, and is exact. From 2**54 on the remainder is less than half of the last digit of `x`. */
LM_EASY double lm_floor_divide_f64_easy(const double x, const double y, int64_t *const hard)
{
    const double divided = x / y;
#if defined(__FP_FAST_FMA)
    const double whole = trunc(divided), size = fabs(whole), left = whole == 0 ? x : LM_MULADD(-whole, y, x);
    const int is_over = (left != 0) & ((left < 0) != (x < 0));
    const double quotient = whole - (is_over ? copysign(1.0, whole) : 0), rest = left + (is_over ? copysign(y, x) : 0);
    const double floored = quotient - (double)((rest != 0) & ((rest < 0) != (y < 0)));
    const double small = floored == 0 ? copysign(0.0, divided) : floored;
    const double large = y == 0 ? divided : divided + (x - x); /* NaN where x is infinite */
    *hard |= (size >= 0x1p50) & (size < 0x1p54);
    return size < 0x1p54 ? small : large;
#else
    *hard = 1;
    return divided;
#endif
}

LM_VECTOR_FUNCTION2(double, floor_divide_f64)

/* What is left of `x` is exact in double precision where it is not too little to matter. */
static inline float lm_floor_divide_f32(const float x, const float y)
{
    const double whole = trunc((double)x / (double)y), left = whole == 0 ? (double)x : (double)x - whole * (double)y;
    const double below = left != 0 && (left < 0) != (x < 0) ? left + copysign((double)y, (double)x) : left;
    const float rest = fabs(whole) < 0x1p26 ? (float)below : 0;
    const float exact = (x - rest) / y, quotient = rest != 0 && (rest < 0) != (y < 0) ? exact - 1 : exact;
    const float floored = floorf(quotient), rounded = quotient - floored > 0.5f ? floored + 1 : floored;
    const float any = quotient == 0 ? copysignf(0.0f, x / y) : rounded;
    return y == 0 ? x / y : fabsf(x) == INFINITY ? NAN : any;
}
