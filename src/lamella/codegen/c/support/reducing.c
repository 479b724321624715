/* Reductions: elements, as they lie in memory or as a kernel computes them, are combined with the accumulators they belong to.

   The two innermost axes of a nest of loops are gone through in tiles. Sums are made pairwise: inside of a tile, and of the sums of tiles,
   which wait for their like. Which elements are added up with which depends on shapes alone, not on how many threads there are. */

/* Elements of a vector that are too few for anything but computing them all and reducing them; accumulators that are combined as they are. */
#define LM_SHORT 128

/* Rows that are combined element by element before the accumulators are, and how many elements these have at most. */
#define LM_COMBINED_ROWS 16
#define LM_LONGEST_COMBINED 1024

/* Bytes of elements that are computed at once. */
#define LM_COMPUTED_BYTES 16384

/* Elements from which on what is read is seldom in a cache; and how many are computed while the next ones are on their way from memory. The
   processor, which sees by itself what will be read, begins anew at each page. */
#define LM_FAR 131072
#define LM_ON_THE_WAY 512

/* Where the processor reads on: elements from which on tiles of columns are short, and how many are computed at once then. */
#define LM_VERY_FAR 1048576
#define LM_SHORT_TILE 256

#define LM_LARGEST_ITEM 16

/* Accumulators that stay in the nearest cache. */
#define LM_STRIP 4096

/* Elements from which on a reduction is done in pieces, each with accumulators of its own; and how many of these at most. */
#define LM_PIECE 65536
#define LM_MOST_PIECES 64

/* Rows that are added to each other from which on pieces of them have accumulators of their own; and how many of these at most. Rows with an
   accumulator each that are so few that pieces of them have, too. */
#define LM_MANY_ROWS 256
#define LM_MOST_PIECES_OF_ROWS 16
#define LM_TOO_FEW_ROWS 32

typedef struct {
    const lm_reducer *how;
    int depth, n;
    lm_int *length;  /* of each axis, the innermost one last */
    lm_int *step;    /* for each axis, the stride of each operand */
    char **data;
    int axis;        /* what is divided into pieces */
    lm_int pieces, grain; /* how many, about equally long; multiples of this */
    int *is_final;   /* where the only accumulator has pieces: whether one of these says what the result is; else NULL */
    char *partial;   /* accumulators of the pieces; NULL where each piece has a part of the others to itself */
    lm_int partial_size;
    lm_int tile;     /* elements that are computed at once */
    lm_int tile_of_columns; /* the same where columns have an accumulator each */
    int asks_memory; /* whether what is computed next is asked for */
    const lm_int *place; /* for each output, where in the accumulators of a piece its own are; -1 for elements as such */
} lm_reducing;

/* Totals of tiles wait for their like: they are the leaves of a tree whose branches divide all elements into halves, as nearly as tiles allow. */
typedef struct {
    char *to;        /* the accumulator that they belong to */
    double all;      /* elements of it */
    lm_int done;     /* elements of the totals that came */
    uint64_t middle; /* where among all elements the last total had its middle */
    int n;
    uint64_t border[64]; /* between a total that waits and the one before: the less, the deeper in the tree are they together */
    _Alignas(LM_LARGEST_ITEM) char total[64][LM_LARGEST_ITEM];
} lm_waiting;

typedef struct {
    lm_waiting *waiting;   /* for each output */
    char *lanes;           /* accumulators of a vector */
    char *const *computed; /* for each result, memory for elements */
} lm_scratch;

/* Combine the last of the totals that wait with the one before it. */
static void lm_combine_last(lm_waiting *const waiting, const lm_reduction *const how)
{
    --waiting->n;
    how->merge(1, 1, waiting->total[waiting->n], 0, waiting->total[waiting->n - 1]);
}

static void lm_finish_waiting(lm_waiting *const waiting, const lm_reduction *const how)
{
    while (waiting->n > 1) lm_combine_last(waiting, how);
    if (waiting->n == 1) how->merge(1, 1, waiting->total[0], 0, waiting->to);
    waiting->n = 0;
    waiting->done = 0;
}

/* Add the total of `count` elements of the accumulator at `to`. The border to the total before is the highest digit in which the middles of the
   two differ: between two borders of one digit there is a higher one. */
