LM_DECLARE_ARRAY(2);

static const lm_type type0 = {LM_FLOAT64, 2, 8, (const lm_int[]){-1, -1}};
static const lm_type type1 = {LM_INT64, 1, 8, (const lm_int[]){-1}};
static const lm_type type2 = {LM_FLOAT32, 2, 4, (const lm_int[]){1, -1}};

static inline double combine0(const double acc, const double x)
{
    const double t0 = lm_maximum_f64(acc, x);
    return t0;
}

LM_ALONE double total0(const lm_int n, const char *const data, const lm_int stride, const double first)
{
    double lane[32], total = first;
    double gathered[256];
    if (n < 32) {
        for (lm_int i = 0; i < n; ++i) {
            const double *const block = (const double *)(data + i * stride);
            total = combine0(total, block[0]);
        }
        return total;
    }
    for (int j = 0; j < 32; ++j) lane[j] = first;
    for (lm_int i = 0; i < n; i += 256) {
        const int m = n - i < 256 ? (int)(n - i) : 256;
        const double *block = (const double *)(data + i * stride);
        if (stride != 8) {
            for (int j = 0; j < m; ++j) gathered[j] = *(const double *)(data + (i + j) * stride);
            block = gathered;
        }
        int k = 0;

        for (; k + 32 <= m; k += 32)
#pragma omp simd
            for (int j = 0; j < 32; ++j) lane[j] = combine0(lane[j], block[k + j]);
        for (; k < m; ++k) total = combine0(total, block[k]);
    }
#pragma GCC unroll 1
    for (int k = 16; k > 0; k /= 2)
#pragma GCC unroll 1
        for (int j = 0; j < k; ++j) lane[j] = combine0(lane[j], lane[j + k]);
    total = combine0(lane[0], total);
    return total;
}

static void row0(const lm_int n, char *const z, const lm_int z_stride, const char *const x, const lm_int x_stride)
{
    (void)z_stride;
    const double extreme = total0(n, x, x_stride, *(const double *)x);
    lm_int found = 0;
    if (extreme != extreme) while (*(const double *)(x + found * x_stride) == *(const double *)(x + found * x_stride)) ++found;
    else while (*(const double *)(x + found * x_stride) != extreme) ++found;
    *(int64_t *)z = found;
}

static void rows0(const lm_int n, char *const *const data, const lm_int *const strides)
{
    const lm_row row = *(const lm_row *)data[2];
    for (lm_int r = 0; r < n; ++r) row0(row.n, data[0] + r * strides[0], row.stride[0], data[1] + r * strides[1], row.stride[1]);
}

/* Argmax(float64[?, ?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array1 *const z0 = operands[1];
    if (LM_UNLIKELY(!(x0.shape[0] > 0))) return LM_REFER;
    z0->shape[0] = x0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type1, 0, NULL) < 0)) return -1;
    const lm_row row = {x0.shape[0], {0, x0.strides[0]}};
    call->serve->nest(call, rows0, 3, 1, (const lm_int[]){z0->shape[0]},
                      (char *const[]){z0->data, x0.data, (char *)&row}, (const lm_int *const[]){(const lm_int[]){z0->strides[0]}, (const lm_int[]){x0.strides[1]}, (const lm_int[]){0}});
    return 0;
}

static const lm_variable variables[] = {
    {0, 0, &type0},
    {48, 0, &type2},
    {96, 0, &type1},
};

static const lm_step steps[] = {
    /* 0: v2 = Argmax(v0) */
    {step0, 1, 1, 0, (const int[]){0, 2}},
};

static const int outputs[] = {2};
static const unsigned char overwritten[] = {0, 0};

__attribute__((visibility("default"))) const lm_program lamella_program = {
    2, 0, 3, 1, 1, 2, 128, variables, outputs, overwritten, steps, NULL,
};
