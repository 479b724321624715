/* Coefficients of a polynomial of degree 22, that of the highest degree first: see below. */
static const double lm_digamma_terms[] = {
    0x1.00b97decc71d3p-35, -0x1.7613802e35b01p-34, 0x1.80262ed7cd46ep-34, -0x1.2f4199fc376a3p-32,
    0x1.56c5b2162a18bp-30, -0x1.fdacdb41f9763p-29, 0x1.69ba90b99de68p-27, -0x1.0fb126d8c57ddp-25,
    0x1.99e1ac8b78152p-24, -0x1.336df9915307fp-22, 0x1.cd1f26d6e1808p-21, -0x1.5a06a23d6825ep-19,
    0x1.03c0b2b60708ep-17, -0x1.8635641765b5ep-16, 0x1.256471563953ep-14, -0x1.b9f8b11b2f9a3p-13,
    0x1.4de9aa1802ddap-11, -0x1.fb44202a259cdp-10, 0x1.8512e59037ebcp-8, -0x1.2feeeb98a78cbp-6,
    0x1.eca189b8e6f7bp-5, -0x1.b1cb63005ee98p-3, 0x1.e6f0cbb873616p-1,
};

/* On [1, 2] the digamma function is (x - root) * p(2 x - 3), with p found by interpolation in Chebyshev points (relative error
   2e-18); the root is that of the function, to twice the digits. Other arguments are brought there, or to where the asymptotic
   series holds: NIST Digital Library of Mathematical Functions, 5.5.2, 5.5.4, 5.11.2. */
static double lm_digamma_f64_alone(double x)
{
    double added = 0;
    if (x == 0) return copysign(INFINITY, -x);
    if (x < 0) {
        const double pi = 3.14159265358979323846264338327950288, distance = x - trunc(x);
        if (distance == 0 || isinf(x)) return NAN;
        added = distance == -0.5 ? 0 : -pi / tan(pi * distance); /* rounded, pi / 2 has a large tangent, but a finite one */
        x = 1 - x;
    }
    if (x >= 10) {
        const double s = 1 / (x * x);
        const double series =
            s * (1. / 12 - s * (1. / 120 - s * (1. / 252 - s * (1. / 240 - s * (1. / 132 - s * (691. / 32760 - s / 12))))));
        return added + (log(x) - 0.5 / x - (x < 1e17 ? series : 0));
    }
    double shifted = 0;
    for (; x > 2; x -= 1) shifted += 1 / (x - 1);
    for (; x < 1; x += 1) shifted -= 1 / x;
    /* Terms of even and of odd degree apart: neither sum waits for the other. */
    const double t = 2 * x - 3, square = t * t;
    const double *const p = lm_digamma_terms;
    double even = p[0], odd = 0;
    for (size_t i = 1; i < sizeof(lm_digamma_terms) / sizeof(double); i += 2) {
        odd = odd * square + p[i];
        even = even * square + p[i + 1];
    }
    const double value = even + t * odd;
    return added + (shifted + ((x - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54) * value);
}

/* The same for x > 0 without a branch: to 2 at the least, by a quotient of polynomials, and from 4 on by a series of which the coefficients
   are those of an interpolation in Chebyshev points (error 2e-18). */
LM_EASY double lm_digamma_f64_easy(const double x, int64_t *const hard)
{
    *hard |= x <= 0;
    const int is_large = x >= 4;
    /* In [1, 2]; where that is 1 + x, it would be rounded. */
    const double near_root = x > 3 ? x - 2 : x > 2 ? x - 1 : x;
    const double t = x < 1 ? 2 * x - 1 : 2 * near_root - 3, square = t * t;
    const double from_root = near_root - (x < 1 ? 0x1.762d86356be3fp+0 - 1 : 0x1.762d86356be3fp+0);
    double even = lm_digamma_terms[0], odd = lm_digamma_terms[1];
    even = LM_MULADD(even, square, lm_digamma_terms[2]), odd = LM_MULADD(odd, square, lm_digamma_terms[3]);
    even = LM_MULADD(even, square, lm_digamma_terms[4]), odd = LM_MULADD(odd, square, lm_digamma_terms[5]);
    even = LM_MULADD(even, square, lm_digamma_terms[6]), odd = LM_MULADD(odd, square, lm_digamma_terms[7]);
    even = LM_MULADD(even, square, lm_digamma_terms[8]), odd = LM_MULADD(odd, square, lm_digamma_terms[9]);
    even = LM_MULADD(even, square, lm_digamma_terms[10]), odd = LM_MULADD(odd, square, lm_digamma_terms[11]);
    even = LM_MULADD(even, square, lm_digamma_terms[12]), odd = LM_MULADD(odd, square, lm_digamma_terms[13]);
    even = LM_MULADD(even, square, lm_digamma_terms[14]), odd = LM_MULADD(odd, square, lm_digamma_terms[15]);
    even = LM_MULADD(even, square, lm_digamma_terms[16]), odd = LM_MULADD(odd, square, lm_digamma_terms[17]);
    even = LM_MULADD(even, square, lm_digamma_terms[18]), odd = LM_MULADD(odd, square, lm_digamma_terms[19]);
    even = LM_MULADD(even, square, lm_digamma_terms[20]), odd = LM_MULADD(odd, square, lm_digamma_terms[21]);
    even = LM_MULADD(even, square, lm_digamma_terms[22]);
    const double value = LM_MULADD(t, odd, even);
    const double above = x > 3 ? 2 * x - 3 : x > 2 ? 1 : x < 1 ? -1 : 0;
    const double below = x > 3 ? (x - 1) * (x - 2) : x > 2 ? x - 1 : x < 1 ? x : 1;
    const double ratio = (is_large ? 1 : above) / (is_large ? x : below), s = ratio * ratio;
    double series = -0x1.61b20cb604f86p+1;
    series = LM_MULADD(series, s, 0x1.5152ac74ccd7ep+0);
    series = LM_MULADD(series, s, -0x1.6520e90d4b86dp-2);
    series = LM_MULADD(series, s, 0x1.46cd896d2670ep-4);
    series = LM_MULADD(series, s, -0x1.582438d9893bdp-6);
    series = LM_MULADD(series, s, 0x1.f064f28ef252cp-8);
    series = LM_MULADD(series, s, -0x1.1110da6023195p-8);
    series = LM_MULADD(series, s, 0x1.041040c176a8ep-8);
    series = LM_MULADD(series, s, -0x1.1111111101245p-7);
    series = LM_MULADD(series, s, 0x1.5555555555553p-4);
    const double large = log(is_large ? x : 1) - LM_MULADD(series, s, ratio / 2);
    return is_large ? large : LM_MULADD(from_root - 0x1.b86a722197829p-54, value, ratio);
}

LM_VECTOR_FUNCTION1(double, digamma_f64)