static void lm_add_total(
    lm_waiting *const waiting, const lm_reduction *const how, const lm_int count, const char *const total, char *const to)
{
    if (waiting->to != to) {
        lm_finish_waiting(waiting, how);
        waiting->to = to;
    }
    const double middle = ((double)waiting->done + (double)count / 2) / waiting->all;
    const uint64_t digits = (uint64_t)((middle < 1 ? middle : 1) * 0x1p62), border = digits ^ waiting->middle;
    while (waiting->n > 1 && waiting->border[waiting->n - 1] <= border) lm_combine_last(waiting, how);
    waiting->border[waiting->n] = border;
    waiting->middle = digits;
    waiting->done += count;
    memcpy(waiting->total[waiting->n++], total, (size_t)how->accumulator_size);
}

/* Begin `n` accumulators, where one of those that they are combined with in the end is at `to`. */
static void lm_begin_lanes(const lm_reduction *const how, char *const lanes, const lm_int n, const char *const to)
{
    lm_fill(lanes, how->identity != NULL ? how->identity : to, (size_t)how->accumulator_size, (size_t)n);
}

/* The same for those of some elements: where there is no identity, the elements may be combined with themselves. */
static void lm_begin_columns(const lm_reduction *const how, char *const lanes, const lm_int n, const char *const x)
{
    if (how->identity != NULL) lm_begin_lanes(how, lanes, n, NULL);
    else memcpy(lanes, x, (size_t)(n * how->size));
}

/* Combine `n` accumulators with one, and forget them. */
static void lm_reduce_lanes(const lm_reduction *const how, char *const lanes, lm_int n, char *const to)
{
    const lm_int size = how->accumulator_size;
    for (lm_int width = n / 5; n > LM_SHORT; n -= 4 * width, width = n / 5)
        how->merge(width, 4, lanes + (n - 4 * width) * size, width * size, lanes);
    if (how->merge == how->columns) {
        how->rows(n, 1, lanes, 0, to);
        return;
    }
    for (; n > 1; n -= n / 2) how->merge(n / 2, 1, lanes + (n - n / 2) * size, 0, lanes);
    how->merge(1, 1, lanes, 0, to);
}

/* Combine all elements of `m` rows with one accumulator. */
static void lm_reduce_all(
    const lm_scratch *const scratch, lm_waiting *const waiting, const lm_reduction *const how, const lm_int n, const lm_int m,
    const char *const x, const lm_int by, char *const to)
{
    _Alignas(LM_LARGEST_ITEM) char total[LM_LARGEST_ITEM];
    if (m == 1 || by == n * how->size) {
        if (how->final != NULL) {
            how->rows(n * m, 1, x, 0, to);
            return;
        }
        lm_begin_lanes(how, total, 1, to);
        how->rows(n * m, 1, x, 0, total);
        lm_add_total(waiting, how, n * m, total, to);
        return;
    }
    const lm_int most = n > LM_LONGEST_COMBINED ? 1 : LM_COMBINED_ROWS * (n < 64 ? 4 : 1);
    for (lm_int r = 0; r < m; r += most) {
        if (most == 1) {
            lm_reduce_all(scratch, waiting, how, n, 1, x + r * by, by, to);
            continue;
        }
        const lm_int high = m - r < most ? m - r : most;
        lm_begin_columns(how, scratch->lanes, n, x + r * by);
        how->columns(n, high, x + r * by, by, scratch->lanes);
        lm_begin_lanes(how, total, 1, to);
        lm_reduce_lanes(how, scratch->lanes, n, total);
        lm_add_total(waiting, how, n * high, total, to);
    }
}

/* Combine each of `m` rows with an accumulator of its own, `apart` bytes from the one before it. */
static void lm_reduce_rows(
    const lm_reduction *const how, const lm_int n, const lm_int m, const char *const x, const lm_int by, char *const to,
    const lm_int apart)
{
    if (apart == how->accumulator_size) how->rows(n, m, x, by, to);
    else
        for (lm_int r = 0; r < m; ++r) how->rows(n, 1, x + r * by, 0, to + r * apart);
}

