/* Loops over elements at an index: what a unit's loop goes through at once, indices that count from the end, accumulators, and threads. */

/* Elements of a stretch, whose accumulators are combined pairwise with those of others; of one that is copied first. */
#define LM_STRETCH 2048
#define LM_COPIED_STRETCH 256

typedef struct {
    const lm_indexed_pass *how;
    lm_int n, piece;
    int is_copied;  /* whether elements of some vector do not lie side by side */
    char *const *data;
    const lm_int *by, *lengths;
    char *partial;  /* for each piece, its accumulators, of LM_LARGEST_ITEM bytes each */
    int outside;    /* set to whether an index was out of bounds */
} lm_passing;

/* Totals of 1, 2, 4, ... stretches wait for their like, as the digits of a binary counter do. */
typedef struct {
    lm_int count;
    int n;
    _Alignas(LM_LARGEST_ITEM) char total[64][LM_LARGEST_ITEM];
} lm_pending;

typedef void (*lm_merge)(char *to, const char *from);

static void lm_add_pending(lm_pending *const pending, const lm_merge merge, const char *const total)
{
    memcpy(pending->total[pending->n++], total, LM_LARGEST_ITEM);
    for (lm_int number = ++pending->count; number % 2 == 0; number /= 2) {
        --pending->n;
        merge(pending->total[pending->n - 1], pending->total[pending->n]);
    }
}

static void lm_finish_pending(lm_pending *const pending, const lm_merge merge, char *const to)
{
    for (; pending->n > 1; --pending->n) merge(pending->total[pending->n - 2], pending->total[pending->n - 1]);
    memcpy(to, pending->total[0], LM_LARGEST_ITEM);
}

/* Whether an operand has elements along the loop. */
static inline int lm_goes_along(const lm_indexed_pass *const how, const int operand)
{
    return (operand < how->n_written || operand >= how->first_read) && how->sizes[operand] != 0;
}

/* Make places of indices, which may count from the end; return whether one is out of bounds. */
static int lm_wrap_indices(const lm_int n, const int64_t *const index, const lm_int length, int64_t *const places)
{
    int outside = 0;
    for (lm_int k = 0; k < n; ++k) {
        const lm_int at = index[k] + (index[k] < 0 ? length : 0);
        outside |= (uintptr_t)at >= (uintptr_t)length;
        places[k] = at;
    }
    return outside;
}

/* Go through the elements from `begin` to before `end`; return whether an index is out of bounds. */
static int lm_pass_through(const lm_passing *const p, const lm_int begin, const lm_int end, char *const accumulators)
{
    const lm_indexed_pass *const how = p->how;
    lm_int bytes = 0;
    for (int k = 0; k < how->n; ++k) bytes += p->is_copied ? how->sizes[k] : 0;
    _Alignas(64) char copies[bytes * LM_COPIED_STRETCH + 1];
    _Alignas(LM_LARGEST_ITEM) char totals[how->n_reduced + 1][LM_LARGEST_ITEM];
    int64_t places[how->n_places * LM_COPIED_STRETCH + 1];
    lm_pending pending[how->n_reduced + 1];
    char *at[how->n + how->n_places];
    for (int k = 0; k < how->n_reduced; ++k) {
        pending[k].n = 0;
        pending[k].count = 0;
    }
    int is_wrapped = 0;
    lm_int i = begin;
    do {
        const lm_int most = p->is_copied || is_wrapped ? LM_COPIED_STRETCH : LM_STRETCH, m = end - i < most ? end - i : most;
        char *copy = copies;
        for (int k = 0; k < how->n; ++k) {
            const lm_int size = how->sizes[k];
            const int is_total = k >= how->n_written && k < how->n_written + how->n_reduced;
            at[k] = is_total ? totals[k - how->n_written] : p->data[k];
            if (!lm_goes_along(how, k)) continue;
            at[k] += i * p->by[k];
            if (!p->is_copied || size == p->by[k]) continue;
            if (k >= how->first_read) lm_copy_kernel(size)(m, (char *const[]){copy, at[k]}, (const lm_int[]){size, p->by[k]});
            at[k] = copy;
            copy += size * LM_COPIED_STRETCH;
        }
        char *index[how->n_places + 1];
        for (int k = 0; k < how->n_places; ++k) {
            index[k] = at[how->indices[k]];
            if (!is_wrapped) continue;
            int64_t *const own = places + k * LM_COPIED_STRETCH;
            if (lm_wrap_indices(m, (const int64_t *)index[k], p->lengths[k], own)) return 1;
            index[k] = (char *)own;
        }
        for (int k = 0; k < how->n_places; ++k) at[how->first_index + k] = index[k];
        const lm_int done = how->pass(m, at, p->by, p->lengths);
        for (int k = 0; p->is_copied && k < how->n_written; ++k)
            if (how->sizes[k] != p->by[k])
                lm_copy_kernel(how->sizes[k])(
                    done, (char *const[]){p->data[k] + i * p->by[k], at[k]}, (const lm_int[]){p->by[k], how->sizes[k]});
        for (int k = 0; k < how->n_reduced; ++k) lm_add_pending(&pending[k], how->merges[k], totals[k]);
        is_wrapped = done < m;
        i += done;
    } while (i < end);
    for (int k = 0; k < how->n_reduced; ++k) lm_finish_pending(&pending[k], how->merges[k], accumulators + k * LM_LARGEST_ITEM);
    return 0;
}

