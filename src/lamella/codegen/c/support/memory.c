/* Memory for arrays. Large pieces that nobody uses any more are kept, up to a bound, and given out again: the system would take them back,
   and give others, whose pages it has to clear one by one. */

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define LM_ALIGNMENT 64

/* Bytes from which on a piece is large; from which on it lies in large pages; of these. */
#define LM_LARGE ((size_t)64 << 10)
#define LM_VERY_LARGE ((size_t)4 << 20)
#define LM_PAGE ((size_t)2 << 20)

/* Where in its first page a very large piece begins. Other allocators begin near the start of a page: a processor that compares the last twelve bits
   of addresses would take what is read there for what has just been written here, and wait. */
#define LM_SHIFT ((size_t)2048)

/* The most bytes, and pieces, that are kept. */
#define LM_MOST_KEPT_BYTES ((size_t)256 << 20)
#define LM_MOST_KEPT_PIECES 64

/* What precedes a large piece; together they are `size` bytes. */
typedef struct {
    size_t size;
    char unused[LM_ALIGNMENT - sizeof(size_t)];
} lm_piece;

/* Pieces that are kept: the oldest first. */
static struct {
    pthread_mutex_t lock;
    int n;
    size_t size;
    lm_piece *pieces[LM_MOST_KEPT_PIECES];
} lm_kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static lm_piece *lm_new_piece(const size_t size)
{
#if defined(MAP_ANONYMOUS)
    if (size >= LM_VERY_LARGE) {
        const size_t pages = size + LM_SHIFT;
        char *const mapped = mmap(NULL, pages + LM_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) return NULL;
        char *const piece = (char *)(((uintptr_t)mapped + LM_PAGE - 1) / LM_PAGE * LM_PAGE);
        if (piece != mapped) munmap(mapped, (size_t)(piece - mapped));
        if (piece != mapped + LM_PAGE) munmap(piece + pages, (size_t)(mapped + LM_PAGE - piece));
#if defined(MADV_HUGEPAGE)
        madvise(piece, pages, MADV_HUGEPAGE);
#endif
        return (lm_piece *)(piece + LM_SHIFT);
    }
#endif
    return aligned_alloc(LM_ALIGNMENT, size);
}

static void lm_end_piece(lm_piece *const piece)
{
#if defined(MAP_ANONYMOUS)
    if (piece->size >= LM_VERY_LARGE) {
        munmap((char *)piece - LM_SHIFT, piece->size + LM_SHIFT);
        return;
    }
#endif
    free(piece);
}

/* Return a large piece of at least `size` bytes, aligned to a cache line, or NULL; its pages may never have been touched. */
static void *lm_take_large(size_t size)
{
    if (size > SIZE_MAX / 4) return NULL;
    size += sizeof(lm_piece);
    /* The end of a very large piece, of less than a large page, lies in small ones. */
    if (size >= LM_VERY_LARGE) size = (size + LM_SHIFT + 65535) / 65536 * 65536 - LM_SHIFT;
    else size = (size + 4095) / 4096 * 4096;
    lm_piece *found = NULL;
    pthread_mutex_lock(&lm_kept.lock);
    int best = -1;
    for (int i = 0; i < lm_kept.n; ++i) {
        const size_t other = lm_kept.pieces[i]->size;
        if (other >= size && other - size <= size / 4 && (best < 0 || other <= lm_kept.pieces[best]->size)) best = i;
    }
    if (best >= 0) {
        found = lm_kept.pieces[best];
        lm_kept.size -= found->size;
        --lm_kept.n;
        memmove(&lm_kept.pieces[best], &lm_kept.pieces[best + 1], (size_t)(lm_kept.n - best) * sizeof(lm_piece *));
    }
    pthread_mutex_unlock(&lm_kept.lock);
    if (found == NULL) {
        found = lm_new_piece(size);
        if (found == NULL) return NULL;
        found->size = size;
    }
    return found + 1;
}

static size_t lm_large_size(const void *const memory) { return ((const lm_piece *)memory - 1)->size - sizeof(lm_piece); }

/* Keep a large piece, in the place of the oldest ones if there are too many. */
static void lm_give_large(void *const memory)
{
    lm_piece *const piece = (lm_piece *)memory - 1, *ended[LM_MOST_KEPT_PIECES];
    int n_ended = 0;
#if defined(__SANITIZE_ADDRESS__)
    const size_t most = 0; /* what is used after it was released is to be noticed */
#else
    const size_t most = LM_MOST_KEPT_BYTES;
#endif
    if (piece->size > most) {
        lm_end_piece(piece);
        return;
    }
    pthread_mutex_lock(&lm_kept.lock);
    while (lm_kept.n - n_ended == LM_MOST_KEPT_PIECES || lm_kept.size + piece->size > most) {
        ended[n_ended] = lm_kept.pieces[n_ended];
        lm_kept.size -= ended[n_ended++]->size;
    }
    lm_kept.n -= n_ended;
    memmove(lm_kept.pieces, lm_kept.pieces + n_ended, (size_t)lm_kept.n * sizeof(lm_piece *));
    lm_kept.pieces[lm_kept.n++] = piece;
    lm_kept.size += piece->size;
    pthread_mutex_unlock(&lm_kept.lock);
    for (int i = 0; i < n_ended; ++i) lm_end_piece(ended[i]);
}

static void lm_lock_kept(void) { pthread_mutex_lock(&lm_kept.lock); }

static void lm_unlock_kept(void) { pthread_mutex_unlock(&lm_kept.lock); }

/* A child is forked while nobody changes what is kept. */
__attribute__((constructor)) static void lm_prepare_kept(void) { pthread_atfork(lm_lock_kept, lm_unlock_kept, lm_unlock_kept); }

/* The code may be unloaded. */
__attribute__((destructor)) static void lm_end_kept(void)
{
    while (lm_kept.n > 0) lm_end_piece(lm_kept.pieces[--lm_kept.n]);
    lm_kept.size = 0;
}
