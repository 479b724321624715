/* Loops over the elements of operands of several dimensions: by one thread in order, or shared by several. */

#if defined(__x86_64__)
#include <emmintrin.h> /* the header of all instructions takes longer to read than all the rest to compile */
#endif

/* Elements, and estimated picoseconds, from which on a pass lets others run. */
#define LM_LONG_PASS 50000
#define LM_LONG_TIME 50e6

/* Estimated picoseconds from which on a pass is cut into parts for threads to share, and those of a part. Bits depend on where a pass
   is cut, since the last elements before a cut may be computed without vectors: so it is cut the same way for one thread. */
#define LM_SHARED_TIME 100e6
#define LM_PART_TIME 50e6

/* Bytes that a pass writes from which on it writes past the caches (they are not read first, then, as what is written to a cache is), and those
   that follow each other, at least; those that a block of it writes; and how far ahead of it memory is asked for what is read. */
#define LM_STREAMED ((lm_int)4 << 20)
#define LM_STREAMED_ROW 4096
#define LM_STREAMED_BLOCK 1024
#define LM_STREAMED_AHEAD 4096

/* Whether axis `a` lies outside of axis `b`, by the first operand that can tell; -1 where none can. */
static int lm_is_outer(const int a, const int b, const int n, const lm_int *const *const strides)
{
    for (int i = 0; i < n; ++i) {
        const lm_int sa = strides[i][a] < 0 ? -strides[i][a] : strides[i][a];
        const lm_int sb = strides[i][b] < 0 ? -strides[i][b] : strides[i][b];
        if (sa != 0 && sb != 0 && sa != sb) return sa > sb;
    }
    return -1;
}

/* Order axes from the outermost to the innermost as operands of some strides have them in memory. */
static void lm_axis_order(int *const order, const int ndim, const int n, const lm_int *const *const strides)
{
    for (int i = 0; i < ndim; ++i) {
        int place = i;
        for (int j = i - 1; j >= 0; --j) {
            const int outer = lm_is_outer(order[j], i, n, strides);
            if (outer == 1) break;
            if (outer == 0) place = j;
        }
        for (int j = i; j > place; --j) order[j] = order[j - 1];
        order[place] = i;
    }
}

/* A loop nest over `n` operands: axes from the outermost to the innermost, and the steps of the operands along each. */
typedef struct {
    lm_kernel kernel;
    int n, depth, n_streamed; /* `n_streamed` operands are written past the caches */
    lm_int total, itemsize; /* elements; bytes of one that is streamed */
    char *const *data;
    const lm_int *length, *step;
    lm_int part; /* elements of a part that a thread takes */
    int n_out; /* operands that are written */
    const lm_int *sizes; /* bytes of an element of each operand, where several rows may be one; else NULL */
} lm_nested;

/* Leave out axes of length 1, and join those that lie in memory as one does, for all operands; return how many axes remain. */
static int lm_join_nest(
    const int n, const int ndim, const lm_int *const shape, const lm_int *const *const strides, lm_int *const length,
    lm_int *const step)
{
    int order[ndim + 1], depth = 0;
    lm_axis_order(order, ndim, n, strides);
    for (int i = 0; i < ndim; ++i) {
        const int axis = order[i];
        if (shape[axis] == 1) continue;
        int joined = depth > 0;
        for (int k = 0; k < n && joined; ++k) joined = step[(depth - 1) * n + k] == strides[k][axis] * shape[axis];
        if (joined) length[depth - 1] *= shape[axis];
        else length[depth++] = shape[axis];
        for (int k = 0; k < n; ++k) step[(depth - 1) * n + k] = strides[k][axis];
    }
    if (depth > 0) return depth;
    for (int k = 0; k < n; ++k) step[k] = 0;
    length[0] = 1;
    return 1;
}

#if defined(__x86_64__)
typedef long long lm_line __attribute__((vector_size(64), may_alias));
typedef lm_line lm_loose_line __attribute__((aligned(1)));

#if defined(__clang__)
#define LM_STREAM_LINE(to, line) __builtin_nontemporal_store(line, to)
#else
#define LM_STREAM_LINE(to, line) __builtin_ia32_movntdq512(to, line)
#endif

/* Write whole cache lines past the caches, and ask memory for as many others: it reads these while it is written to. */
__attribute__((target("avx512f"))) static void lm_stream_lines_512(
    char *const to, const char *const from, const size_t size, const int n_next, const char *const *const next)
{
    for (size_t i = 0; i < size; i += 64) {
        for (int k = 0; k < n_next; ++k) __builtin_prefetch(next[k] + i);
        LM_STREAM_LINE((lm_line *)(to + i), *(const lm_loose_line *)(from + i));
    }
}

