LM_DECLARE_ARRAY(2);

static const lm_type type0 = {LM_FLOAT64, 2, 8, (const lm_int[]){-1, -1}, 0};
static const lm_type type1 = {LM_INT64, 1, 8, (const lm_int[]){-1}, 0};
static const lm_type type2 = {LM_FLOAT32, 2, 4, (const lm_int[]){1, -1}, 0};

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

LM_SHORT_VECTORS void row0(const lm_int n, char *const *const rows)
{
    const double *const x = (const double *)rows[1];
    double extreme = x[0];
    lm_int at = 0;
    if (n < 32) {
        for (lm_int k = 1; k < n; ++k) {
            const double element = x[k];
            if (element > extreme || (element != element && extreme == extreme)) {
                extreme = element;
                at = k;
            }
        }
        *(int64_t *)rows[0] = at;
        return;
    }
    const lm_int ahead = n < 4096 ? n : 4096;
    /* Where the last step begins: some of its elements may be of the one before, too. */
    const double *const last = x + n - 32;
    for (lm_int k = 0, steps; k < n; k += steps * 32) {
        const double *const begin = x + k;
        steps = (n - k - 1) / 32 + 1;
        if (steps > 16384) steps = 16384;
        double here[8], best = x[0];
        int64_t place[8] = {0};
        int64_t unordered[8] = {0}, any = 0;
        for (int j = 0; j < 8; ++j) here[j] = best;
        for (lm_int step = 0; step < steps; ++step) {
            const double *const next = begin + step * 32, *const from = next < last ? next : last;
            LM_ASK_FOR(from + ahead + 0);
            LM_ASK_FOR(from + ahead + 8);
            LM_ASK_FOR(from + ahead + 16);
            LM_ASK_FOR(from + ahead + 24);
#pragma omp simd
            for (int j = 0; j < 8; ++j) {
                const double x0 = from[0 + j]; const double x1 = from[8 + j]; const double x2 = from[16 + j]; const double x3 = from[24 + j];
                const double y0 = x0 > x1 ? x0 : x1; const double y2 = x2 > x3 ? x2 : x3;
                const double y = y0 > y2 ? y0 : y2;
                const int64_t better = y > here[j] ? (int64_t)step : 0;
                place[j] = place[j] > better ? place[j] : better;
                here[j] = y > here[j] ? y : here[j];
                unordered[j] |= __builtin_isunordered(x0, x1) | __builtin_isunordered(x2, x3);
            }
        }
#pragma omp simd reduction(|:any)
        for (int j = 0; j < 8; ++j) any |= unordered[j];
        if (any) {
            for (at = k; x[at] == x[at];) ++at;
            *(int64_t *)rows[0] = at;
            return;
        }
#pragma omp simd reduction(max:best)
        for (int j = 0; j < 8; ++j) best = here[j] > best ? here[j] : best;
        if (k == 0 || best > extreme) {
            lm_int first = steps;
#pragma omp simd reduction(min:first)
            for (int j = 0; j < 8; ++j) {
                const lm_int step = here[j] == best ? place[j] : steps;
                first = step < first ? step : first;
            }
            const double *const next = begin + first * 32, *const from = next < last ? next : last;
            lm_int inside = 32;
#pragma omp simd reduction(min:inside)
            for (int j = 0; j < 32; ++j) {
                const lm_int found = from[j] == best ? j : 32;
                inside = found < inside ? found : inside;
            }
            extreme = best;
            at = from - x + inside;
        }
    }
    *(int64_t *)rows[0] = at;
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
