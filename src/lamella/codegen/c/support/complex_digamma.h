/* The digamma function of complex numbers: NIST Digital Library of Mathematical Functions, 5.5.2 (recurrence), 5.5.4 (reflection), and
   5.11.2, the asymptotic series. */

/* pi times the cotangent of pi (a + i b), for b >= 0. Periods are taken off exactly. */
static inline lm_complex128 lm_pi_cotangent(const double a, const double b)
{
    const double pi = 3.14159265358979323846264338327950288, turns = a - rint(a);
    if (b > 10) return (lm_complex128){0, -pi}; /* exp(-2 pi b) is nothing beside it */
    const double s = sin(pi * turns), c = cos(pi * turns), sh = sinh(pi * b), ch = cosh(pi * b);
    const lm_complex128 inverse = lm_reciprocal_c128((lm_complex128){s * c, sh * ch});
    const double scale = pi * (c * c + sh * sh);
    return (lm_complex128){inverse.re * scale, inverse.im * scale};
}

LM_ALONE lm_complex128 lm_digamma_c128(const lm_complex128 z)
{
    static const double coefficients[] = {1. / 12, -1. / 120, 1. / 252, -1. / 240, 1. / 132, -691. / 32760, 1. / 12};
    double a = z.re, b = fabs(z.im);
    lm_complex128 value = {0, 0};
    if (b == 0) {
        if (a != a || (a <= 0 && a == floor(a))) return (lm_complex128){NAN, NAN}; /* as SciPy has it, of complex numbers */
        return (lm_complex128){lm_digamma_f64(a), 0};
    }
    if (a < 0) { /* of 1 - z, whose conjugate has the conjugate value */
        value = lm_pi_cotangent(a, b);
        value.re = -value.re;
        a = 1 - a;
    }
    double re = 0, im = 0;
    for (; a < 10 && a * a + b * b < 256; a += 1) {
        const lm_complex128 inverse = lm_reciprocal_c128((lm_complex128){a, b});
        re -= inverse.re;
        im -= inverse.im;
    }
    lm_complex128 of_large = lm_log_c128((lm_complex128){a, b});
    if (a < 1e17 && b < 1e17) {
        const lm_complex128 inverse = lm_reciprocal_c128((lm_complex128){a, b});
        const lm_complex128 square = lm_mul_c128(inverse, inverse);
        lm_complex128 series = {0, 0};
        for (int i = (int)(sizeof(coefficients) / sizeof(coefficients[0])) - 1; i >= 0; --i) {
            series.re += coefficients[i];
            series = lm_mul_c128(series, square);
        }
        of_large.re -= inverse.re / 2 + series.re;
        of_large.im -= inverse.im / 2 + series.im;
    }
    re += of_large.re;
    im += of_large.im;
    if (z.re < 0) { /* psi(1 - z) - pi cot(pi z) */
        im = -im - value.im;
        re += value.re;
    }
    return (lm_complex128){re, signbit(z.im) ? -im : im};
}

LM_IN_DOUBLE_PRECISION(digamma)