static void lm_stream_lines_128(
    char *const to, const char *const from, const size_t size, const int n_next, const char *const *const next)
{
    for (size_t i = 0; i < size; i += 64) {
        for (int k = 0; k < n_next; ++k) __builtin_prefetch(next[k] + i);
        for (size_t j = i; j < i + 64; j += 16)
            _mm_stream_si128((__m128i *)(to + j), _mm_loadu_si128((const __m128i *)(from + j)));
    }
}
#endif

/* Write memory past the caches, but for parts of cache lines; `next` are places that will be read. */
static void lm_stream(
    char *const to, const char *const from, const size_t size, const int n_next, const char *const *const next)
{
#if defined(__x86_64__)
    size_t first = (size_t)(-(uintptr_t)to & 63);
    if (first > size) first = size;
    const size_t lines = (size - first) & ~(size_t)63, end = first + lines;
    memcpy(to, from, first);
    if (__builtin_cpu_supports("avx512f")) lm_stream_lines_512(to + first, from + first, lines, n_next, next);
    else lm_stream_lines_128(to + first, from + first, lines, n_next, next);
    memcpy(to + end, from + end, size - end);
#else
    (void)n_next, (void)next;
    memcpy(to, from, size);
#endif
}

/* Let a kernel write to memory that stays in the nearest cache, a block at a time, and move that on past the caches. */
static void lm_run_streamed(const lm_nested *const nested, const lm_int m, char *const *const data, const lm_int *const step)
{
    const int n_out = nested->n_streamed;
    char blocks[n_out][LM_STREAMED_BLOCK] __attribute__((aligned(64)));
    const lm_int itemsize = nested->itemsize, most = LM_STREAMED_BLOCK / itemsize;
    lm_int size = (lm_int)(-(uintptr_t)data[0] & 63) / itemsize;
    for (lm_int i = 0; i < m; i += size, size = most) {
        if (size == 0) size = most;
        if (size > m - i) size = m - i;
        char *at[nested->n];
        const char *next[nested->n];
        int n_next = 0;
        for (int k = 0; k < nested->n; ++k) {
            at[k] = k < n_out ? blocks[k] : data[k] + i * step[k];
            if (k >= n_out && step[k] > 0 && step[k] <= itemsize) next[n_next++] = at[k] + LM_STREAMED_AHEAD;
        }
        nested->kernel(size, at, step);
        for (int k = 0; k < n_out; ++k)
            lm_stream(data[k] + i * itemsize, blocks[k], (size_t)(size * itemsize), k == 0 ? n_next : 0, next);
    }
}

/* Run the kernel on elements `first` to before `last`, counted along the nest. */
static void lm_run_range(const lm_nested *const nested, lm_int first, const lm_int last)
{
    const int n = nested->n, inner = nested->depth - 1;
    const lm_int *const length = nested->length;
    char *at[n];
    lm_int index[nested->depth], rest = first;
    const int takes_rows =
        nested->sizes != NULL && inner > 0 && nested->n_streamed == 0
        && lm_are_short_rows(
            nested->n_out, n, length[inner], length[inner - 1], nested->step + (inner - 1) * n, nested->step + inner * n);
    for (int k = 0; k < n; ++k) at[k] = nested->data[k];
    for (int axis = inner; axis >= 0; --axis) {
        index[axis] = first == 0 ? 0 : rest % length[axis];
        rest = first == 0 ? 0 : rest / length[axis];
        for (int k = 0; k < n; ++k) at[k] += nested->step[axis * n + k] * index[axis];
    }
    for (;;) {
        const lm_int here = length[inner] - index[inner], m = here < last - first ? here : last - first;
        if (takes_rows && index[inner] == 0 && last - first >= here) {
            lm_int rows = (last - first) / here;
            if (rows > length[inner - 1] - index[inner - 1]) rows = length[inner - 1] - index[inner - 1];
            lm_run_short_rows(
                nested->kernel, nested->n_out, n, nested->sizes, here, rows, at, nested->step + (inner - 1) * n,
                nested->step + inner * n);
            first += (rows - 1) * here;
            index[inner - 1] += rows - 1;
            for (int k = 0; k < n; ++k) at[k] += (rows - 1) * nested->step[(inner - 1) * n + k];
        } else if (nested->n_streamed > 0) lm_run_streamed(nested, m, at, nested->step + inner * n);
        else nested->kernel(m, at, nested->step + inner * n);
        first += m;
        if (first >= last) break;
        for (int k = 0; index[inner] > 0 && k < n; ++k) at[k] -= nested->step[inner * n + k] * index[inner];
        index[inner] = 0;
        for (int axis = inner - 1; axis >= 0; --axis) {
            for (int k = 0; k < n; ++k) at[k] += nested->step[axis * n + k];
            if (++index[axis] < length[axis]) break;
            for (int k = 0; k < n; ++k) at[k] -= nested->step[axis * n + k] * length[axis];
            index[axis] = 0;
        }
    }
#if defined(__x86_64__)
    if (nested->n_streamed > 0) _mm_sfence();
#endif
}

