LM_DECLARE_ARRAY(2);

static const lm_type type0 = {LM_FLOAT64, 2, 8, (const lm_int[]){-1, -1}, 0};
static const lm_type type1 = {LM_FLOAT32, 2, 4, (const lm_int[]){1, -1}, 0};

LM_INLINE void element0(double *const o0, const double i0, const float i1)
{
    const double t0 = (i0 * ((double)i1));
    *o0 = t0;
}

LM_ALONE void loop0(const lm_int n, char *const *const data)
{
    double *const o0 = (double *)data[0];
    const double *const i0 = (const double *)data[1];
    const float *const i1 = (const float *)data[2];
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) element0(o0 + i, i0[i], i1[i]);
}

static void kernel0(const lm_int n, char *const *const data, const lm_int *const strides)
{
    static const unsigned char steps[] = {8, 8, 4};
    static const lm_elementwise kernel = {loop0, 1, 3, steps, NULL, NULL};
    lm_run_elementwise(&kernel, n, data, strides);
}

/* Mul(float64[?, ?], float32[1, ?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array2 x1 = *(const lm_array2 *)operands[1];
    lm_array2 *const z0 = operands[2];
    if (LM_UNLIKELY(!(x1.shape[1] == x0.shape[1]))) return LM_REFER;
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)z0, &type0, 2, (const lm_int *const[]){x0.strides, x1.strides}) < 0)) return -1;
    const lm_loop each0 = {kernel0, 1, 3, 8, 1260, (const lm_int[]){8, 8, 4}};
    call->serve->each(call, &each0, 2, z0->shape,
                      (char *const[]){z0->data, x0.data, x1.data}, (const lm_int *const[]){z0->strides, x0.strides, x1.strides});
    return 0;
}

LM_INLINE void element1(double *const o0, const double i0)
{
    const double t0 = (i0 + 0x1.0000000000000p-1);
    *o0 = t0;
}

LM_ALONE void loop1(const lm_int n, char *const *const data)
{
    double *const o0 = (double *)data[0];
    const double *const i0 = (const double *)data[1];
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) element1(o0 + i, i0[i]);
}

static void kernel1(const lm_int n, char *const *const data, const lm_int *const strides)
{
    static const unsigned char steps[] = {8, 8};
    static const lm_elementwise kernel = {loop1, 1, 2, steps, NULL, NULL};
    lm_run_elementwise(&kernel, n, data, strides);
}

/* Add(float64[?, ?], float64[1, 1]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array2 *const z0 = operands[2];
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)z0, &type0, 1, (const lm_int *const[]){x0.strides}) < 0)) return -1;
    const lm_loop each0 = {kernel1, 1, 2, 8, 1020, (const lm_int[]){8, 8}};
    call->serve->each(call, &each0, 2, z0->shape,
                      (char *const[]){z0->data, x0.data}, (const lm_int *const[]){z0->strides, x0.strides});
    return 0;
}

LM_INLINE void element2(double *const o0, const double i0)
{
    const double t0 = exp(i0);
    *o0 = t0;
}

LM_ALONE void loop2(const lm_int n, char *const *const data)
{
    double *const o0 = (double *)data[0];
    const double *const i0 = (const double *)data[1];
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) element2(o0 + i, i0[i]);
}

static void kernel2(const lm_int n, char *const *const data, const lm_int *const strides)
{
    static const unsigned char steps[] = {8, 8};
    static const lm_elementwise kernel = {loop2, 1, 2, steps, NULL, NULL};
    lm_run_elementwise(&kernel, n, data, strides);
}

/* Exp(float64[?, ?]) */
static LM_BESIDE int step2(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array2 *const z0 = operands[1];
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type0, 1, (const lm_int *const[]){x0.strides}) < 0)) return -1;
    const lm_loop each0 = {kernel2, 1, 2, 0, 2020, (const lm_int[]){8, 8}};
    call->serve->each(call, &each0, 2, z0->shape,
                      (char *const[]){z0->data, x0.data}, (const lm_int *const[]){z0->strides, x0.strides});
    return 0;
}

static const lm_variable variables[] = {
    {0, 0, &type0},
    {48, 0, &type1},
    {96, 0, &type0},
    {144, 0, &type0},
    {192, 0, &type0},
};

static const lm_step steps[] = {
    /* 0: v2 = Mul(v0, v1) */
    {step0, 2, 1, 0, (const int[]){0, 1, 2}},
    /* 1: v3 = Add(v2, constant) */
    {step1, 2, 1, 1, (const int[]){2, -1, 3, 2}},
    /* 2: v4 = Exp(v3) */
    {step2, 1, 1, 1, (const int[]){3, 4, 3}},
};

static const int outputs[] = {4};
static const unsigned char overwritten[] = {0, 0};

__attribute__((visibility("default"))) const lm_program lamella_program = {
    2, 0, 5, 1, 3, 3, 256, variables, outputs, overwritten, steps, NULL,
};
