/* log(|gamma(x)|). */

static double lm_gammaln_f64_alone(const double x)
{
    int sign;
    return x == -INFINITY ? x : lgamma_r(x, &sign);
}

/* For x > 0. On [0.75, 2.25] the function is (x - 1) * (x - 2) * p(x - 1.5), with p found by interpolation in Chebyshev points (relative
   error 8e-18); other arguments are brought there by products, gamma(x + 1) = x * gamma(x). From 8 on Stirling's series, with the
   coefficients of such an interpolation (relative error 5e-16 of a correction): NIST Digital Library of Mathematical Functions, 5.5.1, 5.11.1. */
LM_EASY double lm_gammaln_f64_easy(const double x, int64_t *const hard)
{
    *hard |= x <= 0;
    const int is_large = x >= 8, is_small = x < 0.75;
    /* How much to take away; where 1 is added, the sum is not needed, which would be rounded. */
    const double down = x < 2.25 ? 0 : floor(x - 1.25);
    const double from_1 = is_small ? x : x - 1 - down, from_2 = is_small ? x - 1 : x - 2 - down;
    const double u = is_small ? x - 0.5 : x - 1.5 - down, square = u * u;
    double even = 0x1.7ec51f42a97e7p-19, odd = -0x1.eee06d087ad6bp-20;
    even = LM_MULADD(even, square, -0x1.2630f80df0a89p-18), odd = LM_MULADD(odd, square, 0x1.7d9428dccb5a0p-19);
    even = LM_MULADD(even, square, 0x1.37c5d9ba8a490p-17), odd = LM_MULADD(odd, square, -0x1.9254dd67ba2c7p-18);
    even = LM_MULADD(even, square, 0x1.0848bdc179238p-19), odd = LM_MULADD(odd, square, -0x1.44fa181e321c6p-20);
    even = LM_MULADD(even, square, 0x1.4020509a94158p-16), odd = LM_MULADD(odd, square, -0x1.97aae221eedb2p-17);
    even = LM_MULADD(even, square, 0x1.57c3ba599b084p-15), odd = LM_MULADD(odd, square, -0x1.b2413b422f511p-16);
    even = LM_MULADD(even, square, 0x1.bbce9ef8b5317p-14), odd = LM_MULADD(odd, square, -0x1.16a6807261051p-14);
    even = LM_MULADD(even, square, 0x1.1c6c2346e9a99p-12), odd = LM_MULADD(odd, square, -0x1.6227c29186117p-13);
    even = LM_MULADD(even, square, 0x1.750b5b2612c7ap-11), odd = LM_MULADD(odd, square, -0x1.cb46026fffac7p-12);
    even = LM_MULADD(even, square, 0x1.f814b398e7d35p-10), odd = LM_MULADD(odd, square, -0x1.313e85a829eebp-10);
    even = LM_MULADD(even, square, 0x1.64f0665d8a681p-8), odd = LM_MULADD(odd, square, -0x1.a5035248e5ae5p-9);
    even = LM_MULADD(even, square, 0x1.13342352690c7p-6), odd = LM_MULADD(odd, square, -0x1.34dbda147a9aep-7);
    even = LM_MULADD(even, square, 0x1.01af62a292a75p-4), odd = LM_MULADD(odd, square, -0x1.007aa83cee296p-5);
    odd = LM_MULADD(odd, square, -0x1.2aed059bd608ap-3);
    /* The value and the products are known to more than the digits of a double. */
    const double rest = LM_MULADD(even, square, u * odd), value = 0x1.eeb95b094c191p-2 + rest;
    const double value_low = 0x1.eeb95b094c191p-2 - value + rest + 0x1.005badd3b6762p-56;
    const double factor = from_1 * from_2, factor_low = LM_PRODUCT_ERROR(from_1, from_2, factor);
    const double tail = LM_MULADD(factor, value_low, factor_low * value);
    double product = is_small ? x : 1;
    for (int i = 1; i <= 6; ++i) product *= i <= down ? x - i : 1;
    const double logarithm = log(is_large ? x : product);
    const double small = LM_MULADD(factor, value, (is_small ? -logarithm : logarithm) + tail);
    const double r = 1 / x, s = r * r;
    double series = -0x1.b1382377d788ap-10;
    series = LM_MULADD(series, s, 0x1.b6fa4852c5f70p-11);
    series = LM_MULADD(series, s, -0x1.380ebd7243e93p-11);
    series = LM_MULADD(series, s, 0x1.a019fd3406f01p-11);
    series = LM_MULADD(series, s, -0x1.6c16c16bb630dp-9);
    series = LM_MULADD(series, s, 0x1.5555555555553p-4);
    const double large = LM_MULADD(x - 0.5, logarithm - 1, LM_MULADD(series, r, 0x1.acfe390c97d69p-2));
    return is_large ? large : small;
}

LM_VECTOR_FUNCTION1(double, gammaln_f64)
