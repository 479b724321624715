/* AdvancedIncSubtensor1(float64[?], float64[?], int64[?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array1 x0 = *(const lm_array1 *)operands[0];
    const lm_array1 x1 = *(const lm_array1 *)operands[1];
    const lm_array1 x2 = *(const lm_array1 *)operands[2];
    lm_array1 *const z0 = operands[3];
    if (LM_UNLIKELY(!(x1.shape[0] == x2.shape[0]))) return LM_REFER;
    {
    lm_indexed at = {.action = LM_INDEX_CHECK, .n_indices = 1, .lengths = (const lm_int[]){x0.shape[0]}, .by = (const lm_int[]){x0.strides[0]}};
    call->serve->index(call, &at, 1, (const lm_int[]){x2.shape[0]}, (char *const[]){x0.data, x0.data, x2.data}, (const lm_int *const[]){(const lm_int[]){1}, (const lm_int[]){1}, (const lm_int[]){x2.strides[0]}});
    if (LM_UNLIKELY(!(!at.outside))) return LM_REFER;
    }
    z0->shape[0] = x0.shape[0];
    z0->strides[0] = z0->shape[0] == 1 ? 0 : x0.strides[0];
    z0->data = x0.data;
    z0->block = lm_share(x0.block);
    {
    lm_indexed at = {.action = LM_INDEX_ADD, .dtype = LM_FLOAT64, .itemsize = 8, .n_indices = 1, .n_outer = 0, .n_kept = 0, .array = z0->data, .lengths = (const lm_int[]){z0->shape[0]}, .by = (const lm_int[]){z0->strides[0]}, .points = NULL, .row = NULL};
    call->serve->index(call, &at, 1, (const lm_int[]){x2.shape[0]}, (char *const[]){z0->data, x1.data, x2.data}, (const lm_int *const[]){(const lm_int[]){1}, (const lm_int[]){x1.strides[0]}, (const lm_int[]){x2.strides[0]}});
    }
    return 0;
}

static const lm_step steps[] = {
    /* 0: v3 = AdvancedIncSubtensor1(v0, v1, v2) */
    {step0, 3, 1, 0, (const int[]){0, 1, 2, 3}},
};
