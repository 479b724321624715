/* The error functions of complex numbers, by the Faddeeva function w(z) = exp(-z * z) erfc(-i z).

   The trapezoidal rule for its integral is exact but for a multiple of exp(-(pi / h)**2) once the residues of the poles between the real axis
   and the line Im t = pi / h are added; with nodes h apart that keep h / 4 away from the pole. C. Chiarella, A. Reichel, "On the evaluation
   of integrals related to the error function", Math. Comp. 22 (1968); M. Al Azah, S. N. Chandler-Wilde, "Computation of the complex error
   function using modified trapezoidal rules", SIAM J. Numer. Anal. 59 (2021). With h = 1 / 2, exp(-(pi / h)**2) is 7e-18, and periods
   are exact.

   For z = a + i b with a, b >= 0, the sum over nodes being S and the residues being R (0 from a = pi / h on):
       erfcx(z) = S + exp(z * z) R,    erfc(z) = exp(-z * z) S + R,    erf(z) = (1 - R) - exp(-z * z) S.
   The real and the imaginary part of each term have the sign, and vanish where, that part of the whole does: near the axes neither
   loses digits. */

typedef struct {
    lm_complex128 sum, residue;
    double rest; /* 1 less the real part of the residue */
} lm_error_terms;

/* exp((a + i b)**2): `size` times a number of absolute value 1. */
typedef struct {
    double size;
    lm_complex128 direction;
} lm_square_exponential;

LM_ALONE lm_error_terms lm_error_terms_of(const double a, const double b)
{
    /* exp(-t * t) / pi at the nodes t = k / 2 + 1 / 4, and t = k / 2; the first of these counts half. */
    static const double weights[2][14] = {
        {0x1.323378294c2bfp-2, 0x1.7370ce99b1cfcp-3, 0x1.114a6f33e6973p-4, 0x1.e7d5d560f7361p-7, 0x1.0815d6ae9a174p-9,
         0x1.5ad6cd7d941eap-13, 0x1.144a23e612150p-17, 0x1.0afbaf6c74746p-22, 0x1.38f537a79c317p-28, 0x1.bd02cd510a96fp-35,
         0x1.7fcd8aeb5d909p-42, 0x1.918a2e7cd92d1p-50, 0x1.fd9a442c5e80dp-59, 0x1.8845ab0be88a0p-68},
        {0x1.45f306dc9c883p-3, 0x1.fbb2fd3e63b83p-3, 0x1.dfa3e572aa123p-4, 0x1.12d6a47eec4e7p-5, 0x1.7e13fd7d199b4p-8,
         0x1.422a769e2e126p-11, 0x1.4986a82011d6dp-15, 0x1.98de153524230p-20, 0x1.33b3574d5dd08p-25, 0x1.18e738aad23efp-31,
         0x1.3713b5406adeap-38, 0x1.a1e3ccc0d34dfp-46, 0x1.547e45cb47c08p-54, 0x1.508a7dde1f085p-63},
    };
    const double pi = 3.14159265358979323846264338327950288, large = a > b ? a : b; /* the second, if the first is NaN */
    lm_error_terms terms = {{0, 0}, {0, 0}, 1};
    if (large > 1e8) { /* 1 / (sqrt(pi) z), what follows being less by z**2 */
        const double re = a / large, im = b / large, scale = 0.564189583547756286948079451560772586 / large / (re * re + im * im);
        if (a != a || b != b) terms.sum = (lm_complex128){NAN, NAN};
        else if (large < INFINITY) terms.sum = (lm_complex128){re * scale, -im * scale};
        return terms;
    }
    const double turns = 2 * b - rint(2 * b);
    const int at_nodes = fabs(turns) > 0.25;
    const double *const weight = weights[at_nodes], first = at_nodes ? 0 : 0.25;
    double re = 0, im = 0;
    for (int k = 0; k < 14; ++k) {
        const double t = first + 0.5 * k, below = b - t, above = b + t, square = a * a, inside = below * above + square;
        const double scale = weight[k] / ((below * below + square) * (above * above + square));
        re += scale * (square + b * b + t * t);
        im += scale * inside;
    }
    terms.sum = (lm_complex128){a * re, -b * im};
    if (a < 2 * pi) {
        const double sign = at_nodes ? -1 : 1, size = exp(4 * pi * a);
        const double c = sign * size * cos(2 * pi * turns), s = sign * size * sin(2 * pi * turns);
        const double scale = 1 / (1 + 2 * c + size * size);
        terms.residue = (lm_complex128){2 * (1 + c) * scale, -2 * s * scale};
        terms.rest = expm1(8 * pi * a) * scale;
    }
    return terms;
}

