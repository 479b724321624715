/* Elements at an index: eight of them read by one instruction, on processors where that is faster than one at a time. Compilers do not use
   it by themselves, because on others, which take precautions with it, it is many times slower. */

#if defined(__AVX512FP16__)
#define LM_HAS_GATHER 1

typedef double lm_8_doubles __attribute__((vector_size(64), aligned(8), may_alias));
typedef long long lm_8_places __attribute__((vector_size(64), aligned(8), may_alias));

typedef float lm_8_floats __attribute__((vector_size(32), aligned(4), may_alias));

/* Read eight elements of 8 bytes, or of 4. */
LM_INLINE void lm_gather_8_of_8(const void *const table, const int64_t *const places, void *const to)
{
    const lm_8_doubles none = {0};
    *(lm_8_doubles *)to = __builtin_ia32_gatherdiv8df(none, table, *(const lm_8_places *)places, -1, 8);
}

LM_INLINE void lm_gather_8_of_4(const void *const table, const int64_t *const places, void *const to)
{
    const lm_8_floats none = {0};
    *(lm_8_floats *)to = __builtin_ia32_gatherdiv16sf(none, table, *(const lm_8_places *)places, -1, 4);
}
#else
#define LM_HAS_GATHER 0
#endif

/* For functions with a loop that is faster without vectors. */
#if defined(__GNUC__) && !defined(__clang__)
#define LM_ONE_BY_ONE static __attribute__((noinline, optimize("no-tree-vectorize", "no-tree-slp-vectorize")))
#else
#define LM_ONE_BY_ONE LM_ALONE
#endif
