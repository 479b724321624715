/* Products of matrices in blocks that stay near the processor: c = alpha * a @ b, or c += alpha * a @ b.

       b, some hundred rows:   | panel | panel | ...    copied one by one, so that its rows follow each other
       a, 8 rows, or 4:        as they lie              each element is multiplied by the row of the panel that it belongs to
       c, 8 rows of a panel:   in registers meanwhile   3 vectors a row

   While tiles of c are computed, memory is asked for what comes next. In which order products are added up depends on lengths alone. */

/* c = alpha * a @ b if c is `fresh`, otherwise added to it, and 1; or 0 where that is better left to a BLAS. */
static int lm_multiply_blocks(
    lm_call *call, lm_dtype dtype, lm_matrix c, const void *alpha, lm_matrix a, lm_matrix b, int fresh);

#if defined(__x86_64__) && defined(__GNUC__)

enum { LM_TILE_ROWS = 8, LM_TILE_VECTORS = 3, LM_VECTOR_BYTES = 64 };

/* Rows of a panel, at most: products that are added up before their sum is added to others. */
#define LM_PANEL_ROWS 384

/* Rows of a that all panels pass by before others: as many as have some bytes, which stay in a cache; but not fewer than these. */
#define LM_PASSED_BYTES (1 << 22)
#define LM_LEAST_PASSED 256

/* Rows of a panel that are written together where elements of b lie side by side in columns. */
#define LM_TRANSPOSED_ROWS 64

/* Rows of a for which a panel is copied: more of them where elements of b lie side by side in columns, but not so many that it would be
   copied often. */
#define LM_ENOUGH_TILED_ROWS 16
#define LM_ENOUGH_TRANSPOSED_ROWS 64

/* Multiplications from which on it pays; from which on threads share them. */
#define LM_LEAST_BLOCKS 1.2e6
#define LM_SHARED_BLOCKS 4e6

/* Some rows of c in the columns of a panel. A line of memory is asked for with each row of the panel: eight of them `down` from one to the next,
   then again, `along` from there. */
typedef struct {
    const char *a;
    const void *b; /* the panel */
    char *c;
    const void *alpha;
    lm_int inner, a_row, a_column, c_row;
    int fresh;
    const char *next;
    lm_int down, along;
} lm_tile;

/* What there is for a dtype: functions that compute a tile of 4 or 8 rows and 1 to 3 vectors; that write a part of a computed tile; that copy a
   panel of whole vectors. */
typedef struct {
    lm_int itemsize;
    void (*run[2][LM_TILE_VECTORS])(const lm_tile *);
    void (*put)(const lm_tile *, lm_int skipped, lm_int rows, lm_int columns, const char *from, lm_int by);
    void (*pack)(char *to, const char *from, lm_int by, lm_int rows, int vectors);
} lm_tile_kernels;

#define LM_BLOCK_TARGET LM_SMALL_PRODUCT_SPEED __attribute__((target("avx512f,avx2,fma")))

#define LM_TILE_OF(V, m, n) \
    LM_BLOCK_TARGET static void lm_multiply_tile_##V##_##m##_##n(const lm_tile *const p) { lm_multiply_tile_##V(p, m, n); }

