/* AdvancedSubtensor1(float64[?, ?], int64[?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array1 x1 = *(const lm_array1 *)operands[1];
    lm_array2 *const z0 = operands[2];
    z0->shape[0] = x1.shape[0];
    z0->shape[1] = x0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type0, 0, NULL) < 0)) return -1;
    {
    lm_indexed at = {.action = LM_INDEX_READ, .dtype = LM_FLOAT64, .itemsize = 8, .n_indices = 1, .n_outer = 0, .n_kept = 1, .array = x0.data, .lengths = (const lm_int[]){x0.shape[0]}, .by = (const lm_int[]){x0.strides[0]}, .shape = (lm_int[]){x0.shape[1]}, .strides = (lm_int[]){x0.strides[1]}, .at = (lm_int[]){z0->strides[1]}};
    call->serve->index(call, &at, 1, (const lm_int[]){x1.shape[0]}, (char *const[]){z0->data, z0->data, x1.data}, (const lm_int *const[]){(const lm_int[]){z0->strides[0]}, (const lm_int[]){z0->strides[0]}, (const lm_int[]){x1.strides[0]}});
    if (LM_UNLIKELY(!(!at.outside))) return LM_REFER;
    }
    return 0;
}

static const lm_step steps[] = {
    /* 0: v2 = AdvancedSubtensor1(v0, v1) */
    {step0, 2, 1, 0, (const int[]){0, 1, 2}},
};
