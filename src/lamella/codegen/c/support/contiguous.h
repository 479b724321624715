/* Elements in C's order: where they lie, or in a copy whose memory is to be released. */

static inline int lm_is_contiguous(const lm_type *const type, const lm_int *const shape, const lm_int *const strides)
{
    lm_int size = type->itemsize;
    for (int i = 0; i < type->ndim; ++i)
        if (shape[i] == 0) return 1;
    for (int i = type->ndim - 1; i >= 0; --i) {
        if (shape[i] != 1 && strides[i] != size) return 0;
        size *= shape[i];
    }
    return 1;
}

/* Return the address of the first element; NULL for want of memory. */
static inline char *lm_contiguous(
    lm_call *const call, const lm_type *const type, const lm_int *const shape, const lm_int *const strides, char *const data,
    lm_block **const held)
{
    if (lm_is_contiguous(type, shape, strides)) return data;
    lm_int memory[2 + 2 * type->ndim];
    lm_array *const copy = (lm_array *)memory;
    lm_int *const to = (lm_int *)(copy + 1);
    memcpy(to, shape, (size_t)type->ndim * sizeof(lm_int));
    if (call->serve->allocate(call, copy, type, 0, NULL) < 0) return NULL;
    call->serve->copy(call, type->itemsize, type->ndim, shape, copy->data, to + type->ndim, data, strides);
    *held = copy->block;
    return copy->data;
}
