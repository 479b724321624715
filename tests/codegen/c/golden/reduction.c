LM_DECLARE_ARRAY(2);

static const lm_type type0 = {LM_FLOAT64, 2, 8, (const lm_int[]){-1, -1}, 0};
static const lm_type type1 = {LM_FLOAT64, 1, 8, (const lm_int[]){-1}, 0};
static const lm_type type2 = {LM_FLOAT32, 2, 4, (const lm_int[]){1, -1}, 0};

static inline double combine0(const double acc, const double x)
{
    const double t0 = (acc + x);
    return t0;
}

LM_SHORT_VECTORS double total0(const lm_int n, const double *const x, const double first)
{
    enum { lanes = LM_STREAMS == 1 ? 8 : 16, at_once = 4, by = LM_STREAMS == 1 ? at_once * lanes : lanes };
    double lane[lanes], total = first;
    double waiting[64][lanes];
    int n_waiting = 0;
    const lm_int steps = n / (at_once * lanes), begin = n - steps * at_once * lanes, apart = LM_STREAMS == 1 ? lanes : steps * lanes;
    /* What does not fill a step comes first, where sums are small. */
    lm_int k = 0;
#pragma GCC unroll 1
    for (; k < n % lanes; ++k) total = combine0(total, x[k]);
    if (n < lanes) return total;
    for (int j = 0; j < lanes; ++j) lane[j] = first;
    lane[0] = total;
    for (; k < begin; k += lanes)
#pragma omp simd
        for (int j = 0; j < lanes; ++j) lane[j] = combine0(lane[j], x[k + j]);
    const lm_int segments = steps / 8 + 1;
    for (lm_int s = 1, end = begin + steps % 8 * by; s <= segments; ++s, end += 8 * by) {
#pragma GCC unroll 1
        for (; k < end; k += by)
#pragma omp simd
            for (int j = 0; j < lanes; ++j) lane[j] = combine0(lane[j], combine0(combine0(x[k + j], x[k + j + apart]), combine0(x[k + j + 2 * apart], x[k + j + 3 * apart])));
        for (lm_int number = s; number % 2 == 0; number /= 2) {
            --n_waiting;
#pragma omp simd
            for (int j = 0; j < lanes; ++j) lane[j] = combine0(waiting[n_waiting][j], lane[j]);
        }
        if (s == segments) break;
        memcpy(waiting[n_waiting++], lane, sizeof(lane));
        for (int j = 0; j < lanes; ++j) lane[j] = first;
    }
    while (n_waiting > 0) {
        --n_waiting;
#pragma omp simd
        for (int j = 0; j < lanes; ++j) lane[j] = combine0(waiting[n_waiting][j], lane[j]);
    }
#pragma GCC unroll 1
    for (int h = lanes / 2; h > 0; h /= 2)
#pragma GCC unroll 1
        for (int j = 0; j < h; ++j) lane[j] = combine0(lane[j], lane[j + h]);
    return lane[0];
}

LM_ALONE void rows0(const lm_int n, const lm_int m, const char *const x, const lm_int by, char *const accumulators)
{
    double *const to = (double *)accumulators;
    for (lm_int r = 0; r < m; ++r) {
        const double *const row = (const double *)(x + r * by);
        double so_far = to[r];
        if (n >= 16) so_far = combine0(so_far, total0(n, row, 0x0.0p+0));
        else
#pragma GCC unroll 1
            for (lm_int k = 0; k < n; ++k) so_far = combine0(so_far, row[k]);
        to[r] = so_far;
    }
}

LM_ALONE void columns0(const lm_int n, const lm_int m, const char *const x, const lm_int by, char *const accumulators)
{
    double *const to = (double *)accumulators;
    lm_int r = 0;
    for (; r + 4 <= m; r += 4) {
        const double *const x0 = (const double *)(x + (r + 0) * by); const double *const x1 = (const double *)(x + (r + 1) * by); const double *const x2 = (const double *)(x + (r + 2) * by); const double *const x3 = (const double *)(x + (r + 3) * by);
#pragma omp simd
        for (lm_int i = 0; i < n; ++i) to[i] = combine0(to[i], combine0(combine0(x0[i], x1[i]), combine0(x2[i], x3[i])));
    }
    for (; r < m; ++r) {
        const double *const x0 = (const double *)(x + r * by);
#pragma omp simd
        for (lm_int i = 0; i < n; ++i) to[i] = combine0(to[i], x0[i]);
    }
}

static const lm_reduction reduction0 = {rows0, columns0, columns0, 8, 8, &(const double){0x0.0p+0}, NULL, 0};

static const lm_reducer reducer0 = {
    NULL, 1, 1, 1, (const lm_int[]){8, 8}, (const int[]){-1},
    (const lm_reduced[]){{0, &reduction0}},
};

/* Sum(float64[?, ?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array1 *const z0 = operands[1];
    z0->shape[0] = x0.shape[0];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type1, 0, NULL) < 0)) return -1;
    if (LM_UNLIKELY(call->serve->reduce(call, &reducer0, 2, x0.shape, (char *const[]){z0->data, x0.data}, (const lm_int *const[]){(const lm_int[]){z0->strides[0], 0}, x0.strides}) < 0)) return -1;
    return 0;
}

static const lm_variable variables[] = {
    {0, 0, &type0},
    {48, 0, &type2},
    {96, 0, &type1},
};

static const lm_step steps[] = {
    /* 0: v2 = Sum(v0) */
    {step0, 1, 1, 0, (const int[]){0, 2}},
};

static const int outputs[] = {2};
static const unsigned char overwritten[] = {0, 0};

__attribute__((visibility("default"))) const lm_program lamella_program = {
    2, 0, 3, 1, 1, 2, 128, variables, outputs, overwritten, steps, NULL,
};
