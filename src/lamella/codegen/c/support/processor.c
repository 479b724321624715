/* What the host, which is compiled for many processors, asks of the one it runs on. */

static inline int lm_is_amd(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_is("amd") != 0;
#else
    return 0;
#endif
}

/* Whether there are vectors of 512 bits. */
static inline int lm_has_wide_vectors(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("fma");
#else
    return 0;
#endif
}
