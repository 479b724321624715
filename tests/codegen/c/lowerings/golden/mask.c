/* Gt(float64[?, ?], float64[1, 1]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array2 *const z0 = operands[2];
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)z0, &type2, 1, (const lm_int *const[]){x0.strides}) < 0)) return -1;
    const lm_loop each0 = {kernel0, 1, 2, 1, 600, (const lm_int[]){1, 8}};
    call->serve->each(call, &each0, 2, z0->shape,
                      (char *const[]){z0->data, x0.data}, (const lm_int *const[]){z0->strides, x0.strides});
    return 0;
}

/* Shape_i(float64[?, ?]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array0 *const z0 = operands[1];
    *(int64_t *)z0->data = x0.shape[0];
    return 0;
}

/* Shape_i(float64[?, ?]) */
static LM_BESIDE int step2(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array0 *const z0 = operands[1];
    *(int64_t *)z0->data = x0.shape[1];
    return 0;
}

/* CheckMask(bool[?, ?], int64[], int64[]) */
static LM_BESIDE int step3(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array0 x1 = *(const lm_array0 *)operands[1];
    const lm_array0 x2 = *(const lm_array0 *)operands[2];
    lm_array2 *const z0 = operands[3];
    if (LM_UNLIKELY(!(x0.shape[0] == *(int64_t *)x1.data))) return LM_REFER;
    if (LM_UNLIKELY(!(x0.shape[1] == *(int64_t *)x2.data))) return LM_REFER;
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x0.shape[1];
    z0->strides[0] = z0->shape[0] == 1 ? 0 : x0.strides[0];
    z0->strides[1] = z0->shape[1] == 1 ? 0 : x0.strides[1];
    z0->data = x0.data;
    z0->block = lm_share(x0.block);
    return 0;
}

/* Nonzero(bool[?, ?]) */
static LM_BESIDE int step4(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array1 *const z0 = operands[1];
    lm_array1 *const z1 = operands[2];
    lm_int n = 0;
    call->serve->nest(call, count0, 2, 2, x0.shape,
                      (char *const[]){x0.data, (char *)&n}, (const lm_int *const[]){x0.strides, (const lm_int[]){0, 0}});
    z0->shape[0] = n;
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)z0, &type4, 0, NULL) < 0)) return -1;
    z1->shape[0] = n;
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)z1, &type4, 0, NULL) < 0)) return -1;
    void *const unlocked = x0.shape[0] * x0.shape[1] >= LM_LONG ? call->serve->unlock() : NULL;
    nonzero0(n, x0.data, x0.shape, x0.strides, (int64_t *const[]){(int64_t *)z0->data, (int64_t *)z1->data});
    if (unlocked != NULL) call->serve->lock(unlocked);
    return 0;
}

/* AdvancedSubtensor(float64[?, ?], int64[?], int64[?]) */
static LM_BESIDE int step5(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array1 x1 = *(const lm_array1 *)operands[1];
    const lm_array1 x2 = *(const lm_array1 *)operands[2];
    lm_array1 *const z0 = operands[3];
    if (LM_UNLIKELY(!(x2.shape[0] == x1.shape[0]))) return LM_REFER;
    z0->shape[0] = x1.shape[0];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type5, 0, NULL) < 0)) return -1;
    {
    lm_indexed at = {.action = LM_INDEX_READ, .dtype = LM_FLOAT64, .itemsize = 8, .n_indices = 2, .n_outer = 0, .n_kept = 0, .array = x0.data, .lengths = (const lm_int[]){x0.shape[0], x0.shape[1]}, .by = (const lm_int[]){x0.strides[0], x0.strides[1]}};
    call->serve->index(call, &at, 1, (const lm_int[]){x1.shape[0]}, (char *const[]){z0->data, z0->data, x1.data, x2.data}, (const lm_int *const[]){(const lm_int[]){z0->strides[0]}, (const lm_int[]){z0->strides[0]}, (const lm_int[]){x1.strides[0]}, (const lm_int[]){x2.strides[0]}});
    if (LM_UNLIKELY(!(!at.outside))) return LM_REFER;
    }
    return 0;
}

static const lm_step steps[] = {
    /* 0: v1 = Gt(v0, constant) */
    {step0, 2, 1, 0, (const int[]){0, -1, 1}},
    /* 1: v2 = Shape_i(v0) */
    {step1, 1, 1, 0, (const int[]){0, 2}},
    /* 2: v3 = Shape_i(v0) */
    {step2, 1, 1, 0, (const int[]){0, 3}},
    /* 3: v4 = CheckMask(v1, v2, v3) */
    {step3, 3, 1, 3, (const int[]){1, 2, 3, 4, 1, 2, 3}},
    /* 4: v5, v6 = Nonzero(v4) */
    {step4, 1, 2, 1, (const int[]){4, 5, 6, 4}},
    /* 5: v7 = AdvancedSubtensor(v0, v5, v6) */
    {step5, 3, 1, 2, (const int[]){0, 5, 6, 7, 5, 6}},
};
