/* Rows too short for vector code: several of them are given to a kernel as one.

       z[i, j] = x[i, j] + y[j], of rows of 10:    z, x lie so that their rows follow each other; y is copied 51 times into a buffer
                                                   -> kernel(510, {z, x, buffer}, ...)

   An operand that is the same in all rows, or the same all along each of them, or whose rows lie otherwise, is copied to where its rows follow
   each other too, a block at a time. What is written must lie so of its own. */

/* Elements in a row up to which it pays; and where some operand has to be repeated all along it. */
#define LM_SHORT_ROW 128
#define LM_SHORT_ROW_OF_SAME 32

/* Rows from which on it pays. */
#define LM_FEW_ROWS 8

/* Elements of a block of rows, and bytes that all copies of one take. */
#define LM_BLOCK_OF_ROWS 512
#define LM_BYTES_OF_ROWS 24576

typedef struct { uint64_t first, second; } lm_pair_of_words;

static void lm_fill(char *to, const char *from, size_t itemsize, size_t n);
static lm_kernel lm_copy_kernel(lm_int itemsize);

/* Copy `rows` elements, each repeated all along a row; up to 8 bytes behind the last row are written too. */
static void lm_repeat_elements(
    const lm_int size, const lm_int width, const lm_int rows, char *to, const char *from, const lm_int down)
{
    if (size == 8) {
        for (lm_int i = 0; i < rows; ++i, to += width * 8, from += down) {
            const uint64_t word = *(const uint64_t *)from;
            const lm_pair_of_words pair = {word, word};
            for (lm_int j = 0; j < width * 8; j += 16) memcpy(to + j, &pair, 16);
        }
        return;
    }
    for (lm_int i = 0; i < rows; ++i, to += width * size, from += down) lm_fill(to, from, (size_t)size, (size_t)width);
}

/* Copy rows so that they follow each other. */
static void lm_copy_short_rows(
    const lm_int size, const lm_int width, const lm_int rows, char *to, const char *from, const lm_int down, const lm_int across)
{
    if (across == 0) {
        lm_repeat_elements(size, width, rows, to, from, down);
        return;
    }
    const lm_kernel copy = lm_copy_kernel(size);
    const lm_int bytes = width * size, copied = down == 0 ? 1 : rows;
    for (lm_int i = 0; i < copied; ++i)
        copy(width, (char *const[]){to + i * bytes, (char *)from + i * down}, (const lm_int[]){size, across});
    for (lm_int done = copied; done < rows;) {
        const lm_int more = done < rows - done ? done : rows - done;
        memcpy(to + done * bytes, to, (size_t)(more * bytes));
        done += more;
    }
}

/* Whether several rows are taken as one. */
static inline int lm_are_short_rows(
    const int n_out, const int n, const lm_int width, const lm_int rows, const lm_int *const down, const lm_int *const across)
{
    if (width > LM_SHORT_ROW || rows < LM_FEW_ROWS) return 0;
    for (int k = n_out; width > LM_SHORT_ROW_OF_SAME && k < n; ++k)
        if (across[k] == 0 && down[k] != 0) return 0;
    for (int k = 0; k < n_out; ++k)
        if (down[k] != width * across[k] || across[k] == 0) return 0;
    return 1;
}

/* Run a kernel on `rows` rows of `width` elements, the steps of whose operands are given down, from row to row, and across. Operands that are
   written come first, and lie so that `lm_are_short_rows`; `size` has the bytes of an element of each. */
static void lm_run_short_rows(
    const lm_kernel kernel, const int n_out, const int n, const lm_int *const size, const lm_int width, const lm_int rows,
    char *const *const data, const lm_int *const down, const lm_int *const across)
{
    char *at[n], *copy[n];
    lm_int step[n], most = LM_BLOCK_OF_ROWS / width, bytes = 0;
    for (int k = 0; k < n; ++k) {
        const int joined = down[k] == width * across[k];
        step[k] = joined ? across[k] : size[k];
        copy[k] = joined ? NULL : (char *)data[k];
        if (!joined) bytes += size[k];
    }
    if (bytes * width * most > LM_BYTES_OF_ROWS) most = LM_BYTES_OF_ROWS / (bytes * width);
    if (most < 1) most = 1;
    if (most > rows) most = rows;
    char memory[bytes * width * most + 32 * n] __attribute__((aligned(16)));
    char *free_memory = memory;
    for (int k = n_out; k < n; ++k) {
        if (copy[k] == NULL) continue;
        copy[k] = free_memory;
        free_memory += (size[k] * width * most + 31) / 16 * 16;
    }
    for (lm_int i = 0; i < rows; i += most) {
        const lm_int m = rows - i < most ? rows - i : most;
        for (int k = 0; k < n; ++k) {
            at[k] = copy[k] == NULL ? data[k] + i * down[k] : copy[k];
            if (copy[k] != NULL && (i == 0 || down[k] != 0))
                lm_copy_short_rows(size[k], width, m, copy[k], data[k] + i * down[k], down[k], across[k]);
        }
        kernel(m * width, at, step);
    }
}
