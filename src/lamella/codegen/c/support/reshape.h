/* The lengths that a reshaping asks for, and whether an array has that shape where it lies. */

/* Put what is left in the place of a length -1; 0 where the lengths do not fit the number of elements. */
static int lm_reshape_lengths(const lm_int size, const int ndim, lm_int *const shape)
{
    lm_int known = 1;
    int open = -1;
    for (int i = 0; i < ndim; ++i) {
        if (shape[i] == -1) {
            if (open >= 0) return 0;
            open = i;
        } else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known))
            return 0;
    }
    if (open < 0) return known == size;
    if (known == 0 || size % known != 0) return 0;
    shape[open] = size / known;
    return 1;
}

/* Set the strides of a view of an array in another shape of as many elements; 0 where there is no such view.
   Axes are taken in groups, from the last ones, such that a group of the old and one of the new have as many elements: within an
   old group, each axis must go on where the one behind it ends. */
static int lm_reshape_strides(
    const int old_ndim, const lm_int *const old_shape, const lm_int *const old_strides, const int ndim,
    const lm_int *const shape, lm_int *const strides, const lm_int itemsize)
{
    for (int i = 0; i < ndim; ++i) strides[i] = 0;
    for (int i = 0; i < old_ndim; ++i)
        if (old_shape[i] == 0) return 1;
    int from = old_ndim, to = ndim;
    lm_int left = 1; /* elements of the old group that the new axes have not taken yet */
    lm_int stride = itemsize;
    for (;;) {
        while (to > 0 && shape[to - 1] == 1) --to;
        if (to == 0) return 1;
        if (left == 1) { /* a new group */
            do --from;
            while (old_shape[from] == 1);
            left = old_shape[from];
            stride = old_strides[from];
        }
        const lm_int length = shape[to - 1];
        while (left % length != 0) { /* the group takes in another old axis */
            do --from;
            while (old_shape[from] == 1);
            if (old_strides[from] != stride * left) return 0;
            left *= old_shape[from];
        }
        strides[--to] = stride;
        stride *= length;
        left /= length;
    }
}