/* Combine each of `n` columns with an accumulator of its own. */
static void lm_reduce_columns(
    const lm_reduction *const how, const lm_int n, const lm_int m, const char *const x, const lm_int by, char *const to,
    const lm_int apart)
{
    enum { FEW = 32, MANY = 64 };
    if (apart != how->accumulator_size) {
        for (lm_int i = 0; i < n; ++i) how->columns(1, m, x + i * how->size, by, to + i * apart);
        return;
    }
    const lm_int side_by_side = MANY / n;
    if (n > FEW || by != n * how->size || m < 4 * side_by_side) {
        how->columns(n, m, x, by, to);
        return;
    }
    /* Short rows: several of them are one, with more accumulators. */
    _Alignas(64) char wide[MANY * LM_LARGEST_ITEM];
    for (lm_int k = 0; k < side_by_side; ++k) {
        char *const lanes = wide + k * n * how->accumulator_size;
        if (how->identity != NULL) lm_begin_lanes(how, lanes, n, NULL);
        else memcpy(lanes, to, (size_t)(n * how->accumulator_size));
    }
    how->columns(n * side_by_side, m / side_by_side, x, by * side_by_side, wide);
    how->merge(n, side_by_side, wide, n * how->accumulator_size, to);
    const lm_int done = m / side_by_side * side_by_side;
    how->columns(n, m - done, x + done * by, by, to);
}

/* Combine the elements of a tile with their accumulators, `across` bytes apart from column to column and `down` from row to row. */
static void lm_reduce_tile(
    const lm_scratch *const scratch, const int output, const lm_reduction *const how, const lm_int n, const lm_int m,
    const char *const x, const lm_int by, char *const to, const lm_int across, const lm_int down)
{
    const int columns = across != 0 && n > 1, rows = down != 0 && m > 1;
    if (!columns && !rows) lm_reduce_all(scratch, &scratch->waiting[output], how, n, m, x, by, to);
    else if (!columns) lm_reduce_rows(how, n, m, x, by, to, down);
    else if (!rows) lm_reduce_columns(how, n, m, x, by, to, across);
    else
        for (lm_int r = 0; r < m; ++r) lm_reduce_columns(how, n, 1, x + r * by, by, to + r * down, across);
}

/* Bring elements that are not side by side into a tile. */
static void lm_gather(
    const lm_int size, const lm_int n, const lm_int m, const char *const from, const lm_int across, const lm_int down, char *to)
{
    const lm_kernel copy = lm_copy_kernel(size);
    for (lm_int r = 0; r < m; ++r, to += n * size)
        copy(n, (char *const[]){to, (char *)from + r * down}, (const lm_int[]){size, across});
}

/* Compute elements that lie one behind another, and ask memory for the next ones, if that is to be. */
static void lm_compute_run(
    const lm_reducer *const how, const int asks, lm_int n, const int n_operands, char **const place, const lm_int *const inner)
{
    for (; asks && n > LM_ON_THE_WAY; n -= LM_ON_THE_WAY) {
        for (int k = how->n_results; k < n_operands; ++k) {
            const lm_int size = inner[k] <= LM_LARGEST_ITEM ? LM_ON_THE_WAY * inner[k] : 0;
            for (lm_int byte = 0; byte < size; byte += LM_ALIGNMENT) __builtin_prefetch(place[k] + size + byte);
        }
        how->elements(LM_ON_THE_WAY, place, inner);
        for (int k = 0; k < n_operands; ++k) place[k] += LM_ON_THE_WAY * inner[k];
    }
    how->elements(n, place, inner);
}

