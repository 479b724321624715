/* Subtensor(float64[?, ?], int64[]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array0 x1 = *(const lm_array0 *)operands[1];
    lm_array1 *const z0 = operands[2];
    lm_int index_0 = *(int64_t *)x1.data;
    if (index_0 < 0) index_0 += x0.shape[0];
    if (LM_UNLIKELY(!(index_0 >= 0 && index_0 < x0.shape[0]))) return LM_REFER;
    const lm_slice slice_1 = lm_slice_of(x0.shape[1], INT64_C(1), 1, 0, 0, INT64_C(-2));
    z0->shape[0] = slice_1.length;
    z0->strides[0] = z0->shape[0] == 1 ? 0 : lm_step_stride(INT64_C(-2), x0.strides[1]);
    z0->data = x0.data + index_0 * x0.strides[0] + slice_1.first * x0.strides[1];
    z0->block = lm_share(x0.block);
    return 0;
}

static const lm_step steps[] = {
    /* 0: v2 = Subtensor(v0, v1) */
    {step0, 2, 1, 0, (const int[]){0, 1, 2}},
};
