/* Reshaping: the lengths that are meant, and strides that give the same elements in another shape. */

/* Read lengths, one of which may be -1, which stands for what is left of `size`. Whether they make up that size. */
static inline int lm_reshape_lengths(
    const lm_int size, const int ndim, const char *const vector, const lm_int stride, lm_int *const lengths)
{
    lm_int known = 1;
    int missing = -1;
    for (int i = 0; i < ndim; ++i) {
        lengths[i] = (lm_int)*(const int64_t *)(vector + i * stride);
        if (lengths[i] == -1 && missing < 0) missing = i;
        else if (lengths[i] < 0 || __builtin_mul_overflow(known, lengths[i], &known)) return 0;
    }
    if (missing < 0) return known == size;
    if (known == 0 || size % known != 0) return 0;
    lengths[missing] = size / known;
    return 1;
}

/* Set the strides of an array of C order. */
static inline void lm_contiguous_strides(
    const int ndim, const lm_int *const shape, const lm_int itemsize, lm_int *const strides)
{
    lm_int stride = itemsize;
    for (int i = ndim - 1; i >= 0; --i) {
        strides[i] = shape[i] == 1 ? 0 : stride;
        stride *= shape[i];
    }
}

/* Find strides that give the elements of an array, in C order, in another shape of the same size; whether there are any. Axes are
   matched from the left in groups of the same size; inside of a group, those of the old shape must lie in memory as one. */
static inline int lm_reshape_strides(
    const int old_ndim, const lm_int *const old_shape, const lm_int *const old_strides, const int ndim,
    const lm_int *const shape, lm_int *const strides)
{
    int old = 0, new = 0;
    while (old < old_ndim && new < ndim) {
        lm_int old_size = old_shape[old], size = shape[new];
        int old_end = old + 1, end = new + 1;
        while (old_size != size) {
            if (old_size < size) old_size *= old_shape[old_end++];
            else size *= shape[end++];
        }
        lm_int stride = 0, covered = 1;
        for (int i = old_end - 1; i >= old; --i) {
            if (old_shape[i] == 1) continue;
            if (covered == 1) stride = old_strides[i];
            else if (old_strides[i] != stride * covered) return 0;
            covered *= old_shape[i];
        }
        for (int i = end - 1; i >= new; --i) {
            strides[i] = shape[i] == 1 ? 0 : stride;
            stride *= shape[i];
        }
        old = old_end;
        new = end;
    }
    for (; new < ndim; ++new) strides[new] = 0;
    return 1;
}
