/* SortOp(float64[?, ?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array2 *const z0 = operands[1];
    if (LM_UNLIKELY(call->serve->sort(call, &(const lm_value){(void *)(lm_array *)z0, &type0}, &(const lm_value){(void *)(lm_array *)&x0, &type0}, 0, 0) < 0)) return -1;
    return 0;
}

/* ArgSortOp(float64[?, ?]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array2 *const z0 = operands[1];
    if (LM_UNLIKELY(call->serve->sort(call, &(const lm_value){(void *)(lm_array *)z0, &type1}, &(const lm_value){(void *)(lm_array *)&x0, &type0}, 1, 1) < 0)) return -1;
    return 0;
}

static const lm_step steps[] = {
    /* 0: v1 = SortOp(v0) */
    {step0, 1, 1, 0, (const int[]){0, 1}},
    /* 1: v2 = ArgSortOp(v0) */
    {step1, 1, 1, 0, (const int[]){0, 2}},
};
