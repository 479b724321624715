LM_DECLARE_ARRAY(2);

static const lm_type type0 = {LM_FLOAT64, 2, 8, (const lm_int[]){-1, -1}, 0};
static const lm_type type1 = {LM_INT64, 1, 8, (const lm_int[]){-1}, 0};
static const lm_type type2 = {LM_FLOAT32, 2, 4, (const lm_int[]){1, -1}, 0};

static inline double combine0(const double acc, const double x)
{
    const double t0 = lm_maximum_f64(acc, x);
    return t0;
}

static inline double compare0(const double x, const double y) { return x > y ? x : y; }

LM_ALONE double total0(const lm_int n, const double *const x, const double first)
{
    double lane[16], total = first;
    int64_t unordered[16] = {0}, any = 0;
    const lm_int steps = n / 64, part = steps * 16;
    /* What is left over comes first, where sums are small. */
    lm_int k = n / 16 * 16;
#pragma GCC unroll 1
    for (; k < n; ++k) total = combine0(total, x[k]);
    if (n < 16) return total;
    for (int j = 0; j < 16; ++j) lane[j] = first;
    lane[0] = total;
    unordered[0] = total != total;
    for (k = 4 * part; k + 16 <= n; k += 16)
#pragma omp simd
        for (int j = 0; j < 16; ++j) { lane[j] = compare0(lane[j], x[k + j]); unordered[j] |= __builtin_isunordered(x[k + j], x[k + j]); }
    for (k = 0; k < part; k += 16)
#pragma omp simd
        for (int j = 0; j < 16; ++j) { lane[j] = compare0(lane[j], compare0(compare0(x[k + j], x[k + j + part]), compare0(x[k + j + 2 * part], x[k + j + 3 * part]))); unordered[j] |= __builtin_isunordered(x[k + j], x[k + j + part]) | __builtin_isunordered(x[k + j + 2 * part], x[k + j + 3 * part]); }
#pragma omp simd reduction(|:any)
    for (int j = 0; j < 16; ++j) any |= unordered[j];
    if (any) {
        for (k = 0; x[k] == x[k];) ++k;
        return x[k];
    }
#pragma GCC unroll 1
    for (int h = 8; h > 0; h /= 2)
#pragma GCC unroll 1
        for (int j = 0; j < h; ++j) lane[j] = combine0(lane[j], lane[j + h]);
    return lane[0];
}

static void row0(const lm_int n, char *const *const rows)
{
    const double *const x = (const double *)rows[1];
    lm_int at = 0;
    double extreme = total0(n < 1024 ? n : 1024, x, x[0]);
    for (lm_int i = 1024; i < n; i += 1024) {
        const double other = total0(n - i < 1024 ? n - i : 1024, x + i, x[i]);
        if (other > extreme || (other != other && extreme == extreme)) {
            extreme = other;
            at = i;
        }
    }
    if (extreme != extreme) {
        const int j = 0;
        while (x[at + j] == x[at + j]) ++at;
        *(int64_t *)rows[0] = at;
        return;
    }
    for (; at + 16 <= n; at += 16) {
        int any = 0;
        __builtin_prefetch(x + n + at);
        __builtin_prefetch(x + n + at + 8);
#pragma omp simd reduction(|:any)
        for (int j = 0; j < 16; ++j) any |= (x[at + j] == extreme);
        if (any) break;
    }
    const int j = 0;
    while (!((x[at + j] == extreme))) ++at;
    *(int64_t *)rows[0] = at;
}

LM_ALONE void columns0(
    const lm_int n, const lm_int m, const char *const x, const lm_int by, char *const z, const lm_int apart)
{
    double extreme[512], here[512];
    int64_t place[512];
    for (lm_int s = 0; s < m; s += 512)
        for (lm_int i = 0, wide = m - s < 512 ? m - s : 512; i < n; i += 16384) {
            const int high = n - i < 16384 ? (int)(n - i) : 16384;
            const double *row = (const double *)(x + i * by) + s;
            for (lm_int j = 0; j < wide; ++j) {
                here[j] = row[j];
                place[j] = 0;
            }
            for (int r = 1; r < high; ++r) {
                row = (const double *)((const char *)row + by);
#pragma omp simd
                for (lm_int j = 0; j < wide; ++j) {
                    const double element = row[j];
                    const int is_better = (element > here[j]) | ((element != element) & (here[j] == here[j]));
                    here[j] = is_better ? element : here[j];
                    place[j] = is_better ? (int64_t)r : place[j];
                }
            }
            for (lm_int j = 0; j < wide; ++j)
                if (i == 0 || ((here[j] > extreme[j]) | ((here[j] != here[j]) & (extreme[j] == extreme[j])))) {
                    extreme[j] = here[j];
                    *(int64_t *)(z + (s + j) * apart) = i + place[j];
                }
        }
}

static const lm_row_kernel rows0 = {row0, 1, 2, (const lm_int[]){0, 8}, columns0};

/* Argmax(float64[?, ?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array1 *const z0 = operands[1];
    if (LM_UNLIKELY(!(x0.shape[0] > 0))) return LM_REFER;
    z0->shape[0] = x0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type1, 0, NULL) < 0)) return -1;
    if (LM_UNLIKELY(call->serve->rows(call, &rows0, x0.shape[0], (const lm_int[]){0, x0.strides[0]}, 1, (const lm_int[]){z0->shape[0]}, (char *const[]){z0->data, x0.data}, (const lm_int *const[]){(const lm_int[]){z0->strides[0]}, (const lm_int[]){x0.strides[1]}}) < 0)) return -1;
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
