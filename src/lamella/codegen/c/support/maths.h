/* The C library's functions. Where it has vector versions (at most 4 units in the last place off, special values exact), loops
   call those; the declarations say that they exist. */

#include <math.h>

#if defined(LM_VECTOR_MATHS) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
#define LM_VECTOR(name) \
    __attribute__((__simd__("notinbranch"))) double name(double); \
    __attribute__((__simd__("notinbranch"))) float name##f(float);
#define LM_VECTOR2(name) \
    __attribute__((__simd__("notinbranch"))) double name(double, double); \
    __attribute__((__simd__("notinbranch"))) float name##f(float, float);
LM_VECTOR(exp) LM_VECTOR(exp2) LM_VECTOR(expm1) LM_VECTOR(log) LM_VECTOR(log2) LM_VECTOR(log10) LM_VECTOR(log1p)
LM_VECTOR(sin) LM_VECTOR(cos) LM_VECTOR(tan) LM_VECTOR(asin) LM_VECTOR(acos) LM_VECTOR(atan)
LM_VECTOR(sinh) LM_VECTOR(cosh) LM_VECTOR(tanh) LM_VECTOR(asinh) LM_VECTOR(acosh) LM_VECTOR(atanh)
LM_VECTOR(erf) LM_VECTOR(erfc)
LM_VECTOR2(pow) LM_VECTOR2(atan2) LM_VECTOR2(hypot)
#endif
#endif
