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