/* Compute the elements of a tile; say where those of each result are, and how far its rows are apart. */
static void lm_compute_tile(
    const lm_reducing *const r, const lm_scratch *const scratch, const lm_int n, const lm_int m, char *const *const at,
    const lm_int *const down, const lm_int *const across, const char **const x, lm_int *const by)
{
    const lm_reducer *const how = r->how;
    const int first = how->n_outputs;
    if (how->elements == NULL) {
        x[0] = at[first];
        by[0] = down[first];
        if (n == 1 || across[first] == how->sizes[0]) return;
        lm_gather(how->sizes[0], n, m, at[first], across[first], down[first], scratch->computed[0]);
        x[0] = scratch->computed[0];
        by[0] = n * how->sizes[0];
        return;
    }
    const int n_operands = how->n_results + r->n - first;
    char *place[n_operands];
    lm_int inner[n_operands], outer[n_operands];
    for (int k = 0; k < how->n_results; ++k) {
        const int whole = how->whole[k];
        place[k] = whole < 0 ? scratch->computed[k] : at[whole];
        inner[k] = whole < 0 ? how->sizes[k] : across[whole];
        outer[k] = whole < 0 ? n * how->sizes[k] : down[whole];
        x[k] = place[k];
        by[k] = outer[k];
    }
    for (int k = first; k < r->n; ++k) {
        place[how->n_results + k - first] = at[k];
        inner[how->n_results + k - first] = across[k];
        outer[how->n_results + k - first] = down[k];
    }
    int joined = 1;
    for (int k = 0; k < n_operands; ++k) joined = joined && outer[k] == n * inner[k];
    if (joined || m == 1) lm_compute_run(how, r->asks_memory, n * m, n_operands, place, inner);
    else if (lm_are_short_rows(how->n_results, n_operands, n, m, outer, inner))
        lm_run_short_rows(how->elements, how->n_results, n_operands, how->sizes, n, m, place, outer, inner);
    else
        for (lm_int i = 0;;) {
            how->elements(n, place, inner);
            if (++i == m) break;
            for (int k = 0; k < n_operands; ++k) place[k] += outer[k];
        }
    for (int k = 0; k < how->n_results; ++k) {
        if (how->whole[k] < 0 || inner[k] == how->sizes[k] || n == 1) continue;
        lm_gather(how->sizes[k], n, m, x[k], inner[k], outer[k], scratch->computed[k]);
        x[k] = scratch->computed[k];
        by[k] = n * how->sizes[k];
    }
}

static lm_int lm_rounded_up(const lm_int x, const lm_int to) { return (x + to - 1) / to * to; }

/* Whether all outputs but elements as such are reduced along an axis, or (`kept`) none is. */
static int lm_all_reduce(const lm_reducing *const r, const int axis, const int kept)
{
    for (int k = 0; k < r->how->n_outputs; ++k)
        if (r->how->outputs[k].reduction != NULL && (r->step[axis * r->n + k] != 0) != kept) return 0;
    return 1;
}

/* Whether one accumulator is all that comes out, and may be such that no element changes it any more. */
static int lm_may_be_final(const lm_reducer *const how)
{
    return how->n_outputs == 1 && how->outputs[0].reduction != NULL && how->outputs[0].reduction->final != NULL;
}

static int lm_is_final(const lm_reduction *const how, const char *const accumulator)
{
    return memcmp(accumulator, how->final, (size_t)how->accumulator_size) == 0;
}

/* Go through the two innermost axes: `m` rows of `n` elements. */
static void lm_reduce_plane(
    const lm_reducing *const r, const lm_scratch *const scratch, const lm_int n, const lm_int m, char *const *const data,
    const lm_int *const down, const lm_int *const across)
{
    const lm_reducer *const how = r->how;
    const int is_direct = how->elements == NULL && (n == 1 || across[how->n_outputs] == how->sizes[0]);
    const int along = lm_all_reduce(r, r->depth - 1, 0);
    const lm_int strip = n < LM_STRIP || along ? n : LM_STRIP;
    /* Several rows are added to accumulators at once. A vector is cut into equal tiles, in a number of which totals have no odd one. */
    const int kept = lm_all_reduce(r, r->depth - 1, 1);
    const lm_int tile = kept ? r->tile_of_columns : r->tile, most = is_direct ? strip : kept ? tile / 4 : tile;
    lm_int width = strip;
    while (width > most) width = along ? lm_rounded_up((width + 1) / 2, 16) : most;
    const lm_int height = is_direct ? m : tile / width;
    const lm_reduction *const only = lm_may_be_final(how) && across[0] == 0 && down[0] == 0 ? how->outputs[0].reduction : NULL;

    char *at[r->n];
    const char *x[how->n_results];
    lm_int by[how->n_results];
    for (lm_int s = 0; s < n; s += strip) {
        const lm_int end = n - s < strip ? n : s + strip;
        for (lm_int i = 0; i < m; i += height) {
            const lm_int high = m - i < height ? m - i : height;
            for (lm_int c = s; c < end; c += width) {
                if (only != NULL && lm_is_final(only, data[0])) return;
                const lm_int wide = end - c < width ? end - c : width;
                for (int k = 0; k < r->n; ++k) at[k] = data[k] + i * down[k] + c * across[k];
                lm_compute_tile(r, scratch, wide, high, at, down, across, x, by);
                for (int k = 0; k < how->n_outputs; ++k) {
                    const lm_reduced *const output = &how->outputs[k];
                    if (output->reduction != NULL)
                        lm_reduce_tile(
                            scratch, k, output->reduction, wide, high, x[output->result], by[output->result], at[k], across[k],
                            down[k]);
                }
            }
        }
    }
}

