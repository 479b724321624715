/* Remainders of floats, with NumPy's bits: they have the sign of the divisor. */

static double lm_mod_f64_alone(const double x, const double y)
{
    const double rest = fmod(x, y);
    if (y == 0) return rest;
    if (rest == 0) return copysign(0.0, y);
    return (rest < 0) != (y < 0) ? rest + y : rest;
}

/* Where the quotient has no more digits than a double, its integer part is right, or one too large because the quotient was rounded up to
   it; and what is left of `x` is exact, since it is a multiple of the last digit of `x` or `y`. */
LM_EASY double lm_mod_f64_easy(const double x, const double y, int64_t *const hard)
{
#if defined(__FP_FAST_FMA)
    const double whole = trunc(x / y), left = whole == 0 ? x : LM_MULADD(-whole, y, x);
    const double rest = left != 0 && (left < 0) != (x < 0) ? left + copysign(y, x) : left;
    const double moved = (rest < 0) != (y < 0) ? rest + y : rest;
    *hard |= (fabs(whole) >= 0x1p52) & (y != 0) & (fabs(x) < INFINITY);
    return rest == 0 ? copysign(0.0, y) : moved;
#else
    *hard = 1;
    return x + y;
#endif
}

LM_VECTOR_FUNCTION2(double, mod_f64)

static inline float lm_mod_f32(const float x, const float y) { return (float)lm_mod_f64(x, y); }
