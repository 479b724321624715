/* Reshape(float64[3, 1], int64[1]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array1 *const z0 = operands[2];
    z0->shape[0] = 3;
    if (LM_UNLIKELY(!(lm_reshape_lengths(3 * 1, 1, z0->shape)))) return LM_REFER;
    if (lm_reshape_strides(2, x0.shape, x0.strides, 1, z0->shape, z0->strides, 8)) {
        z0->data = x0.data;
        z0->block = lm_share(x0.block);
    } else {
    z0->shape[0] = 3;
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)z0, &type2, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, x0.shape, z0->data, (const lm_int[]){8 * 1, 8}, x0.data, x0.strides);
    }
    return 0;
}

/* AdvancedSubtensor1(float64[3], int64[2]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array1 x0 = *(const lm_array1 *)operands[0];
    const lm_array1 x1 = *(const lm_array1 *)operands[1];
    lm_array1 *const z0 = operands[2];
    z0->shape[0] = 2;
    z0->strides[0] = 8;
    {
    lm_indexed at = {.action = LM_INDEX_READ, .dtype = LM_FLOAT64, .itemsize = 8, .n_indices = 1, .n_outer = 0, .n_kept = 0, .array = x0.data, .lengths = (const lm_int[]){3}, .by = (const lm_int[]){x0.strides[0]}};
    call->serve->index(call, &at, 1, (const lm_int[]){2}, (char *const[]){z0->data, z0->data, x1.data}, (const lm_int *const[]){(const lm_int[]){z0->strides[0]}, (const lm_int[]){z0->strides[0]}, (const lm_int[]){x1.strides[0]}});
    if (LM_UNLIKELY(!(!at.outside))) return LM_REFER;
    }
    return 0;
}

/* Sum(float64[2]) */
static LM_BESIDE int step2(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array1 x0 = *(const lm_array1 *)operands[0];
    lm_array0 *const z0 = operands[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, z0, &type5, 0, NULL) < 0)) return -1;
    double acc;
    if (LM_UNLIKELY(call->serve->reduce(call, &reducer0, 1, x0.shape, (char *const[]){(char *)&acc, x0.data}, (const lm_int *const[]){(const lm_int[]){0}, x0.strides}) < 0)) return -1;
    *(double *)z0->data = acc;
    return 0;
}

static const lm_step steps[] = {
    /* 0: v3 = Reshape(v0, v2) */
    {step0, 2, 1, 0, (const int[]){0, 2, 3}},
    /* 1: v4 = AdvancedSubtensor1(v3, v1) */
    {step1, 2, 1, 1, (const int[]){3, 1, 4, 3}},
    /* 2: v5 = Sum(v4) */
    {step2, 1, 1, 1, (const int[]){4, 5, 4}},
};
