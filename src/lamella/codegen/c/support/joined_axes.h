/* Make one axis of several, the last of `axes` being the innermost: its length, and the stride of the innermost. Whether their
   elements are evenly spaced. */
static inline int lm_join_axes(
    const int n, const int *const axes, const lm_int *const shape, const lm_int *const strides, lm_int *const length,
    lm_int *const stride)
{
    *length = 1;
    *stride = 0;
    for (int i = n - 1; i >= 0; --i) {
        const lm_int here = shape[axes[i]];
        if (here == 1) continue;
        if (*length == 1) *stride = strides[axes[i]];
        else if (here != 0 && *length != 0 && strides[axes[i]] != *stride * *length) return 0;
        *length *= here;
    }
    return 1;
}
