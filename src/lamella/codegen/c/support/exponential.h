/* The version of exp that loops over doubles call where vectors have 512 bits, in the place of the C library's. A table fits into one of them;
   the other looks its table up in memory, and is off by 3 units in the last place, this one by 0.6 (subnormal results by 0.8). */

#if defined(LM_WIDE) && LM_WIDE == 8

#define LM_FMA(x, y, z) ((lm_wide_double)__builtin_ia32_vfmaddpd512_mask(x, y, z, -1, 4))
#define LM_ALL(x) LM_SPREAD(double, x)

/* exp(x) = 2**k * exp(r), with k a multiple of 1/8: 2**k by a table of roots (and of what rounding takes away from them, as a share) and by the
   instruction that scales by powers of 2; exp(r) by a polynomial, for abs(r) <= log(2) / 16 (minimax, relative error 3e-18). log(2) is taken in
   two parts, of which the first has few digits, so that its products with k are exact: W. J. Cody and W. Waite, "Software Manual for the
   Elementary Functions" (1980). */
LM_VERSION(lm_wide_double, lm_exp_wide, LM_WIDE_PREFIX "v_exp", const lm_wide_double x)
{
    const lm_wide_double root = {0x1.0000000000000p+0, 0x1.172b83c7d517bp+0, 0x1.306fe0a31b715p+0, 0x1.4bfdad5362a27p+0,
                                 0x1.6a09e667f3bcdp+0, 0x1.8ace5422aa0dbp+0, 0x1.ae89f995ad3adp+0, 0x1.d5818dcfba487p+0};
    const lm_wide_double root_low = {0,                      -0x1.01b15eaa59348p-55, 0x1.34d754db0abb6p-55, 0x1.690cebb7aafb0p-56,
                                     -0x1.3b3efbf5e2229p-54, 0x1.db72fc1f0eab4p-55,  0x1.c1a7792cb3386p-55, 0x1.4a385a63d07a7p-56};
    /* Of a comparison with NaN, these instructions give the second number. */
    const lm_wide_double not_low = __builtin_ia32_maxpd512_mask(LM_ALL(-1000.), x, x, -1, 4);
    const lm_wide_double limited = __builtin_ia32_minpd512_mask(LM_ALL(1000.), not_low, x, -1, 4);
    /* Next to this number, doubles are 1/8 apart: their last three bits say which root. */
    const lm_wide_double shift = LM_ALL(0x1.8p49), shifted = LM_FMA(limited, LM_ALL(0x1.71547652b82fep+0), shift);
    const lm_wide_int64_t place = (lm_wide_int64_t)shifted;
    const lm_wide_double k = shifted - shift;
    const lm_wide_double r = LM_FMA(k, LM_ALL(-0x1.ef35793c76730p-45), LM_FMA(k, LM_ALL(-0x1.62e42fefa3800p-1), limited));
    const lm_wide_double square = r * r;
    const lm_wide_double term2 = LM_FMA(r, LM_ALL(0x1.5555555555130p-3), LM_ALL(0x1.000000000010bp-1));
    const lm_wide_double term4 = LM_FMA(r, LM_ALL(0x1.11111125dc5c2p-7), LM_ALL(0x1.555555480c0d9p-5));
    const lm_wide_double term6 = LM_FMA(r, LM_ALL(0x1.a01639901ef19p-13), LM_ALL(0x1.6c1cbe1b6d86fp-10));
    const lm_wide_double terms = LM_FMA(square, LM_FMA(square, term6, term4), term2);
    const lm_wide_double less_1 = LM_FMA(square, terms, r + __builtin_shuffle(root_low, place));
    const lm_wide_double power = __builtin_shuffle(root, place);
    return __builtin_ia32_scalefpd512_mask(LM_FMA(power, less_1, power), k, k, -1, 4);
}

#undef LM_FMA
#undef LM_ALL

#endif
