/* The derivative of the digamma function. For x > 0 a series at x or, where that is below 5, at x + 5, with the coefficients of an
   interpolation in Chebyshev points (error 1e-16 of a correction); the terms in between are all positive: NIST Digital Library of
   Mathematical Functions, 5.15.5, 5.15.8. */

static double lm_trigamma_f64_alone(const double x)
{
    return lm_polygamma_f64(1, x);
}

LM_EASY double lm_trigamma_f64_easy(const double x, int64_t *const hard)
{
    *hard |= x <= 0;
    const int is_large = x >= 5;
    const double of_first = 1 / x, a = x + 1, b = x + 2, c = x + 3, d = x + 4;
    const double ab = 1 / (a * b), cd = 1 / (c * d);
    const double before =
        LM_MULADD(of_first, of_first, LM_MULADD(a, a, b * b) * (ab * ab) + LM_MULADD(c, c, d * d) * (cd * cd));
    const double r = is_large ? of_first : 1 / (x + 5), s = r * r;
    double series = -0x1.73201c8ea7380p+6;
    series = LM_MULADD(series, s, 0x1.f2a029d7fefdcp+4);
    series = LM_MULADD(series, s, -0x1.8c6ef3dfd0c6bp+2);
    series = LM_MULADD(series, s, 0x1.24e5acc304d4fp+0);
    series = LM_MULADD(series, s, -0x1.02cfe0f9f9badp-2);
    series = LM_MULADD(series, s, 0x1.3649a5599f8bdp-4);
    series = LM_MULADD(series, s, -0x1.1111051303a5bp-5);
    series = LM_MULADD(series, s, 0x1.8618617349402p-6);
    series = LM_MULADD(series, s, -0x1.111111110e2ddp-5);
    series = LM_MULADD(series, s, 0x1.5555555555555p-3);
    const double rest = LM_MULADD(s, LM_MULADD(series, r, 0.5), r);
    return is_large ? rest : before + rest;
}

LM_VECTOR_FUNCTION1(double, trigamma_f64)
