/* IncSubtensor(float64[?, ?], float64[?], int64[]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array1 x1 = *(const lm_array1 *)operands[1];
    const lm_array0 x2 = *(const lm_array0 *)operands[2];
    lm_array2 *const z0 = operands[3];
    lm_int index_1 = *(int64_t *)x2.data;
    if (index_1 < 0) index_1 += x0.shape[1];
    if (LM_UNLIKELY(!(index_1 >= 0 && index_1 < x0.shape[1]))) return LM_REFER;
    if (LM_UNLIKELY(!(x1.shape[0] == x0.shape[0]))) return LM_REFER;
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x0.shape[1];
    z0->strides[0] = z0->shape[0] == 1 ? 0 : x0.strides[0];
    z0->strides[1] = z0->shape[1] == 1 ? 0 : x0.strides[1];
    z0->data = x0.data;
    z0->block = lm_share(x0.block);
    call->serve->copy(call, 8, 1, (const lm_int[]){x0.shape[0]}, z0->data + index_1 * z0->strides[1], (const lm_int[]){z0->strides[0]}, x1.data, x1.strides);
    return 0;
}

static const lm_step steps[] = {
    /* 0: v3 = IncSubtensor(v0, v1, v2) */
    {step0, 3, 1, 0, (const int[]){0, 1, 2, 3}},
};
