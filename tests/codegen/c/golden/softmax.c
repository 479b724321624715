LM_DECLARE_ARRAY(2);

static const lm_type type0 = {LM_FLOAT64, 2, 8, (const lm_int[]){-1, -1}, 0};
static const lm_type type1 = {LM_FLOAT32, 2, 4, (const lm_int[]){1, -1}, 0};

static inline double combine0(const double acc, const double x)
{
    const double t0 = lm_maximum_f64(acc, x);
    return t0;
}

static inline double compare0(const double x, const double y) { return x > y ? x : y; }

LM_SHORT_VECTORS double total0(const lm_int n, const double *const x, const double first)
{
    enum { lanes = LM_STREAMS == 1 ? 8 : 16, at_once = 4, by = LM_STREAMS == 1 ? at_once * lanes : lanes };
    double lane[lanes], total = first;
    int64_t unordered[lanes] = {0}, any = 0;
    const lm_int steps = n / (at_once * lanes), begin = n - steps * at_once * lanes, apart = LM_STREAMS == 1 ? lanes : steps * lanes;
    /* What does not fill a step comes first, where sums are small. */
    lm_int k = 0;
#pragma GCC unroll 1
    for (; k < n % lanes; ++k) total = combine0(total, x[k]);
    if (n < lanes) return total;
    for (int j = 0; j < lanes; ++j) lane[j] = first;
    lane[0] = total;
    unordered[0] = total != total;
    for (; k < begin; k += lanes)
#pragma omp simd
        for (int j = 0; j < lanes; ++j) { lane[j] = compare0(lane[j], x[k + j]); unordered[j] |= __builtin_isunordered(x[k + j], x[k + j]); }
    for (; k < begin + steps * by; k += by)
#pragma omp simd
        for (int j = 0; j < lanes; ++j) { lane[j] = compare0(lane[j], compare0(compare0(x[k + j], x[k + j + apart]), compare0(x[k + j + 2 * apart], x[k + j + 3 * apart]))); unordered[j] |= __builtin_isunordered(x[k + j], x[k + j + apart]) | __builtin_isunordered(x[k + j + 2 * apart], x[k + j + 3 * apart]); }
#pragma omp simd reduction(|:any)
    for (int j = 0; j < lanes; ++j) any |= unordered[j];
    if (any) {
        if (first != first) return first;
        for (k = 0; x[k] == x[k];) ++k;
        return x[k];
    }
#pragma GCC unroll 1
    for (int h = lanes / 2; h > 0; h /= 2)
#pragma GCC unroll 1
        for (int j = 0; j < h; ++j) lane[j] = combine0(lane[j], lane[j + h]);
    return lane[0];
}

LM_ALONE void pass0(const lm_int n, double *const z_row, const double *const x_row, const double greatest)
{
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) {
        const double x = x_row[i];
        z_row[i] = exp(x - greatest);
    }
}

static inline double combine1(const double acc, const double x)
{
    const double t0 = (acc + x);
    return t0;
}

LM_SHORT_VECTORS double total1(const lm_int n, const double *const x, const double first)
{
    enum { lanes = LM_STREAMS == 1 ? 8 : 16, at_once = 4, by = LM_STREAMS == 1 ? at_once * lanes : lanes };
    double lane[lanes], total = first;
    double waiting[64][lanes];
    int n_waiting = 0;
    const lm_int steps = n / (at_once * lanes), begin = n - steps * at_once * lanes, apart = LM_STREAMS == 1 ? lanes : steps * lanes;
    /* What does not fill a step comes first, where sums are small. */
    lm_int k = 0;
#pragma GCC unroll 1
    for (; k < n % lanes; ++k) total = combine1(total, x[k]);
    if (n < lanes) return total;
    for (int j = 0; j < lanes; ++j) lane[j] = first;
    lane[0] = total;
    for (; k < begin; k += lanes)
#pragma omp simd
        for (int j = 0; j < lanes; ++j) lane[j] = combine1(lane[j], x[k + j]);
    const lm_int segments = steps / 8 + 1;
    for (lm_int s = 1, end = begin + steps % 8 * by; s <= segments; ++s, end += 8 * by) {
#pragma GCC unroll 1
        for (; k < end; k += by)
#pragma omp simd
            for (int j = 0; j < lanes; ++j) lane[j] = combine1(lane[j], combine1(combine1(x[k + j], x[k + j + apart]), combine1(x[k + j + 2 * apart], x[k + j + 3 * apart])));
        for (lm_int number = s; number % 2 == 0; number /= 2) {
            --n_waiting;
#pragma omp simd
            for (int j = 0; j < lanes; ++j) lane[j] = combine1(waiting[n_waiting][j], lane[j]);
        }
        if (s == segments) break;
        memcpy(waiting[n_waiting++], lane, sizeof(lane));
        for (int j = 0; j < lanes; ++j) lane[j] = first;
    }
    while (n_waiting > 0) {
        --n_waiting;
#pragma omp simd
        for (int j = 0; j < lanes; ++j) lane[j] = combine1(waiting[n_waiting][j], lane[j]);
    }
#pragma GCC unroll 1
    for (int h = lanes / 2; h > 0; h /= 2)
#pragma GCC unroll 1
        for (int j = 0; j < h; ++j) lane[j] = combine1(lane[j], lane[j + h]);
    return lane[0];
}

LM_ALONE void pass1(const lm_int n, double *const z_row, const double *const x_row, const double sum)
{
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) {
        const double x = x_row[i];
        z_row[i] = (double)(x / sum);
    }
}

static void row0(const lm_int n, char *const *const rows)
{
    double *const z = (double *)rows[0];
    const double *const x = (const double *)rows[1];
    const double greatest = total0(n, x, -INFINITY);
    pass0(n, z, x, greatest);
    pass1(n, z, z, greatest == INFINITY ? INFINITY : total1(n, z, 0));
}

static const lm_row_kernel rows0 = {row0, 1, 2, (const lm_int[]){8, 8}, NULL};

/* Softmax(float64[?, ?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array2 *const z0 = operands[1];
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type0, 1, (const lm_int *const[]){x0.strides}) < 0)) return -1;
    if (LM_UNLIKELY(call->serve->rows(call, &rows0, x0.shape[1], (const lm_int[]){z0->strides[1], x0.strides[1]}, 1, (const lm_int[]){z0->shape[0]}, (char *const[]){z0->data, x0.data}, (const lm_int *const[]){(const lm_int[]){z0->strides[0]}, (const lm_int[]){x0.strides[0]}}) < 0)) return -1;
    return 0;
}

static const lm_variable variables[] = {
    {0, 0, &type0},
    {48, 0, &type1},
    {96, 0, &type0},
};

static const lm_step steps[] = {
    /* 0: v2 = Softmax(v0) */
    {step0, 1, 1, 0, (const int[]){0, 2}},
};

static const int outputs[] = {2};
static const unsigned char overwritten[] = {0, 0};

__attribute__((visibility("default"))) const lm_program lamella_program = {
    2, 0, 3, 1, 1, 2, 192, variables, outputs, overwritten, steps, NULL,
};