/* Products are taken to twice the digits: an error of the exponent or of the angle is one of the result. */
LM_ALONE lm_square_exponential lm_exp_of_square(const double a, const double b)
{
    double exponent = (a - b) * (a + b), correction = 0;
    if (exponent < -750) return (lm_square_exponential){0, {1, 0}};
    if (exponent < 1000) {
        const double aa = a * a, bb = b * b;
        exponent = aa - bb;
        const double back = exponent - aa;
        correction = (aa - (exponent - back)) - (bb + back) + (fma(a, a, -aa) - fma(b, b, -bb));
    }
    if (a == 0 || b == 0) return (lm_square_exponential){exp(exponent) * (1 + correction), {1, 0}};
    const double angle = 2 * (a * b), rest = angle < 1e8 ? 2 * fma(a, b, -a * b) : 0, s = sin(angle), c = cos(angle);
    return (lm_square_exponential){exp(exponent) * (1 + correction), {c - rest * s, s + rest * c}};
}

/* Infinities, NaN, and signs of zeros are as SciPy's, which has no sign where exp underflows, and where it overflows, the C library's function
   of complex numbers and its product. */
#define LM_IS_OVERFLOW(a, b) (((a) - (b)) * ((a) + (b)) > 709)
#define LM_IS_UNDERFLOW(a, b) (((a) - (b)) * ((a) + (b)) < -750)

static inline lm_complex128 lm_erfcx_c128(const lm_complex128 z)
{
    const double a = fabs(z.re), b = fabs(z.im);
    const lm_error_terms terms = lm_error_terms_of(a, b);
    lm_complex128 value = terms.sum;
    if (terms.residue.re != 0) {
        const lm_square_exponential e = lm_exp_of_square(a, b);
        const double c = e.direction.re, s = e.direction.im;
        value.re += e.size * (c * terms.residue.re - s * terms.residue.im);
        value.im += e.size * (s * terms.residue.re + c * terms.residue.im);
    }
    if (z.re < 0) { /* 2 exp(z * z) - erfcx(-z) */
        const lm_square_exponential e = lm_exp_of_square(a, b);
        lm_complex128 power = {e.size * e.direction.re, e.size * e.direction.im};
        if (LM_IS_OVERFLOW(a, b)) power = lm_exp_c128((lm_complex128){(a - b) * (a + b), b == 0 ? 0 : 2 * (a * b)});
        if (isinf(a) && b != 0) power = (lm_complex128){NAN, NAN};
        value.re = 2 * power.re - value.re;
        value.im = value.im - 2 * power.im;
    }
    if (b == 0) value.im = -0.;
    return (lm_complex128){value.re, signbit(z.im) ? -value.im : value.im};
}

/* exp(-z * z) times the sum over nodes. */
static inline lm_complex128 lm_error_tail(const lm_complex128 sum, const double a, const double b)
{
    const lm_square_exponential e = lm_exp_of_square(b, a);
    const double c = e.direction.re, s = e.direction.im;
    if (a == 0 && isinf(b)) return (lm_complex128){0, -INFINITY};
    return (lm_complex128){e.size * (c * sum.re + s * sum.im), e.size * (c * sum.im - s * sum.re)};
}

static inline lm_complex128 lm_erfc_c128(const lm_complex128 z)
{
    const double a = fabs(z.re), b = fabs(z.im);
    const lm_error_terms terms = lm_error_terms_of(a, b);
    lm_complex128 tail;
    if (a != 0 && LM_IS_OVERFLOW(b, a)) {
        const lm_complex128 power = lm_exp_c128((lm_complex128){(b - a) * (b + a), -2 * (a * b)});
        LM_TO_C(double, product, power);
        LM_TO_C(double, sum, terms.sum);
        product *= sum;
        tail = LM_FROM_C(lm_complex128, product);
    } else
        tail = lm_error_tail(terms.sum, a, b);
    const double re = a == 0 ? 1 : tail.re + terms.residue.re;
    if ((b == 0 && a != 0) || LM_IS_UNDERFLOW(b, a)) return (lm_complex128){z.re < 0 ? 2 - re : re, 0};
    const double im = b == 0 ? -0. : tail.im + terms.residue.im;
    return (lm_complex128){z.re < 0 ? 2 - re : re, signbit(z.im) ? -im : im};
}

static inline lm_complex128 lm_erf_c128(const lm_complex128 z)
{
    const double a = fabs(z.re), b = fabs(z.im);
    const lm_error_terms terms = lm_error_terms_of(a, b);
    const lm_complex128 tail = lm_error_tail(terms.sum, a, b);
    const double re = a == 0 ? 0 : terms.rest - tail.re, im = b == 0 ? 0 : -terms.residue.im - tail.im;
    if (LM_IS_UNDERFLOW(b, a)) return (lm_complex128){signbit(z.re) ? -re : re, 0};
    return (lm_complex128){signbit(z.re) ? -re : re, signbit(z.im) ? -im : im};
}

LM_IN_DOUBLE_PRECISION(erf)
LM_IN_DOUBLE_PRECISION(erfc)
LM_IN_DOUBLE_PRECISION(erfcx)
