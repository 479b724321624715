/* ExtractDiag(float64[?, ?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array1 *const z0 = operands[1];
    const lm_diagonal diagonal = lm_diagonal_of(x0.shape[0], x0.shape[1], 1);
    z0->shape[0] = diagonal.length;
    z0->strides[0] = z0->shape[0] == 1 ? 0 : x0.strides[0] + x0.strides[1];
    z0->data = x0.data + diagonal.row * x0.strides[0] + diagonal.column * x0.strides[1];
    z0->block = lm_share(x0.block);
    return 0;
}

/* Shape_i(float64[?]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array1 x0 = *(const lm_array1 *)operands[0];
    lm_array0 *const z0 = operands[1];
    *(int64_t *)z0->data = x0.shape[0];
    return 0;
}

/* AllocDiag(float64[?], int64[], int64[]) */
static LM_BESIDE int step2(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array1 x0 = *(const lm_array1 *)operands[0];
    const lm_array0 x1 = *(const lm_array0 *)operands[1];
    const lm_array0 x2 = *(const lm_array0 *)operands[2];
    lm_array2 *const z0 = operands[3];
    const lm_int length_0 = *(int64_t *)x1.data;
    if (LM_UNLIKELY(!(length_0 >= 0))) return LM_REFER;
    const lm_int length_1 = *(int64_t *)x2.data;
    if (LM_UNLIKELY(!(length_1 >= 0))) return LM_REFER;
    const lm_diagonal diagonal = lm_diagonal_of(length_0, length_1, 0);
    if (LM_UNLIKELY(!(x0.shape[0] == diagonal.length))) return LM_REFER;
    if (LM_UNLIKELY(!(lm_is_addressable(2, (const lm_int[]){length_0, length_1}, 8)))) return LM_REFER;
    z0->shape[0] = length_0;
    z0->shape[1] = length_1;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type0, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, z0->shape, z0->data, z0->strides, (char[16]){0}, (const lm_int[]){0, 0});
    call->serve->copy(call, 8, 1, (const lm_int[]){x0.shape[0]}, z0->data + diagonal.row * z0->strides[0] + diagonal.column * z0->strides[1], (const lm_int[]){z0->strides[0] + z0->strides[1]}, x0.data, x0.strides);
    return 0;
}

/* Eye(int64[], int64[], int64[]) */
static LM_BESIDE int step3(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array0 x0 = *(const lm_array0 *)operands[0];
    const lm_array0 x1 = *(const lm_array0 *)operands[1];
    const lm_array0 x2 = *(const lm_array0 *)operands[2];
    lm_array2 *const z0 = operands[3];
    const lm_int length_0 = *(int64_t *)x0.data;
    if (LM_UNLIKELY(!(length_0 >= 0))) return LM_REFER;
    const lm_int length_1 = *(int64_t *)x1.data;
    if (LM_UNLIKELY(!(length_1 >= 0))) return LM_REFER;
    if (LM_UNLIKELY(!(lm_is_addressable(2, (const lm_int[]){length_0, length_1}, 8)))) return LM_REFER;
    z0->shape[0] = length_0;
    z0->shape[1] = length_1;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type0, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, z0->shape, z0->data, z0->strides, (char[16]){0}, (const lm_int[]){0, 0});
    const lm_diagonal diagonal = lm_diagonal_of(length_0, length_1, *(int64_t *)x2.data);
    call->serve->copy(call, 8, 1, &diagonal.length, z0->data + diagonal.row * z0->strides[0] + diagonal.column * z0->strides[1], (const lm_int[]){z0->strides[0] + z0->strides[1]}, (char *)(double[1]){(double)1}, (const lm_int[]){0});
    return 0;
}

static const lm_step steps[] = {
    /* 0: v4 = ExtractDiag(v0) */
    {step0, 1, 1, 0, (const int[]){0, 4}},
    /* 1: v5 = Shape_i(v1) */
    {step1, 1, 1, 0, (const int[]){1, 5}},
    /* 2: v6 = AllocDiag(v1, v5, v5) */
    {step2, 3, 1, 1, (const int[]){1, 5, 5, 6, 5}},
    /* 3: v7 = Eye(v2, v2, v3) */
    {step3, 3, 1, 0, (const int[]){2, 2, 3, 7}},
};
