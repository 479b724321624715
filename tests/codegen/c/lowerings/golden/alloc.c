/* Alloc(float64[?], int64[], int64[]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array1 x0 = *(const lm_array1 *)operands[0];
    const lm_array0 x1 = *(const lm_array0 *)operands[1];
    lm_array2 *const z0 = operands[3];
    const lm_int length_0 = *(int64_t *)x1.data;
    if (LM_UNLIKELY(!(length_0 >= 0))) return LM_REFER;
    if (LM_UNLIKELY(!(x0.shape[0] == 3))) return LM_REFER;
    if (LM_UNLIKELY(!(lm_is_addressable(2, (const lm_int[]){length_0, 3}, 8)))) return LM_REFER;
    z0->shape[0] = length_0;
    z0->shape[1] = 3;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type2, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, z0->shape, z0->data, z0->strides, x0.data, (const lm_int[]){0, x0.strides[0]});
    return 0;
}

/* Alloc(float64[], int64[], int64[]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array0 x0 = *(const lm_array0 *)operands[0];
    const lm_array0 x1 = *(const lm_array0 *)operands[1];
    lm_array2 *const z0 = operands[3];
    const lm_int length_0 = *(int64_t *)x1.data;
    if (LM_UNLIKELY(!(length_0 >= 0))) return LM_REFER;
    if (LM_UNLIKELY(!(lm_is_addressable(2, (const lm_int[]){length_0, 2}, 8)))) return LM_REFER;
    z0->shape[0] = length_0;
    z0->shape[1] = 2;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type4, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, z0->shape, z0->data, z0->strides, x0.data, (const lm_int[]){0, 0});
    return 0;
}

static const lm_step steps[] = {
    /* 0: v5 = Alloc(v0, v1, v2) */
    {step0, 3, 1, 0, (const int[]){0, 1, 2, 5}},
    /* 1: v6 = Alloc(v3, v1, v4) */
    {step1, 3, 1, 0, (const int[]){3, 1, 4, 6}},
};
