/* MakeVector(float64[], float64[]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array0 x0 = *(const lm_array0 *)operands[0];
    const lm_array0 x1 = *(const lm_array0 *)operands[1];
    lm_array1 *const z0 = operands[2];
    z0->shape[0] = 2;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type1, 0, NULL) < 0)) return -1;
    memcpy(z0->data + 0, x0.data, 8);
    memcpy(z0->data + 8, x1.data, 8);
    return 0;
}

static const lm_step steps[] = {
    /* 0: v2 = MakeVector(v0, v1) */
    {step0, 2, 1, 0, (const int[]){0, 1, 2}},
};