static void lm_reduce_piece(void *const context, const int number)
{
    const lm_reducing *const r = context;
    const lm_reducer *const how = r->how;
    if (r->is_final != NULL && __atomic_load_n(r->is_final, __ATOMIC_RELAXED)) return;
    const lm_int grains = r->length[r->axis] / r->grain;
    const lm_int begin = grains * number / r->pieces * r->grain;
    const lm_int end = number + 1 < r->pieces ? grains * (number + 1) / r->pieces * r->grain : r->length[r->axis];
    lm_int length[r->depth], index[r->depth];
    char *at[r->n];
    for (int i = 0; i < r->depth; ++i) {
        length[i] = r->length[i];
        index[i] = 0;
    }
    length[r->axis] = end - begin;
    for (int k = 0; k < r->n; ++k) {
        const int is_partial = r->partial != NULL && k < how->n_outputs && r->place[k] >= 0;
        char *const base = is_partial ? r->partial + number * r->partial_size + r->place[k] : r->data[k];
        at[k] = base + begin * r->step[r->axis * r->n + k];
    }
    lm_waiting waiting[how->n_outputs];
    lm_int largest = 0, size = 0;
    for (int k = 0; k < how->n_outputs; ++k) {
        waiting[k].to = NULL;
        waiting[k].all = 1;
        waiting[k].done = 0;
        waiting[k].middle = 0;
        waiting[k].n = 0;
        for (int i = 0; i < r->depth; ++i)
            if (r->step[i * r->n + k] == 0) waiting[k].all *= (double)length[i];
        const lm_reduction *const reduction = how->outputs[k].reduction;
        if (reduction != NULL && reduction->accumulator_size > largest) largest = reduction->accumulator_size;
    }
    for (int k = 0; k < how->n_results; ++k) size += how->sizes[k];
    _Alignas(64) char lanes[LM_LONGEST_COMBINED * largest + 1], memory[size * r->tile];
    char *computed[how->n_results];
    size = 0;
    for (int k = 0; k < how->n_results; size += how->sizes[k++]) computed[k] = memory + size * r->tile;
    const lm_scratch scratch = {waiting, lanes, computed};
    const int inner = r->depth - 1, outer = r->depth - 2;
    const lm_int *const down = r->step + outer * r->n, *const across = r->step + inner * r->n;
    for (;;) {
        lm_reduce_plane(r, &scratch, length[inner], length[outer], at, down, across);
        int axis = outer - 1;
        for (; axis >= 0; --axis) {
            const lm_int *const step = r->step + axis * r->n;
            for (int k = 0; k < r->n; ++k) at[k] += step[k];
            if (++index[axis] < length[axis]) break;
            for (int k = 0; k < r->n; ++k) at[k] -= step[k] * length[axis];
            index[axis] = 0;
        }
        if (axis < 0) break;
    }
    for (int k = 0; k < how->n_outputs; ++k)
        if (how->outputs[k].reduction != NULL) lm_finish_waiting(&waiting[k], how->outputs[k].reduction);
    if (r->is_final != NULL && lm_is_final(how->outputs[0].reduction, at[0])) __atomic_store_n(r->is_final, 1, __ATOMIC_RELAXED);
}

/* Give accumulators their first values: the identity, or the first of the elements. `lm_nest` goes where the strides of accumulators
   are not 0. */