static void lm_run_part(void *const data, const int part)
{
    const lm_nested *const nested = data;
    const lm_int first = part * nested->part, end = first + nested->part;
    lm_run_range(nested, first, end < nested->total ? end : nested->total);
}

/* Run a kernel on elements along one axis, of a length other than 1: there is nothing to put in order or to join. */
static inline void lm_run_along(
    const lm_kernel kernel, const int n, const lm_int length, char *const *const data, const lm_int *const *const strides)
{
    lm_int step[n + 1];
    for (int k = 0; k < n; ++k) step[k] = strides[k][0];
    if (length > 0) kernel(length, data, step);
}

static void lm_nest(
    lm_call *const call, const lm_kernel kernel, const int n, const int ndim, const lm_int *const shape,
    char *const *const data, const lm_int *const *const strides)
{
    if (ndim == 1 && shape[0] != 1 && shape[0] < LM_LONG_PASS) {
        lm_run_along(kernel, n, shape[0], data, strides);
        return;
    }
    lm_int length[ndim + 1], step[(ndim + 1) * (n + 1)], total = 1;
    for (int i = 0; i < ndim; ++i) total *= shape[i];
    if (total == 0) return;
    lm_nested nested = {.kernel = kernel, .n = n, .total = total, .data = data, .length = length, .step = step};
    nested.depth = lm_join_nest(n, ndim, shape, strides, length, step);
    void *const unlocked = total >= LM_LONG_PASS ? call->serve->unlock() : NULL;
    lm_run_range(&nested, 0, total);
    if (unlocked != NULL) call->serve->lock(unlocked);
}

/* How many operands are written past the caches: all that are written, or none. */
static int lm_n_streamed(const lm_loop *const loop, const lm_nested *const nested)
{
#if !defined(__x86_64__)
    return 0;
#endif
    if (loop->itemsize == 0 || nested->total * loop->itemsize * loop->n_out < LM_STREAMED) return 0;
    const lm_int *const step = nested->step + (nested->depth - 1) * loop->n;
    if (nested->length[nested->depth - 1] * loop->itemsize < LM_STREAMED_ROW) return 0;
    for (int k = 0; k < loop->n_out; ++k) {
        if (step[k] != loop->itemsize) return 0;
        /* What is read nearby is in the caches anyway. */
        for (int i = loop->n_out; i < loop->n; ++i)
            if (nested->data[i] == nested->data[k]) return 0;
    }
    return loop->n_out;
}

static void lm_each(
    lm_call *const call, const lm_loop *const loop, const int ndim, const lm_int *const shape, char *const *const data,
    const lm_int *const *const strides)
{
    const int n = loop->n;
    lm_int total = 1;
    for (int i = 0; i < ndim; ++i) total *= shape[i];
    const double time = (double)total * (double)loop->picoseconds;
    const int is_short = time < LM_LONG_TIME && total < LM_LONG_PASS;
    if (ndim == 1 && total != 1 && is_short) {
        lm_run_along(loop->kernel, n, total, data, strides);
        return;
    }
    lm_int length[ndim + 1], step[(ndim + 1) * (n + 1)];
    if (total == 0) return;
    lm_nested nested = {
        .kernel = loop->kernel, .n = n, .total = total, .itemsize = loop->itemsize, .data = data, .length = length, .step = step,
        .n_out = loop->n_out, .sizes = loop->sizes};
    nested.depth = lm_join_nest(n, ndim, shape, strides, length, step);
    if (is_short) {
        lm_run_range(&nested, 0, total);
        return;
    }
    nested.n_streamed = lm_n_streamed(loop, &nested);
    void *const unlocked = call->serve->unlock();
    /* Parts of cheap elements begin where cache lines do. */
    const lm_int grain = loop->picoseconds < 10000 ? 64 : 1;
    const double part = LM_PART_TIME / (double)loop->picoseconds;
    nested.part = time < LM_SHARED_TIME ? total : (lm_int)part / grain * grain + grain;
    lm_parallel(call, (int)((total + nested.part - 1) / nested.part), lm_run_part, &nested);
    if (unlocked != NULL) call->serve->lock(unlocked);
}
