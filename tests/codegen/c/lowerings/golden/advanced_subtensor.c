/* Shape(float64[?, ?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array1 *const z0 = operands[1];
    z0->shape[0] = 2;
    z0->strides[0] = 8;
    ((int64_t *)z0->data)[0] = x0.shape[0];
    ((int64_t *)z0->data)[1] = x0.shape[1];
    return 0;
}

/* Subtensor(int64[2]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array1 x0 = *(const lm_array1 *)operands[0];
    lm_array0 *const z0 = operands[1];
    lm_int index_0 = INT64_C(0);
    if (index_0 < 0) index_0 += 2;
    if (LM_UNLIKELY(!(index_0 >= 0 && index_0 < 2))) return LM_REFER;
    z0->data = x0.data + index_0 * x0.strides[0];
    z0->block = lm_share(x0.block);
    return 0;
}

/* ARange(int64[], int64[], int64[]) */
static LM_BESIDE int step2(lm_call *const call, void *const *const operands)
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
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)z0, &type3, 0, NULL) < 0)) return -1;
    if (length > 0) ((int64_t *)z0->data)[0] = first;
    if (length > 1) ((int64_t *)z0->data)[1] = second;
    void *const unlocked = length >= LM_LONG ? call->serve->unlock() : NULL;
    for (lm_int i = 2; i < length; ++i) ((int64_t *)z0->data)[i] = (int64_t)((uint64_t)first + (uint64_t)i * ((uint64_t)second - (uint64_t)first));
    if (unlocked != NULL) call->serve->lock(unlocked);
    return 0;
}

/* AdvancedSubtensor(float64[?, ?], int64[?], int64[?]) */
static LM_BESIDE int step3(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array1 x1 = *(const lm_array1 *)operands[1];
    const lm_array1 x2 = *(const lm_array1 *)operands[2];
    lm_array1 *const z0 = operands[3];
    if (LM_UNLIKELY(!(x2.shape[0] == x1.shape[0]))) return LM_REFER;
    z0->shape[0] = x1.shape[0];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type4, 0, NULL) < 0)) return -1;
    {
    lm_indexed at = {.action = LM_INDEX_READ, .dtype = LM_FLOAT64, .itemsize = 8, .n_indices = 2, .n_outer = 0, .n_kept = 0, .array = x0.data, .lengths = (const lm_int[]){x0.shape[0], x0.shape[1]}, .by = (const lm_int[]){x0.strides[0], x0.strides[1]}};
    call->serve->index(call, &at, 1, (const lm_int[]){x1.shape[0]}, (char *const[]){z0->data, z0->data, x1.data, x2.data}, (const lm_int *const[]){(const lm_int[]){z0->strides[0]}, (const lm_int[]){z0->strides[0]}, (const lm_int[]){x1.strides[0]}, (const lm_int[]){x2.strides[0]}});
    if (LM_UNLIKELY(!(!at.outside))) return LM_REFER;
    }
    return 0;
}

static const lm_step steps[] = {
    /* 0: v4 = Shape(v0) */
    {step0, 1, 1, 0, (const int[]){0, 4}},
    /* 1: v5 = Subtensor(v4) */
    {step1, 1, 1, 1, (const int[]){4, 5, 4}},
    /* 2: v6 = ARange(v2, v5, v3) */
    {step2, 3, 1, 1, (const int[]){2, 5, 3, 6, 5}},
    /* 3: v7 = AdvancedSubtensor(v0, v6, v1) */
    {step3, 3, 1, 1, (const int[]){0, 6, 1, 7, 6}},
};