#define LM_MULTIPLY_TILE(V, T) \
    LM_BLOCK_TARGET static inline __attribute__((always_inline)) void lm_multiply_tile_##V( \
        const lm_tile *const p, const int m, const int n) \
    { \
        const lm_int by = p->a_row, by_3 = 3 * by, inner = p->inner; \
        V sum[LM_TILE_ROWS][LM_TILE_VECTORS]; \
        LM_UNROLLED for (int i = 0; i < m; ++i) LM_UNROLLED for (int v = 0; v < n; ++v) sum[i][v] = (V){0}; \
        const V *b = p->b; \
        const char *a0 = p->a, *a4 = a0 + 4 * by; \
        char *c = p->c; \
        LM_UNROLLED for (int i = 0; i < m; ++i) LM_UNROLLED for (int v = 0; v <= n; ++v) \
            __builtin_prefetch(c + i * p->c_row + v * LM_VECTOR_BYTES, 1); \
        for (lm_int k = 0; k < inner; ++k, b += n, a0 += p->a_column, a4 += p->a_column) { \
            __builtin_prefetch(p->next + k % 8 * p->down + k / 8 * p->along, 0, 2); \
            LM_UNROLLED for (int i = 0; i < m; ++i) \
            { \
                const char *const from = i < 4 ? a0 : a4; \
                const T x = *(const T *)(from + (i % 4 == 3 ? by_3 : i % 4 * by)); \
                LM_UNROLLED for (int v = 0; v < n; ++v) sum[i][v] += x * b[v]; \
            } \
        } \
        const T alpha = *(const T *)p->alpha; \
        if (p->fresh) \
            LM_UNROLLED for (int i = 0; i < m; ++i, c += p->c_row) LM_UNROLLED for (int v = 0; v < n; ++v) \
                ((V##_loose *)c)[v] = alpha * sum[i][v]; \
        else \
            LM_UNROLLED for (int i = 0; i < m; ++i, c += p->c_row) LM_UNROLLED for (int v = 0; v < n; ++v) \
                ((V##_loose *)c)[v] += alpha * sum[i][v]; \
    } \
    LM_TILE_OF(V, 4, 1) LM_TILE_OF(V, 4, 2) LM_TILE_OF(V, 4, 3) LM_TILE_OF(V, 8, 1) LM_TILE_OF(V, 8, 2) LM_TILE_OF(V, 8, 3) \
    static void lm_put_tile_##V( \
        const lm_tile *const p, const lm_int skipped, const lm_int rows, const lm_int columns, const char *const from, \
        const lm_int by) \
    { \
        for (lm_int i = skipped; i < rows; ++i) \
            for (lm_int j = 0; j < columns; ++j) { \
                T *const to = (T *)(p->c + i * p->c_row) + j; \
                const T x = ((const T *)(from + i * by))[j]; \
                *to = p->fresh ? x : *to + x; \
            } \
    } \
    LM_BLOCK_TARGET static void lm_pack_##V( \
        char *const packed, const char *from, const lm_int by, const lm_int rows, const int vectors) \
    { \
        V *to = (V *)packed; \
        for (lm_int k = 0; k < rows; ++k, to += vectors, from += by) \
            for (int v = 0; v < vectors; ++v) to[v] = ((const V##_loose *)from)[v]; \
    } \
    static const lm_tile_kernels lm_tile_kernels_##V = { \
        sizeof(T), \
        {{lm_multiply_tile_##V##_4_1, lm_multiply_tile_##V##_4_2, lm_multiply_tile_##V##_4_3}, \
         {lm_multiply_tile_##V##_8_1, lm_multiply_tile_##V##_8_2, lm_multiply_tile_##V##_8_3}}, \
        lm_put_tile_##V, lm_pack_##V};

LM_MULTIPLY_TILE(lm_doubles_512, double)
LM_MULTIPLY_TILE(lm_floats_512, float)

static lm_int lm_ceiling(const lm_int n, const lm_int by)
{
    return (n + by - 1) / by;
}

typedef struct {
    lm_matrix c, a, b;
    const void *alpha;
    const lm_tile_kernels *kernels;
    lm_int itemsize, wide; /* of a panel: columns */
    int fresh, by_rows;    /* whether parts are rows of c; else they are columns */
    lm_int grain, grains;  /* as many rows or columns belong together; how often they do */
    int parts;
    lm_int rows_at_once; /* of a, which all panels pass by */
    char *panels;        /* memory for a panel of each part */
    lm_int panel_size;
} lm_blocks;

/* Copy a panel of b, and zeros that fill its last vectors. */
static void lm_pack_panel(
    const lm_blocks *const all, const lm_int inner, const lm_int columns, const int vectors, char *const to, const char *const from)
{
    const lm_int size = all->itemsize, row = vectors * LM_VECTOR_BYTES, down = all->b.row_stride, across = all->b.column_stride;
    if (columns * size == row && across == size) {
        all->kernels->pack(to, from, down, inner, vectors);
        return;
    }
    if (columns * size < row) memset(to, 0, (size_t)(inner * row));
    if (across == size)
        for (lm_int k = 0; k < inner; ++k) memcpy(to + k * row, from + k * down, (size_t)(columns * size));
    else
        for (lm_int k = 0; k < inner; k += LM_TRANSPOSED_ROWS)
            for (lm_int j = 0; j < columns; ++j)
                lm_copy_kernel(size)(
                    inner - k < LM_TRANSPOSED_ROWS ? inner - k : LM_TRANSPOSED_ROWS,
                    (char *const[]){to + k * row + j * size, (char *)from + k * down + j * across}, (const lm_int[]){row, down});
}

/* Multiply `rows` of a by a panel of `columns`; the first ones are `skipped` where c is written. */
static void lm_multiply_tile(
    const lm_blocks *const all, const lm_tile *const tile, const lm_int rows, const lm_int skipped, const lm_int columns,
    const int vectors)
{
    void (*const run)(const lm_tile *) = all->kernels->run[rows / LM_TILE_ROWS][vectors - 1];
    if (skipped == 0 && columns * all->itemsize == vectors * LM_VECTOR_BYTES) {
        run(tile);
        return;
    }
    _Alignas(LM_VECTOR_BYTES) char whole[LM_TILE_ROWS * LM_TILE_VECTORS * LM_VECTOR_BYTES];
    lm_tile part = *tile;
    part.c = whole;
    part.c_row = vectors * LM_VECTOR_BYTES;
    part.fresh = 1;
    run(&part);
    all->kernels->put(tile, skipped, rows, columns, whole, part.c_row);
}

/* Some rows and columns of b. */
typedef struct {
    const char *from;
    lm_int begin, inner, j, columns;
} lm_panel;

/* The panel that comes as the `number`th of those from column `first` to before `end`: blocks of rows one below the other, then the next columns. */
static lm_panel lm_panel_at(const lm_blocks *const all, const lm_int number, const lm_int first, const lm_int end)
{
    const lm_int inner = all->b.rows, blocks = lm_ceiling(inner, LM_PANEL_ROWS), block = number % blocks;
    lm_panel panel = {.begin = inner * block / blocks, .j = first + number / blocks * all->wide};
    panel.inner = inner * (block + 1) / blocks - panel.begin;
    panel.columns = panel.j >= end ? 0 : end - panel.j < all->wide ? end - panel.j : all->wide;
    panel.from = all->b.data + panel.begin * all->b.row_stride + panel.j * all->b.column_stride;
    return panel;
}

/* Say what a tile is to ask for: the next panel, a line of each row, while there is one and tiles for all its lines; else the next rows of a. */
static void lm_ask_for_next(const lm_blocks *const all, lm_tile *const tile, const lm_int number, const lm_panel *const next)
{
    const lm_int line = number * LM_VECTOR_BYTES, row = next->columns * all->itemsize;
    if (all->b.column_stride == all->itemsize && row > 0 && line < row + LM_VECTOR_BYTES) {
        tile->next = next->from + (line < row ? line : row - 1);
        tile->down = all->b.row_stride;
        tile->along = 8 * tile->down;
        return;
    }
    tile->next = tile->a + LM_TILE_ROWS * tile->a_row;
    tile->down = tile->a_row == all->itemsize ? tile->a_column : tile->a_row;
    tile->along = tile->a_row == all->itemsize ? 8 * tile->down : LM_VECTOR_BYTES;
}

/* Multiply rows of a by a panel. */
static void lm_multiply_panel(
    const lm_blocks *const all, const lm_int first, const lm_int last, char *const packed, const lm_panel *const panel,
    const lm_panel *const next)
{
    const int vectors = (int)lm_ceiling(panel->columns * all->itemsize, LM_VECTOR_BYTES);
    lm_pack_panel(all, panel->inner, panel->columns, vectors, packed, panel->from);
    lm_tile tile = {
        .b = packed, .alpha = all->alpha, .inner = panel->inner, .a_row = all->a.row_stride, .a_column = all->a.column_stride,
        .c_row = all->c.row_stride, .fresh = all->fresh && panel->begin == 0};
    for (lm_int i = first, number = 0; i < last; i += LM_TILE_ROWS, ++number) {
        /* The last rows are a tile with some before them, which are there already. */
        const lm_int rows = last - i < LM_TILE_ROWS ? last - i : LM_TILE_ROWS;
        const lm_int high = rows > LM_TILE_ROWS / 2 ? LM_TILE_ROWS : LM_TILE_ROWS / 2, at = i + rows - high;
        tile.a = all->a.data + at * all->a.row_stride + panel->begin * all->a.column_stride;
        tile.c = all->c.data + at * all->c.row_stride + panel->j * all->c.column_stride;
        lm_ask_for_next(all, &tile, number, next);
        lm_multiply_tile(all, &tile, high, high - rows, panel->columns, vectors);
    }
}

static void lm_multiply_blocks_part(void *const data, const int part)
{
    const lm_blocks *const all = data;
    const lm_int length = all->by_rows ? all->c.rows : all->c.columns, begin = all->grains * part / all->parts * all->grain;
    const lm_int after = all->grains * (part + 1) / all->parts * all->grain, end = after < length ? after : length;
    const lm_int rows = all->by_rows ? end : all->c.rows, j = all->by_rows ? 0 : begin, columns = all->by_rows ? all->c.columns : end;
    for (lm_int i = all->by_rows ? begin : 0, last; i < rows; i = last) {
        last = rows - i < all->rows_at_once ? rows : i + all->rows_at_once;
        lm_panel panel = lm_panel_at(all, 0, j, columns), next;
        for (lm_int number = 1; panel.columns > 0; ++number, panel = next) {
            next = lm_panel_at(all, number, j, columns);
            lm_multiply_panel(all, i, last, all->panels + part * all->panel_size, &panel, &next);
        }
    }
}

static int lm_multiply_blocks(
    lm_call *const call, const lm_dtype dtype, lm_matrix c, const void *const alpha, lm_matrix a, lm_matrix b, const int fresh)
{
    if (dtype != LM_FLOAT64 && dtype != LM_FLOAT32) return 0;
    const lm_tile_kernels *const kernels = dtype == LM_FLOAT64 ? &lm_tile_kernels_lm_doubles_512 : &lm_tile_kernels_lm_floats_512;
    const lm_int itemsize = kernels->itemsize, wide = LM_TILE_VECTORS * LM_VECTOR_BYTES / itemsize;
    /* On other processors a BLAS is as fast, as far as is known. */
    if (!lm_is_amd() || !lm_has_wide_vectors()) return 0;
    if (c.column_stride != itemsize) {
        const lm_matrix left = lm_transposed(b);
        b = lm_transposed(a);
        a = left;
        c = lm_transposed(c);
    }
    const double multiplications = (double)c.rows * (double)c.columns * (double)a.columns;
    if (c.column_stride != itemsize || c.columns < wide || multiplications < LM_LEAST_BLOCKS) return 0;
    const lm_int fitting = LM_PASSED_BYTES / (b.rows * itemsize) / LM_TILE_ROWS * LM_TILE_ROWS;
    const lm_int rows_at_once = fitting < LM_LEAST_PASSED ? LM_LEAST_PASSED : fitting;
    if (c.rows < LM_ENOUGH_TILED_ROWS) return 0;
    if (b.column_stride != itemsize && (c.rows < LM_ENOUGH_TRANSPOSED_ROWS || c.rows > 2 * rows_at_once)) return 0;
    lm_blocks all = {
        .c = c, .a = a, .b = b, .alpha = alpha, .kernels = kernels, .itemsize = itemsize, .wide = wide, .fresh = fresh,
        .by_rows = c.rows > c.columns, .rows_at_once = rows_at_once, .parts = 1};
    all.grain = all.by_rows ? LM_TILE_ROWS : wide;
    all.grains = lm_ceiling(all.by_rows ? c.rows : c.columns, all.grain);
    if (multiplications >= LM_SHARED_BLOCKS) all.parts = call->threads < all.grains ? call->threads : (int)all.grains;
    all.panel_size = (b.rows < LM_PANEL_ROWS ? b.rows : LM_PANEL_ROWS) * LM_TILE_VECTORS * LM_VECTOR_BYTES;
    char *const memory = malloc((size_t)(all.parts * all.panel_size + LM_VECTOR_BYTES));
    if (memory == NULL) return 0;
    all.panels = memory + LM_VECTOR_BYTES - (uintptr_t)memory % LM_VECTOR_BYTES;
    void *const unlocked = call->serve->unlock();
    lm_parallel(call, all.parts, lm_multiply_blocks_part, &all);
    if (unlocked != NULL) call->serve->lock(unlocked);
    free(memory);
    return 1;
}

#else

static int lm_multiply_blocks(
    lm_call *const call, const lm_dtype dtype, const lm_matrix c, const void *const alpha, const lm_matrix a, const lm_matrix b,
    const int fresh)
{
    (void)call, (void)dtype, (void)c, (void)alpha, (void)a, (void)b, (void)fresh;
    return 0;
}

#endif
