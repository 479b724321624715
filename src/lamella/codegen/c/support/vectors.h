/* Functions that loops call for several elements at once, as they call those of the C library: by the names that the x86-64 vector function
   ABI gives their versions ("Vector Function Application Binary Interface", glibc's libmvec). What such a function computes without a
   branch is vector code; elements that this is not for are `hard`, and are computed one by one, which is seldom.

       lm_NAME_easy(x, &hard)    without a branch; `hard` is set where the value is none
       lm_NAME_alone(x)          any x

   What comes of an element does not depend on the others. Without such an ABI the function is one of C. */

#define LM_EASY static inline __attribute__((always_inline))

#if defined(LM_VECTOR_MATHS) && defined(__AVX2__) && defined(__FMA__)

#if defined(__AVX512F__)
#define LM_WIDE 8
#define LM_WIDE_PREFIX "_ZGVeN8"
#else
#define LM_WIDE 4
#define LM_WIDE_PREFIX "_ZGVdN4"
#endif

#define LM_VECTORS_OF(T) \
    typedef T lm_wide_##T __attribute__((vector_size(8 * LM_WIDE))); \
    typedef T lm_4_##T __attribute__((vector_size(32))); \
    typedef T lm_2_##T __attribute__((vector_size(16)));
LM_VECTORS_OF(double)
LM_VECTORS_OF(int64_t)

/* Defined under the names that loops call. */
#define LM_VERSION(T, name, label, ...) \
    static __attribute__((used, noinline)) T name(__VA_ARGS__) __asm__(label); \
    static T name(__VA_ARGS__)

/* A vector all of whose elements are one number. */
#define LM_SPREAD(T, x) ((x) - (lm_wide_##T){0})

/* Two numbers fill a vector of SSE; of integers, that is a vector of AVX, too, and compilers prefer that version. */
#define LM_PREFIX_OF_2_double "_ZGVbN2"
#define LM_PREFIX_OF_2_int64_t "_ZGVcN2"

/* Versions for fewer elements, or one: those of the widest, some of which nobody looks at. */
#define LM_NARROW_VERSION1(T, name, count, prefix) \
    LM_VERSION(lm_##count##_##T, lm_##name##_##count, prefix "v_lm_" #name, const lm_##count##_##T x) \
    { \
        lm_wide_##T wide = LM_SPREAD(T, x[0]); \
        lm_##count##_##T result; \
        memcpy(&wide, &x, sizeof x); \
        wide = lm_##name##_wide(wide); \
        memcpy(&result, &wide, sizeof result); \
        return result; \
    }
#define LM_NARROW_VERSION2(T, name, count, prefix) \
    LM_VERSION( \
        lm_##count##_##T, lm_##name##_##count, prefix "vv_lm_" #name, const lm_##count##_##T x, const lm_##count##_##T y) \
    { \
        lm_wide_##T wide = LM_SPREAD(T, x[0]), other = LM_SPREAD(T, y[0]); \
        lm_##count##_##T result; \
        memcpy(&wide, &x, sizeof x); \
        memcpy(&other, &y, sizeof y); \
        wide = lm_##name##_wide(wide, other); \
        memcpy(&result, &wide, sizeof result); \
        return result; \
    }

#if LM_WIDE == 8
#define LM_NARROW_VERSIONS(n, T, name) LM_NARROW_VERSION##n(T, name, 4, "_ZGVdN4") LM_NARROW_VERSION##n(T, name, 2, LM_PREFIX_OF_2_##T)
#else
#define LM_NARROW_VERSIONS(n, T, name) LM_NARROW_VERSION##n(T, name, 2, LM_PREFIX_OF_2_##T)
#endif

#define LM_VECTOR_FUNCTION1(T, name) \
    __attribute__((__simd__("notinbranch"), const)) T lm_##name(T); \
    LM_VERSION(lm_wide_##T, lm_##name##_wide, LM_WIDE_PREFIX "v_lm_" #name, const lm_wide_##T x) \
    { \
        T from[LM_WIDE], to[LM_WIDE]; \
        int64_t hard[LM_WIDE], any_hard = 0; \
        lm_wide_##T result; \
        memcpy(from, &x, sizeof x); \
        for (int j = 0; j < LM_WIDE; ++j) { \
            int64_t is_hard = 0; \
            to[j] = lm_##name##_easy(from[j], &is_hard); \
            hard[j] = is_hard; \
            any_hard |= is_hard; \
        } \
        if (LM_UNLIKELY(any_hard)) \
            for (int j = 0; j < LM_WIDE; ++j) \
                if (hard[j]) to[j] = lm_##name##_alone(from[j]); \
        memcpy(&result, to, sizeof result); \
        return result; \
    } \
    LM_NARROW_VERSIONS(1, T, name) \
    LM_VERSION(T, lm_##name##_scalar, "lm_" #name, const T x) { return lm_##name##_wide(LM_SPREAD(T, x))[0]; }

#define LM_VECTOR_FUNCTION2(T, name) \
    __attribute__((__simd__("notinbranch"), const)) T lm_##name(T, T); \
    LM_VERSION(lm_wide_##T, lm_##name##_wide, LM_WIDE_PREFIX "vv_lm_" #name, const lm_wide_##T x, const lm_wide_##T y) \
    { \
        T from[LM_WIDE], and[LM_WIDE], to[LM_WIDE]; \
        int64_t hard[LM_WIDE], any_hard = 0; \
        lm_wide_##T result; \
        memcpy(from, &x, sizeof x); \
        memcpy(and, &y, sizeof y); \
        for (int j = 0; j < LM_WIDE; ++j) { \
            int64_t is_hard = 0; \
            to[j] = lm_##name##_easy(from[j], and[j], &is_hard); \
            hard[j] = is_hard; \
            any_hard |= is_hard; \
        } \
        if (LM_UNLIKELY(any_hard)) \
            for (int j = 0; j < LM_WIDE; ++j) \
                if (hard[j]) to[j] = lm_##name##_alone(from[j], and[j]); \
        memcpy(&result, to, sizeof result); \
        return result; \
    } \
    LM_NARROW_VERSIONS(2, T, name) \
    LM_VERSION(T, lm_##name##_scalar, "lm_" #name, const T x, const T y) \
    { \
        return lm_##name##_wide(LM_SPREAD(T, x), LM_SPREAD(T, y))[0]; \
    }

#else

#define LM_VECTOR_FUNCTION1(T, name) \
    static inline T lm_##name(const T x) \
    { \
        int64_t hard = 0; \
        const T result = lm_##name##_easy(x, &hard); \
        return LM_UNLIKELY(hard) ? lm_##name##_alone(x) : result; \
    }

#define LM_VECTOR_FUNCTION2(T, name) \
    static inline T lm_##name(const T x, const T y) \
    { \
        int64_t hard = 0; \
        const T result = lm_##name##_easy(x, y, &hard); \
        return LM_UNLIKELY(hard) ? lm_##name##_alone(x, y) : result; \
    }

#endif

/* A product added to a number, rounded once where that is fast; and what rounding took from a product, where that is known. */
#if defined(__FP_FAST_FMA)
#define LM_MULADD(x, y, z) __builtin_fma(x, y, z)
#define LM_PRODUCT_ERROR(x, y, product) __builtin_fma(x, y, -(product))
#else
#define LM_MULADD(x, y, z) ((x) * (y) + (z))
#define LM_PRODUCT_ERROR(x, y, product) 0.0
#endif
