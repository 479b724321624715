/* AdvancedIncSubtensor(float64[?, ?, ?], float64[?, ?], int64[?], int64[?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array3 x0 = *(const lm_array3 *)operands[0];
    const lm_array2 x1 = *(const lm_array2 *)operands[1];
    const lm_array1 x2 = *(const lm_array1 *)operands[2];
    const lm_array1 x3 = *(const lm_array1 *)operands[3];
    lm_array3 *const z0 = operands[4];
    if (LM_UNLIKELY(!(x3.shape[0] == x2.shape[0]))) return LM_REFER;
    if (LM_UNLIKELY(!(x1.shape[0] == x0.shape[0]))) return LM_REFER;
    if (LM_UNLIKELY(!(x1.shape[1] == x2.shape[0]))) return LM_REFER;
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x0.shape[1];
    z0->shape[2] = x0.shape[2];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type0, 1, (const lm_int *const[]){x0.strides}) < 0)) return -1;
    call->serve->copy(call, 8, 3, z0->shape, z0->data, z0->strides, x0.data, x0.strides);
    {
    lm_indexed at = {.action = LM_INDEX_SET, .dtype = LM_FLOAT64, .itemsize = 8, .n_indices = 2, .n_outer = 1, .n_kept = 1, .array = z0->data, .lengths = (const lm_int[]){z0->shape[1], z0->shape[2]}, .by = (const lm_int[]){z0->strides[1], z0->strides[2]}, .shape = (lm_int[]){x0.shape[0]}, .strides = (lm_int[]){z0->strides[0]}, .at = (lm_int[]){x1.strides[0]}};
    call->serve->index(call, &at, 1, (const lm_int[]){x2.shape[0]}, (char *const[]){z0->data, x1.data, x2.data, x3.data}, (const lm_int *const[]){(const lm_int[]){1}, (const lm_int[]){x1.strides[1]}, (const lm_int[]){x2.strides[0]}, (const lm_int[]){x3.strides[0]}});
    if (LM_UNLIKELY(!(!at.outside))) return LM_REFER;
    }
    return 0;
}

static const lm_step steps[] = {
    /* 0: v3 = AdvancedIncSubtensor(v0, v1, v2, v2) */
    {step0, 4, 1, 0, (const int[]){0, 1, 2, 2, 3}},
};
