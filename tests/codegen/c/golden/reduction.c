LM_DECLARE_ARRAY(2);

static const lm_type type0 = {LM_FLOAT64, 2, 8, (const lm_int[]){-1, -1}};
static const lm_type type1 = {LM_FLOAT64, 1, 8, (const lm_int[]){-1}};
static const lm_type type2 = {LM_FLOAT32, 2, 4, (const lm_int[]){1, -1}};

static inline double combine0(const double acc, const double x)
{
    const double t0 = (acc + x);
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
    double waiting[64];
    int n_waiting = 0;
    for (lm_int i = 0; i < n; i += 256) {
        const int m = n - i < 256 ? (int)(n - i) : 256;
        const double *block = (const double *)(data + i * stride);
        if (stride != 8) {
            for (int j = 0; j < m; ++j) gathered[j] = *(const double *)(data + (i + j) * stride);
            block = gathered;
        }
        int k = 0;
        for (int j = 0; j < 32; ++j) lane[j] = first;
        for (; k + 32 <= m; k += 32)
#pragma omp simd
            for (int j = 0; j < 32; ++j) lane[j] = combine0(lane[j], block[k + j]);
        for (; k < m; ++k) total = combine0(total, block[k]);
#pragma GCC unroll 1
        for (int k = 16; k > 0; k /= 2)
#pragma GCC unroll 1
            for (int j = 0; j < k; ++j) lane[j] = combine0(lane[j], lane[j + k]);
        waiting[n_waiting++] = lane[0];
        for (lm_int number = i / 256 + 1; number % 2 == 0; number /= 2, --n_waiting)
            waiting[n_waiting - 2] = combine0(waiting[n_waiting - 2], waiting[n_waiting - 1]);
    }
    while (n_waiting > 0) total = combine0(total, waiting[--n_waiting]);
    return total;
}

static void reduction0(const lm_int n, char *const *const data, const lm_int *const strides)
{
    char *const to = data[0];
    const char *const from = data[1];
    if (strides[0] == 0) {
        const double so_far = *(double *)to;
        *(double *)to = combine0(so_far, total0(n, from, strides[1], 0x0.0p+0));
    } else if (strides[0] == 8 && strides[1] == 8) {
#pragma omp simd
        for (lm_int i = 0; i < n; ++i) *(double *)(to + i * 8) = combine0(*(double *)(to + i * 8), *(const double *)(from + i * 8));
    } else
        for (lm_int i = 0; i < n; ++i) *(double *)(to + i * strides[0]) = combine0(*(double *)(to + i * strides[0]), *(const double *)(from + i * strides[1]));
}

LM_INLINE void element0(double *const o0)
{
    const double t0 = 0x0.0p+0;
    *o0 = t0;
}

LM_ALONE void loop0(const lm_int n, double *const o0)
{
#pragma omp simd
    for (lm_int i = 0; i < n; ++i) element0(o0 + i);
}

LM_ALONE void scatter0(const int m, char *const to, const lm_int stride, const double *const from)
{
    for (int j = 0; j < m; ++j) *(double *)(to + j * stride) = from[j];
}

static void kernel0(const lm_int n, char *const *const data, const lm_int *const strides)
{
    if (strides[0] == 8) {
        loop0(n, (double *)data[0]);
        return;
    }
    double b0[256];
    for (lm_int i = 0; i < n; i += 256) {
        const int m = n - i < 256 ? (int)(n - i) : 256;

        loop0(m, (double *)b0);
        scatter0(m, data[0] + i * strides[0], strides[0], b0);
    }
}

/* Sum(float64[?, ?]) */
static int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array1 *const z0 = operands[1];
    z0->shape[0] = x0.shape[0];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type1, 0, NULL) < 0)) return -1;
    call->serve->nest(call, kernel0, 1, 1, z0->shape,
                      (char *const[]){z0->data}, (const lm_int *const[]){z0->strides});
    call->serve->nest(call, reduction0, 2, 2, x0.shape,
                      (char *const[]){z0->data, x0.data}, (const lm_int *const[]){(const lm_int[]){z0->strides[0], 0}, x0.strides});
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
