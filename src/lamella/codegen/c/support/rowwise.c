/* Work on rows: vectors inside of arrays, along one axis. Kernels are given rows whose elements lie side by side; others are brought into
   that form, several at a time, and back. */

/* Elements of the rows that a thread takes at a time, about. */
#define LM_ELEMENTS_OF_ROWS 16384

/* Rows that are worked on at a time where their elements of one place lie side by side, and the fewest that are. */
#define LM_COLUMNS 512
#define LM_FEWEST_COLUMNS 16

/* Rows that lie one after the other and are turned, so that they can be worked on so, at a time; and how long they are at most. */
#define LM_TURNED_ROWS 64
#define LM_LONGEST_TURNED 32

/* Rows that are gathered at a time, where their elements lie side by side; and bytes that they take, about. */
#define LM_GATHERED_ROWS 64
#define LM_GATHERED_BYTES (1 << 20)

typedef struct {
    const lm_row_kernel *how;
    lm_int n;            /* elements of a row */
    const lm_int *along; /* the stride of each operand inside of a row */
    int depth;
    const lm_int *length, *step; /* of the nest of loops over rows */
    char *const *data;
    lm_int total, part, gathered; /* rows; rows of a part, and rows that are gathered at a time */
    int by_columns;      /* whether many rows are worked on at a time, as they lie or turned */
    int lacks_memory;
} lm_row_work;

static int lm_is_gathered(const lm_row_work *const work, const int k)
{
    return !work->by_columns && work->n > 1 && work->how->sizes[k] != 0 && work->along[k] != work->how->sizes[k];
}

/* Copy `m` rows of `n` elements: `across` bytes from row to row, `along` from element to element. */
static void lm_copy_rows(
    const lm_int size, const lm_int n, const lm_int m, char *const to, const lm_int to_across, const lm_int to_along,
    char *const from, const lm_int from_across, const lm_int from_along)
{
    const lm_kernel copy = lm_copy_kernel(size);
    /* One of the two has its elements side by side: the inner loop goes along the lesser stride of the other. */
    const lm_int along = to_along == size ? from_along : to_along, across = to_along == size ? from_across : to_across;
    if ((along < 0 ? -along : along) <= (across < 0 ? -across : across))
        for (lm_int i = 0; i < m; ++i)
            copy(n, (char *const[]){to + i * to_across, from + i * from_across}, (const lm_int[]){to_along, from_along});
    else
        for (lm_int j = 0; j < n; ++j)
            copy(m, (char *const[]){to + j * to_along, from + j * from_along}, (const lm_int[]){to_across, from_across});
}

/* Work on `m` rows at a time, as they lie; or on some at a time, of which a copy lies so. */
static void lm_run_columns(const lm_row_work *const work, const lm_int m, char *const z, char *const x)
{
    const lm_row_kernel *const how = work->how;
    const int inner = work->depth - 1;
    const lm_int *const across = work->step + inner * how->n_operands;
    if (work->along[1] != how->sizes[1]) {
        how->columns(work->n, m, x, work->along[1], z, across[0]);
        return;
    }
    char turned[LM_LONGEST_TURNED * LM_TURNED_ROWS * 8] __attribute__((aligned(64)));
    const lm_int size = how->sizes[1], by = LM_TURNED_ROWS * size;
    for (lm_int i = 0; i < m; i += LM_TURNED_ROWS) {
        const lm_int some = m - i < LM_TURNED_ROWS ? m - i : LM_TURNED_ROWS;
        lm_copy_rows(size, work->n, some, turned, size, by, x + i * across[1], across[1], size);
        how->columns(work->n, some, turned, by, z + i * across[0], across[0]);
    }
}

