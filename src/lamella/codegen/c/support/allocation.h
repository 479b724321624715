/* Whether an array of such lengths can be addressed at all; a length of 0 makes up for no others that are too large, as in NumPy. */
static inline int lm_is_addressable(const int ndim, const lm_int *const shape, const lm_int itemsize)
{
    lm_int size = itemsize;
    for (int i = 0; i < ndim; ++i)
        if (shape[i] < 0 || (shape[i] != 0 && __builtin_mul_overflow(size, shape[i], &size))) return 0;
    return 1;
}