static void lm_begin_accumulators(
    lm_call *const call, const lm_reduction *const how, const int ndim, const lm_int *const shape, char *const to,
    const lm_int *const to_strides, const char *const first, const lm_int *const first_strides)
{
    lm_int kept[ndim + 1], zeros[ndim + 1], count = 1;
    for (int i = 0; i < ndim; ++i) {
        kept[i] = to_strides[i] == 0 ? 1 : shape[i];
        count *= kept[i];
        zeros[i] = 0;
    }
    if (count == 1) {
        memcpy(to, how->identity != NULL ? how->identity : first, (size_t)how->accumulator_size);
        return;
    }
    if (how->identity != NULL) lm_copy(call, how->accumulator_size, ndim, kept, to, to_strides, how->identity, zeros);
    else lm_copy(call, how->accumulator_size, ndim, kept, to, to_strides, first, first_strides);
}

/* The longest axis, or the outermost of the long ones, along which all outputs are kept, or (`kept` is 0) reduced, or (-1) any; -1 where there is
   none. */
static int lm_axis_to_divide(const lm_reducing *const r, const int kept)
{
    int best = -1;
    for (int axis = 0; axis < r->depth; ++axis) {
        if (kept >= 0 && !lm_all_reduce(r, axis, kept)) continue;
        if (r->length[axis] >= LM_MOST_PIECES) return axis;
        if (best < 0 || r->length[axis] > r->length[best]) best = axis;
    }
    return best;
}

/* Copy accumulators while others are let run. */
static void lm_copy_accumulators(
    const lm_int size, const int ndim, const lm_int *const shape, char *const to, const lm_int *const to_strides,
    char *const from, const lm_int *const from_strides)
{
    lm_int length[ndim + 1], step[(ndim + 1) * 3], total = 1;
    for (int i = 0; i < ndim; ++i) total *= shape[i];
    char *const data[] = {to, from};
    lm_nested nested = {
        .kernel = lm_copy_kernel(size), .n = 2, .total = total, .data = data, .length = length, .step = step};
    nested.depth = lm_join_nest(2, ndim, shape, (const lm_int *const[]){to_strides, from_strides}, length, step);
    lm_run_range(&nested, 0, total);
}

/* Reduce in pieces with accumulators of their own, and combine these. */
static int lm_reduce_partially(lm_call *const call, lm_reducing *const r, lm_int most)
{
    const lm_reducer *const how = r->how;
    lm_int place[how->n_outputs], strides[how->n_outputs * r->depth], size = 0, accumulators = 1;
    for (int k = 0; k < how->n_outputs; ++k) {
        const lm_reduction *const reduction = how->outputs[k].reduction;
        place[k] = -1;
        if (reduction == NULL || r->step[r->axis * r->n + k] != 0) continue;
        place[k] = size;
        lm_int count = 1;
        for (int i = r->depth - 1; i >= 0; --i) {
            strides[k * r->depth + i] = r->step[i * r->n + k] == 0 ? 0 : count * reduction->accumulator_size;
            if (r->step[i * r->n + k] != 0) count *= r->length[i];
        }
        size += lm_rounded_up(count * reduction->accumulator_size, LM_ALIGNMENT);
        accumulators += count;
    }
    lm_int total = 1;
    for (int i = 0; i < r->depth; ++i) total *= r->length[i];
    if (most > total / 16 / accumulators) most = total / 16 / accumulators;
    if (most > r->length[r->axis]) most = r->length[r->axis];
    lm_int n = 1;
    while (2 * n <= most) n *= 2;
    r->pieces = n;
    if (n < 2) {
        lm_reduce_piece(r, 0);
        return 0;
    }
    int is_final = 0;
    if (accumulators == 1 && lm_may_be_final(how)) r->is_final = &is_final;
    char *const memory = malloc((size_t)(n * size + LM_ALIGNMENT));
    if (memory == NULL) return -1;
    r->partial = (char *)(((uintptr_t)memory + LM_ALIGNMENT - 1) / LM_ALIGNMENT * LM_ALIGNMENT);
    r->partial_size = size;
    r->place = place;
    lm_int own[r->depth * how->n_outputs], kept[r->depth], from[r->depth];
    for (int k = 0; k < how->n_outputs; ++k) {
        if (place[k] < 0) continue;
        const lm_reduction *const reduction = how->outputs[k].reduction;
        for (int i = 0; i < r->depth; ++i) {
            own[k * r->depth + i] = r->step[i * r->n + k];
            kept[i] = own[k * r->depth + i] == 0 ? 1 : r->length[i];
            from[i] = own[k * r->depth + i];
            r->step[i * r->n + k] = strides[k * r->depth + i];
        }
        for (lm_int p = 0; p < n; ++p)
            lm_copy_accumulators(
                reduction->accumulator_size, r->depth, kept, r->partial + p * size + place[k], strides + k * r->depth,
                r->data[k], from);
    }
    lm_parallel(call, (int)n, lm_reduce_piece, r);
    for (int k = 0; k < how->n_outputs; ++k) {
        if (place[k] < 0) continue;
        const lm_reduction *const reduction = how->outputs[k].reduction;
        lm_int count = 1;
        for (int i = 0; i < r->depth; ++i) {
            kept[i] = own[k * r->depth + i] == 0 ? 1 : r->length[i];
            count *= kept[i];
        }
        char *const first = r->partial + place[k];
        for (lm_int by = 1; by < n; by *= 2)
            for (lm_int p = 0; p + by < n; p += 2 * by)
                reduction->merge(count, 1, first + (p + by) * size, 0, first + p * size);
        lm_copy_accumulators(
            reduction->accumulator_size, r->depth, kept, r->data[k], own + k * r->depth, first, strides + k * r->depth);
    }
    free(memory);
    return 0;
}

