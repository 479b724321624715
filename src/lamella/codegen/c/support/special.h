/* Special functions that the C library has not, or has with other values. */

static inline double lm_gammaln_f64(const double x)
{
    int sign;
    return x == -INFINITY ? x : lgamma_r(x, &sign);
}

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

/* On [1, 2] the digamma function is (x - root) * p(2 x - 3), with p found by interpolation in Chebyshev points (relative error
   2e-18); the root is that of the function, to twice the digits. Other arguments are brought there, or to where the asymptotic
   series holds: NIST Digital Library of Mathematical Functions, 5.5.2, 5.5.4, 5.11.2. */
static inline double lm_digamma_f64(double x)
{
    static const double p[] = {
        0x1.00b97decc71d3p-35, -0x1.7613802e35b01p-34, 0x1.80262ed7cd46ep-34, -0x1.2f4199fc376a3p-32,
        0x1.56c5b2162a18bp-30, -0x1.fdacdb41f9763p-29, 0x1.69ba90b99de68p-27, -0x1.0fb126d8c57ddp-25,
        0x1.99e1ac8b78152p-24, -0x1.336df9915307fp-22, 0x1.cd1f26d6e1808p-21, -0x1.5a06a23d6825ep-19,
        0x1.03c0b2b60708ep-17, -0x1.8635641765b5ep-16, 0x1.256471563953ep-14, -0x1.b9f8b11b2f9a3p-13,
        0x1.4de9aa1802ddap-11, -0x1.fb44202a259cdp-10, 0x1.8512e59037ebcp-8, -0x1.2feeeb98a78cbp-6,
        0x1.eca189b8e6f7bp-5, -0x1.b1cb63005ee98p-3, 0x1.e6f0cbb873616p-1,
    };
    double added = 0;
    if (x == 0) return copysign(INFINITY, -x);
    if (x < 0) {
        const double distance = x - trunc(x);
        if (distance == 0 || isinf(x)) return NAN;
        added = -3.14159265358979323846264338327950288 / tan(3.14159265358979323846264338327950288 * distance);
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
    double even = p[0], odd = 0;
    for (size_t i = 1; i < sizeof(p) / sizeof(p[0]); i += 2) {
        odd = odd * square + p[i];
        even = even * square + p[i + 1];
    }
    const double value = even + t * odd;
    return added + (shifted + ((x - 0x1.762d86356be3fp+0) - 0x1.b86a722197829p-54) * value);
}

/* The Hurwitz zeta function of s > 1 and q > 0, by the Euler-Maclaurin formula: NIST Digital Library of Mathematical Functions, 25.11.5. */
static inline double lm_zeta_f64(const double s, const double q)
{
    static const double coefficients[] = { /* Bernoulli's numbers, divided by factorials */
        1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000, 1. / 74724249600,
        -3617. / 10670622842880000, 43867. / 5109094217170944000, -174611. / 802857662698291200000.,
        77683. / 14101100039391805440000., -236364091. / 1693824136731743669452800000.,
    };
    if (isinf(q)) return 0;
    double a = q, sum = 0;
    for (; a < 10 + s; a += 1) {
        const double term = pow(a, -s);
        sum += term;
        if (term <= 0x1p-54 * sum) return sum;
    }
    const double first = pow(a, -s);
    double factor = s * first / a, rest = 0;
    for (size_t i = 0; i < sizeof(coefficients) / sizeof(coefficients[0]); ++i) {
        const double k = s + 2 * (double)i;
        rest += factor * coefficients[i];
        factor *= (k + 1) / a * ((k + 2) / a);
    }
    return sum + (pow(a, 1 - s) / (s - 1) + (first / 2 + rest));
}

/* Derivative n of the digamma function. Where x < 0, the terms of the zeta function's sum that have negative bases are those of two other sums
   with positive ones. */
static inline double lm_polygamma_f64(const double n, const double x)
{
    if (n == 0) return lm_digamma_f64(x);
    if (!(n > 0) || n != floor(n) || x != x) return NAN;
    const double s = n + 1, sign = isinf(s) || fmod(s, 2) == 0 ? 1 : -1; /* (-1)**s */
    double zeta;
    if (x > 0) zeta = lm_zeta_f64(s, x);
    else if (x == floor(x)) zeta = INFINITY;
    else {
        const double fraction = -x - floor(-x);
        zeta = lm_zeta_f64(s, 1 - fraction) + sign * (lm_zeta_f64(s, fraction) - lm_zeta_f64(s, 1 - x));
    }
    return sign * (tgamma(s) * zeta);
}