static void lm_pass_piece(void *const context, const int number)
{
    lm_passing *const p = context;
    const lm_int begin = number * p->piece, end = p->n - begin < p->piece ? p->n : begin + p->piece;
    if (lm_pass_through(p, begin, end, p->partial + number * p->how->n_reduced * LM_LARGEST_ITEM))
        __atomic_store_n(&p->outside, 1, __ATOMIC_RELAXED);
}

static int lm_pass_at(
    lm_call *const call, const lm_indexed_pass *const how, const lm_int n, char *const *const data, const lm_int *const by,
    const lm_int *const lengths, const int look_first)
{
    lm_passing p = {.how = how, .n = n, .data = data, .by = by, .lengths = lengths};
    for (int k = 0; look_first && k < how->n_places; ++k)
        if (lm_any_outside(n, data[how->indices[k]], by[how->indices[k]], lengths[k])) return LM_REFER;
    for (int k = 0; n > 1 && k < how->n; ++k)
        if (lm_goes_along(how, k) && how->sizes[k] != by[k]) p.is_copied = 1;
    /* What is added to a table is added in order, by one thread. */
    lm_int n_pieces = how->n_scattered > 0 ? 1 : n / LM_PIECE;
    n_pieces = n_pieces < 1 ? 1 : n_pieces > LM_MOST_PIECES ? LM_MOST_PIECES : n_pieces;
    p.piece = (n + n_pieces - 1) / n_pieces;
    if (n > 0) n_pieces = (n + p.piece - 1) / p.piece;
    const lm_int size = how->n_reduced * LM_LARGEST_ITEM;
    _Alignas(LM_LARGEST_ITEM) char partial[n_pieces * size + 1];
    p.partial = partial;
    void *const unlocked = n >= LM_LONG_PASS ? call->serve->unlock() : NULL;
    if (n_pieces == 1) lm_pass_piece(&p, 0);
    else lm_parallel(call, (int)n_pieces, lm_pass_piece, &p);
    if (unlocked != NULL) call->serve->lock(unlocked);
    if (p.outside) return LM_REFER;
    for (int k = 0; k < how->n_reduced; ++k) {
        char *const totals = partial + k * LM_LARGEST_ITEM;
        for (lm_int step = 1; step < n_pieces; step *= 2)
            for (lm_int i = 0; i + step < n_pieces; i += 2 * step) how->merges[k](totals + i * size, totals + (i + step) * size);
        memcpy(data[how->n_written + k], totals, (size_t)how->sizes[how->n_written + k]);
    }
    return 0;
}