static int lm_reduce_nest(lm_call *const call, lm_reducing *const r)
{
    lm_int total = 1;
    for (int i = 0; i < r->depth; ++i) total *= r->length[i];
    r->partial = NULL;
    r->is_final = NULL;
    r->axis = 0;
    r->pieces = r->grain = 1;
    if (total < 2 * LM_PIECE) {
        lm_reduce_piece(r, 0);
        return 0;
    }
    const lm_int most = total / LM_PIECE < LM_MOST_PIECES ? total / LM_PIECE : LM_MOST_PIECES;
    const int kept = lm_axis_to_divide(r, 1);
    r->axis = kept >= 0 ? kept : lm_axis_to_divide(r, -1);
    if (kept < 0) return lm_reduce_partially(call, r, most);
    const int is_innermost = kept == r->depth - 1;
    /* Whole rows are read faster than parts of them; and few rows are not enough for many threads. */
    const int reduced = is_innermost || r->length[kept] < LM_TOO_FEW_ROWS ? lm_axis_to_divide(r, 0) : -1;
    if (reduced >= 0 && r->length[reduced] >= LM_MANY_ROWS * r->how->n_outputs) {
        r->axis = reduced;
        return lm_reduce_partially(call, r, most < LM_MOST_PIECES_OF_ROWS ? most : LM_MOST_PIECES_OF_ROWS);
    }
    /* Each of the innermost accumulators takes its elements in the same order, however they are divided: into few pieces, then. */
    r->grain = is_innermost ? 64 : 4;
    const lm_int n = is_innermost ? (call->threads > 1 ? call->threads : 1) : most, grains = r->length[kept] / r->grain;
    r->pieces = n < grains ? n : grains < 1 ? 1 : grains;
    lm_parallel(call, (int)r->pieces, lm_reduce_piece, r);
    return 0;
}

/* Go along axes the other way where that is how what is read lies in memory. `step` has the strides of all axes for each operand. */
static void lm_turn_axes(
    const lm_reducer *const how, const int ndim, const lm_int *const shape, char **const data, lm_int *const step)
{
    const int n = how->n_outputs + how->n_read;
    for (int k = 0; k < how->n_outputs; ++k)
        if (how->outputs[k].reduction != NULL && how->outputs[k].reduction->goes_forward) return;
    for (int axis = 0; axis < ndim; ++axis) {
        int backward = 0;
        for (int k = how->n_outputs; k < n; ++k) {
            const lm_int stride = step[k * ndim + axis];
            backward += stride < 0 ? 1 : stride > 0 ? -1 : 0;
        }
        for (int k = 0; backward > 0 && k < n; ++k) {
            data[k] += (shape[axis] - 1) * step[k * ndim + axis];
            step[k * ndim + axis] = -step[k * ndim + axis];
        }
    }
}

/* Reduce a vector of few elements to numbers, as a tile of its own would be; 0 where it does not lie as that takes it. What other vectors
   need before the first element is read takes longer than this. */