static void lm_run_rows(void *const data, const int part)
{
    lm_row_work *const work = data;
    const lm_row_kernel *const how = work->how;
    const int n_operands = how->n_operands, inner = work->depth - 1;
    lm_int row = part * work->part;
    const lm_int end = row + work->part < work->total ? row + work->part : work->total;
    lm_int size = 0;
    for (int k = 0; k < n_operands; ++k) size += lm_is_gathered(work, k) ? how->sizes[k] * work->n * work->gathered + 64 : 0;
    char *const memory = size > 0 ? malloc((size_t)size) : NULL;
    if (size > 0 && memory == NULL) {
        __atomic_store_n(&work->lacks_memory, 1, __ATOMIC_RELAXED);
        return;
    }
    while (row < end) {
        char *at[n_operands], *rows[n_operands];
        lm_int rest = row, index = 0, apart[n_operands];
        for (int k = 0; k < n_operands; ++k) at[k] = work->data[k];
        for (int axis = inner; axis >= 0; --axis) {
            const lm_int here = rest % work->length[axis];
            if (axis == inner) index = here;
            rest /= work->length[axis];
            for (int k = 0; k < n_operands; ++k) at[k] += here * work->step[axis * n_operands + k];
        }
        lm_int m = work->length[inner] - index;
        if (m > end - row) m = end - row;
        if (work->by_columns) {
            lm_run_columns(work, m, at[0], at[1]);
            row += m;
            continue;
        }
        if (m > work->gathered) m = work->gathered;
        char *free_memory = memory;
        for (int k = 0; k < n_operands; ++k) {
            const lm_int across = work->step[inner * n_operands + k], itemsize = how->sizes[k];
            rows[k] = at[k];
            apart[k] = across;
            if (!lm_is_gathered(work, k)) continue;
            rows[k] = free_memory;
            apart[k] = work->n * itemsize;
            free_memory += work->n * itemsize * work->gathered + 64;
            if (k >= how->n_out)
                lm_copy_rows(itemsize, work->n, m, rows[k], apart[k], itemsize, at[k], across, work->along[k]);
        }
        for (lm_int r = 0; r < m; ++r) {
            how->row(work->n, rows);
            for (int k = 0; k < n_operands; ++k) rows[k] += apart[k];
        }
        for (int k = 0; k < how->n_out; ++k)
            if (lm_is_gathered(work, k))
                lm_copy_rows(
                    how->sizes[k], work->n, m, at[k], work->step[inner * n_operands + k], work->along[k],
                    rows[k] - m * apart[k], apart[k], how->sizes[k]);
        row += m;
    }
    free(memory);
}

static int lm_rows(
    lm_call *const call, const lm_row_kernel *const how, const lm_int n, const lm_int *const along, const int ndim,
    const lm_int *const shape, char *const *const data, const lm_int *const *const strides)
{
    lm_int length[ndim + 1], step[(ndim + 1) * how->n_operands], total = 1;
    for (int i = 0; i < ndim; ++i) total *= shape[i];
    if (total == 0) return 0;
    lm_row_work work = {.how = how, .n = n, .along = along, .length = length, .step = step, .data = data, .total = total};
    work.depth = lm_join_nest(how->n_operands, ndim, shape, strides, length, step);
    const int inner = work.depth - 1;
    const int is_as_wanted = lm_is_gathered(&work, 1) && step[inner * how->n_operands + 1] == how->sizes[1];
    const int can_be_turned = n > 1 && n <= LM_LONGEST_TURNED && along[1] == how->sizes[1];
    work.by_columns = how->columns != NULL && length[inner] >= LM_FEWEST_COLUMNS && (is_as_wanted || can_be_turned);
    lm_int size = 1;
    for (int k = 0; k < how->n_operands; ++k) size += lm_is_gathered(&work, k) ? how->sizes[k] * n : 0;
    work.gathered = size == 1 ? LM_GATHERED_ROWS : LM_GATHERED_BYTES / size;
    if (work.gathered > LM_GATHERED_ROWS) work.gathered = LM_GATHERED_ROWS;
    if (work.gathered < 1) work.gathered = 1;
    const lm_int in_part = n < 1 ? LM_ELEMENTS_OF_ROWS : LM_ELEMENTS_OF_ROWS / n + 1;
    work.part = size == 1 ? in_part : (in_part + work.gathered - 1) / work.gathered * work.gathered;
    if (work.by_columns) work.part = LM_COLUMNS;
    if (total * (n + 1) < LM_LONG_PASS) {
        work.part = total;
        lm_run_rows(&work, 0);
    } else {
        void *const unlocked = call->serve->unlock();
        lm_parallel(call, (int)((total + work.part - 1) / work.part), lm_run_rows, &work);
        if (unlocked != NULL) call->serve->lock(unlocked);
    }
    return work.lacks_memory ? -1 : 0;
}
