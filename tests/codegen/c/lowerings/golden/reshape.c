/* Reshape(float64[?, ?], int64[2]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array2 *const z0 = operands[2];
    z0->shape[0] = 3;
    z0->shape[1] = -1;
    if (LM_UNLIKELY(!(lm_reshape_lengths(x0.shape[0] * x0.shape[1], 2, z0->shape)))) return LM_REFER;
    if (lm_reshape_strides(2, x0.shape, x0.strides, 2, z0->shape, z0->strides, 8)) {
        z0->data = x0.data;
        z0->block = lm_share(x0.block);
    } else {
    z0->shape[0] = 3;
    z0->shape[1] = z0->shape[1];
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)z0, &type2, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, x0.shape, z0->data, (const lm_int[]){8 * x0.shape[1], 8}, x0.data, x0.strides);
    }
    return 0;
}

/* Reshape(float64[?, ?], int64[?]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array1 x1 = *(const lm_array1 *)operands[1];
    lm_array3 *const z0 = operands[2];
    if (LM_UNLIKELY(!(x1.shape[0] == 3))) return LM_REFER;
    z0->shape[0] = *(const int64_t *)(x1.data + (0) * x1.strides[0]);
    z0->shape[1] = *(const int64_t *)(x1.data + (1) * x1.strides[0]);
    z0->shape[2] = *(const int64_t *)(x1.data + (2) * x1.strides[0]);
    if (LM_UNLIKELY(!(lm_reshape_lengths(x0.shape[0] * x0.shape[1], 3, z0->shape)))) return LM_REFER;
    if (lm_reshape_strides(2, x0.shape, x0.strides, 3, z0->shape, z0->strides, 8)) {
        z0->data = x0.data;
        z0->block = lm_share(x0.block);
    } else {
    z0->shape[0] = z0->shape[0];
    z0->shape[1] = z0->shape[1];
    z0->shape[2] = z0->shape[2];
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)z0, &type4, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, x0.shape, z0->data, (const lm_int[]){8 * x0.shape[1], 8}, x0.data, x0.strides);
    }
    return 0;
}

static const lm_step steps[] = {
    /* 0: v3 = Reshape(v0, v2) */
    {step0, 2, 1, 0, (const int[]){0, 2, 3}},
    /* 1: v4 = Reshape(v0, v1) */
    {step1, 2, 1, 0, (const int[]){0, 1, 4}},
};
