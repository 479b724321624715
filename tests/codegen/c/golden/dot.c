LM_DECLARE_ARRAY(2);

static const lm_type type0 = {LM_FLOAT64, 2, 8, (const lm_int[]){-1, -1}, 0};
static const lm_type type1 = {LM_FLOAT32, 2, 4, (const lm_int[]){1, -1}, 0};

/* DimShuffle(float64[?, ?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array2 *const z0 = operands[1];
    z0->shape[0] = x0.shape[1];
    z0->shape[1] = x0.shape[0];
    z0->strides[0] = z0->shape[0] == 1 ? 0 : x0.strides[1];
    z0->strides[1] = z0->shape[1] == 1 ? 0 : x0.strides[0];
    z0->data = x0.data;
    z0->block = lm_share(x0.block);
    return 0;
}

/* Dot(float64[?, ?], float64[?, ?]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array2 x1 = *(const lm_array2 *)operands[1];
    lm_array2 *const z0 = operands[2];
    if (LM_UNLIKELY(!(x0.shape[1] == x1.shape[0]))) return LM_REFER;
    if (LM_UNLIKELY(!(x0.shape[1] <= INT32_MAX))) return LM_REFER;
    if (LM_UNLIKELY(!(x0.shape[0] <= INT32_MAX))) return LM_REFER;
    if (LM_UNLIKELY(!(x1.shape[1] <= INT32_MAX))) return LM_REFER;
    if (LM_UNLIKELY(!(x1.shape[0] <= INT32_MAX))) return LM_REFER;
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x1.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type0, 0, NULL) < 0)) return -1;
    if (LM_UNLIKELY(call->serve->add_product(call, &(const lm_value){(void *)(lm_array *)z0, &type0}, NULL, &(const lm_value){(void *)(lm_array *)&x0, &type0}, &(const lm_value){(void *)(lm_array *)&x1, &type0}) < 0)) return -1;
    return 0;
}

static const lm_variable variables[] = {
    {0, 0, &type0},
    {48, 0, &type1},
    {96, 0, &type0},
    {144, 0, &type0},
};

static const lm_step steps[] = {
    /* 0: v2 = DimShuffle(v0) */
    {step0, 1, 1, 0, (const int[]){0, 2}},
    /* 1: v3 = Dot(v0, v2) */
    {step1, 2, 1, 1, (const int[]){0, 2, 3, 2}},
};

static const int outputs[] = {3};
static const unsigned char overwritten[] = {0, 0};

__attribute__((visibility("default"))) const lm_program lamella_program = {
    2, 0, 4, 1, 2, 3, 192, variables, outputs, overwritten, steps, NULL,
};
