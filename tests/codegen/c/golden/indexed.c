LM_DECLARE_ARRAY(1);

static const lm_type type0 = {LM_FLOAT64, 1, 8, (const lm_int[]){-1}, 0};
static const lm_type type1 = {LM_INT64, 1, 8, (const lm_int[]){-1}, 0};
static const lm_type type2 = {LM_FLOAT64, 0, 8, NULL, 0};

LM_INLINE void element0(double *const o0, const double i0)
{
    const double t0 = (i0 * i0);
    *o0 = t0;
}

static inline double combine0(const double acc, const double x)
{
    const double t0 = (acc + x);
    return t0;
}

LM_ONE_BY_ONE lm_int pass0(const lm_int n, char *const *const data, const lm_int *const by, const lm_int *const lengths)
{
    double a0[4], total0[4];
    for (int j = 0; j < 4; ++j) a0[j] = total0[j] = 0x0.0p+0;
    double *const s0 = (double *)data[1];
    const double *const t_i0 = (const double *)data[2];
    const int are_near = by[1] == 8 && by[2] == 8;
    const int64_t *const p0 = (const int64_t *)data[3];
    uint64_t length0 = (uint64_t)lengths[0];
    const int64_t *const p1 = (const int64_t *)data[4];
    if (p1 == p0 && (uint64_t)lengths[1] < length0) length0 = (uint64_t)lengths[1];
    (void)by;
    (void)lengths;
    int alike1 = 0;
    for (lm_int j = 0; j < 32 && j + 1 < n; ++j) alike1 += p1[j] == p1[j + 1] ? 1 : -1;
    alike1 = alike1 > 0;
    lm_int i = 0;
    int has_ended = 0;
    while (!has_ended && i < n) {
        const lm_int end = n - i < 64 ? n : i + 64;
        for (; are_near && !alike1 && i + 4 <= end; i += 4) {
            uint64_t highest0 = 0;
            for (int j = 0; j < 4; ++j) { const uint64_t at = (uint64_t)p0[i + j]; if (at > highest0) highest0 = at; }
            if (LM_UNLIKELY(highest0 >= length0)) {
                has_ended = 1;
                break;
            }
            double g_i0[4];
            #pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) g_i0[j] = t_i0[p0[i + j]];
            double o0[4];
            #pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) element0(o0 + j, g_i0[j]);
            #pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) a0[j] = combine0(a0[j], o0[j]);
            for (int j = 0; j < 4; ++j) s0[p1[i + j]] = combine0(s0[p1[i + j]], o0[j]);
            (void)o0;
        }
        double none0 = 0x0.0p+0, *at0 = &none0, sum0 = 0x0.0p+0;
        double lone0 = 0x0.0p+0;
        for (; !has_ended && i < end; ++i) {
            const int j = 0;
            if (LM_UNLIKELY((uint64_t)p0[i] >= length0)) {
                has_ended = 1;
                break;
            }
            const double g_i0[1] = {*(const double *)((const char *)t_i0 + p0[i + j] * by[2])};
            double o0[1];
            element0(o0 + j, g_i0[j]);
            lone0 = combine0(lone0, o0[j]);
            double *const to0 = (double *)((char *)s0 + p1[i + j] * by[1]);
            if (to0 != at0) { *at0 = sum0; at0 = to0; sum0 = *to0; }
            sum0 = combine0(sum0, o0[j]);
            (void)o0;
        }
        *at0 = sum0;
        a0[0] = combine0(a0[0], lone0);
        #pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) total0[j] = combine0(total0[j], a0[j]);
        for (int j = 0; j < 4; ++j) a0[j] = 0x0.0p+0;
    }
    #pragma GCC unroll 1
    for (int h = 2; h > 0; h /= 2)
    #pragma GCC unroll 1
        for (int j = 0; j < h; ++j) total0[j] = combine0(total0[j], total0[j + h]);
    *(double *)data[0] = total0[0];
    return i;
}

static void merge0(char *const to, const char *const from)
{
    *(double *)to = combine0(*(double *)to, *(const double *)from);
}

static const lm_indexed_pass indexed0 = {pass0, 0, 1, 1, 3, 3, 4, 2, (const lm_int[]){8, 8, 8, 8}, (const int[]){3, 3}, (void (*const[])(char *, const char *)){merge0}};

/* IndexedElemwise(float64[?], int64[?], float64[?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array1 x0 = *(const lm_array1 *)operands[0];
    const lm_array1 x1 = *(const lm_array1 *)operands[1];
    const lm_array1 x2 = *(const lm_array1 *)operands[2];
    lm_array0 *const z0 = operands[3];
    lm_array1 *const z1 = operands[4];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, z0, &type2, 0, NULL) < 0)) return -1;
    double acc0;
    z1->shape[0] = x2.shape[0];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z1, &type0, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 1, z1->shape, z1->data, z1->strides, x2.data, x2.strides);
    const int status = call->serve->pass_at(call, &indexed0, x1.shape[0], (char *const[]){(char *)&acc0, z1->data, x0.data, x1.data},
                                            (const lm_int[]){0, z1->strides[0], x0.strides[0], x1.strides[0]}, (const lm_int[]){x0.shape[0], x2.shape[0]}, 0);
    if (LM_UNLIKELY(status != 0)) return status;
    *(double *)z0->data = acc0;
    return 0;
}

static const lm_variable variables[] = {
    {0, 0, &type0},
    {32, 0, &type1},
    {64, 0, &type2},
    {80, 0, &type0},
};

static const lm_step steps[] = {
    /* 0: v2, v3 = IndexedElemwise(v0, v1, v0) */
    {step0, 3, 2, 0, (const int[]){0, 1, 0, 2, 3}},
};

static const int outputs[] = {2, 3};
static const unsigned char overwritten[] = {0, 0};

__attribute__((visibility("default"))) const lm_program lamella_program = {
    2, 0, 4, 2, 1, 5, 128, variables, outputs, overwritten, steps, NULL,
};
