/* exp(x * x) * erfc(x), where the part of the square that rounding takes away is put back (the slope of the exponential is itself);
   from 25 on, where erfc will underflow, the asymptotic series: NIST Digital Library of Mathematical Functions, 7.12.1. */
static inline double lm_erfcx_f64(const double x)
{
    if (x < 25) {
        const double square = x * x;
        if (x < -26.7) return INFINITY;
        return exp(square) * (1 + fma(x, x, -square)) * erfc(x);
    }
    const double s = 0.5 / (x * x);
    const double series = 1 - s * (1 - s * (3 - s * (15 - s * (105 - s * (945 - s * 10395)))));
    return 0.564189583547756286948079451560772586 / x * (x == x && x < INFINITY ? series : 1);
}