static int lm_reduce_few(
    const lm_reducer *const how, const lm_int total, char *const *const data, const lm_int *const *const strides)
{
    const int first = how->n_outputs, n_operands = how->n_results + how->n_read;
    for (int k = 0; k < how->n_outputs; ++k) {
        const lm_reduced *const output = &how->outputs[k];
        if (strides[k][0] != (output->reduction == NULL ? how->sizes[output->result] : 0)) return 0;
    }
    if (how->elements == NULL) {
        if (strides[first][0] != how->sizes[0]) return 0;
        for (int k = 0; k < how->n_outputs; ++k) how->outputs[k].reduction->rows(total, 1, data[first], 0, data[k]);
        return 1;
    }
    _Alignas(64) char computed[how->n_results][LM_SHORT * LM_LARGEST_ITEM];
    char *place[n_operands];
    lm_int inner[n_operands];
    for (int k = 0; k < how->n_results; ++k) {
        place[k] = how->whole[k] < 0 ? computed[k] : data[how->whole[k]];
        inner[k] = how->sizes[k];
    }
    for (int k = 0; k < how->n_read; ++k) {
        place[how->n_results + k] = data[first + k];
        inner[how->n_results + k] = strides[first + k][0];
    }
    how->elements(total, place, inner);
    for (int k = 0; k < how->n_outputs; ++k) {
        const lm_reduced *const output = &how->outputs[k];
        if (output->reduction != NULL) output->reduction->rows(total, 1, place[output->result], 0, data[k]);
    }
    return 1;
}

static int lm_reduce(
    lm_call *const call, const lm_reducer *const how, const int ndim, const lm_int *const shape, char *const *const data,
    const lm_int *const *const strides)
{
    const int n = how->n_outputs + how->n_read;
    lm_int total = 1;
    for (int i = 0; i < ndim; ++i) total *= shape[i];
    for (int k = 0; k < how->n_outputs; ++k) {
        const lm_reduction *const reduction = how->outputs[k].reduction;
        if (reduction == NULL) continue;
        const char *const first = how->elements == NULL ? data[how->n_outputs] : NULL;
        const lm_int *const first_strides = how->elements == NULL ? strides[how->n_outputs] : NULL;
        lm_begin_accumulators(call, reduction, ndim, shape, data[k], strides[k], first, first_strides);
    }
    if (total == 0 || (ndim == 1 && total <= LM_SHORT && lm_reduce_few(how, total, data, strides))) return 0;
    /* An axis of length 1 may come first. */
    lm_int length[ndim + 2], step[(ndim + 2) * n];
    lm_int turned[n * ndim + 1];
    const lm_int *turned_strides[n];
    char *at[n];
    for (int k = 0; k < n; ++k) {
        at[k] = data[k];
        turned_strides[k] = turned + k * ndim;
        for (int i = 0; i < ndim; ++i) turned[k * ndim + i] = strides[k][i];
    }
    lm_turn_axes(how, ndim, shape, at, turned);
    lm_reducing r = {.how = how, .n = n, .data = at, .length = length + 1, .step = step + n};
    r.depth = lm_join_nest(n, ndim, shape, turned_strides, r.length, r.step);
    if (r.depth == 1) {
        ++r.depth;
        --r.length;
        r.step -= n;
        r.length[0] = 1;
        for (int k = 0; k < n; ++k) r.step[k] = 0;
    }
    lm_int size = 0;
    for (int k = 0; k < how->n_results; ++k) size += how->sizes[k];
    r.tile = lm_rounded_up(LM_COMPUTED_BYTES / size < LM_SHORT_TILE ? LM_SHORT_TILE : LM_COMPUTED_BYTES / size, 64);
    /* AMD's processors read on while a short tile is computed, and are slower for being asked for what comes next. (A unit, which is compiled for
       one processor, has LM_ASK_FOR for that.) */
    r.tile_of_columns = total >= LM_VERY_FAR && lm_is_amd() ? LM_SHORT_TILE : r.tile;
    r.asks_memory = total >= LM_FAR && !lm_is_amd();
    void *const unlocked = total >= LM_LONG_PASS ? call->serve->unlock() : NULL;
    const int status = lm_reduce_nest(call, &r);
    if (unlocked != NULL) call->serve->lock(unlocked);
    return status;
}
