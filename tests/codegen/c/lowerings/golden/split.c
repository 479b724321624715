/* Split(float64[?, ?], int64[?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array1 x1 = *(const lm_array1 *)operands[1];
    lm_array2 *const z0 = operands[2];
    lm_array2 *const z1 = operands[3];
    if (LM_UNLIKELY(!(x1.shape[0] == 2))) return LM_REFER;
    lm_int left = x0.shape[1];
    const lm_int size_0 = *(const int64_t *)(x1.data + (0) * x1.strides[0]);
    if (LM_UNLIKELY(!(size_0 >= 0 && size_0 <= left))) return LM_REFER;
    left -= size_0;
    const lm_int size_1 = *(const int64_t *)(x1.data + (1) * x1.strides[0]);
    if (LM_UNLIKELY(!(size_1 >= 0 && size_1 <= left))) return LM_REFER;
    left -= size_1;
    if (LM_UNLIKELY(!(left == 0))) return LM_REFER;
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = size_0;
    z0->strides[0] = z0->shape[0] == 1 ? 0 : x0.strides[0];
    z0->strides[1] = z0->shape[1] == 1 ? 0 : x0.strides[1];
    z0->data = x0.data + (0) * x0.strides[1];
    z0->block = lm_share(x0.block);
    z1->shape[0] = x0.shape[0];
    z1->shape[1] = size_1;
    z1->strides[0] = z1->shape[0] == 1 ? 0 : x0.strides[0];
    z1->strides[1] = z1->shape[1] == 1 ? 0 : x0.strides[1];
    z1->data = x0.data + (size_0) * x0.strides[1];
    z1->block = lm_share(x0.block);
    return 0;
}

static const lm_step steps[] = {
    /* 0: v2, v3 = Split(v0, v1) */
    {step0, 2, 2, 0, (const int[]){0, 1, 2, 3}},
};
