/* ARange(int64[], int64[], int64[]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array0 x0 = *(const lm_array0 *)operands[0];
    const lm_array0 x1 = *(const lm_array0 *)operands[1];
    const lm_array0 x2 = *(const lm_array0 *)operands[2];
    lm_array1 *const z0 = operands[3];
    const lm_int length = lm_range_length(*(int64_t *)x0.data, *(int64_t *)x1.data, *(int64_t *)x2.data);
    if (LM_UNLIKELY(!(length >= 0))) return LM_REFER;
    const lm_wide start = *(int64_t *)x0.data, next = start + *(int64_t *)x2.data;
    const int64_t first = (int64_t)start, second = (int64_t)next;
    if (LM_UNLIKELY(!(length < 1 || first == start))) return LM_REFER;
    if (LM_UNLIKELY(!(length < 2 || second == next))) return LM_REFER;
    if (LM_UNLIKELY(!(lm_is_addressable(1, (const lm_int[]){length}, 8)))) return LM_REFER;
    z0->shape[0] = length;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type1, 0, NULL) < 0)) return -1;
    if (length > 0) ((int64_t *)z0->data)[0] = first;
    if (length > 1) ((int64_t *)z0->data)[1] = second;
    void *const unlocked = length >= LM_LONG ? call->serve->unlock() : NULL;
    for (lm_int i = 2; i < length; ++i) ((int64_t *)z0->data)[i] = (int64_t)((uint64_t)first + (uint64_t)i * ((uint64_t)second - (uint64_t)first));
    if (unlocked != NULL) call->serve->lock(unlocked);
    return 0;
}

/* ARange(float64[], float64[], float64[]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array0 x0 = *(const lm_array0 *)operands[0];
    const lm_array0 x1 = *(const lm_array0 *)operands[1];
    const lm_array0 x2 = *(const lm_array0 *)operands[2];
    lm_array1 *const z0 = operands[3];
    const double t0 = *(double *)x0.data;
    const double t1 = *(double *)x1.data;
    const double t2 = *(double *)x2.data;
    const double t3 = (t0 + t2);
    const double t4 = (t1 - t0);
    const double t5 = (t4 / t2);
    if (LM_UNLIKELY(!(t5 > -0x1p58 && t5 < 0x1p58 && (t5 != 0 || t4 == 0)))) return LM_REFER;
    const lm_int length = t5 > 0 ? (lm_int)ceil((double)t5) : 0;
    const double first = t0;
    const double second = t3;
    if (LM_UNLIKELY(!(lm_is_addressable(1, (const lm_int[]){length}, 8)))) return LM_REFER;
    z0->shape[0] = length;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type3, 0, NULL) < 0)) return -1;
    if (length > 0) ((double *)z0->data)[0] = first;
    if (length > 1) ((double *)z0->data)[1] = second;
    void *const unlocked = length >= LM_LONG ? call->serve->unlock() : NULL;
    for (lm_int i = 2; i < length; ++i) ((double *)z0->data)[i] = (double)((double)first + (double)i * ((double)second - (double)first));
    if (unlocked != NULL) call->serve->lock(unlocked);
    return 0;
}

static const lm_step steps[] = {
    /* 0: v6 = ARange(v2, v0, v3) */
    {step0, 3, 1, 0, (const int[]){2, 0, 3, 6}},
    /* 1: v7 = ARange(v4, v5, v1) */
    {step1, 3, 1, 0, (const int[]){4, 5, 1, 7}},
};
