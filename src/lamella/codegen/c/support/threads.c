/* Threads that share the parts of long work: a pool that grows to what calls ask for, and sleeps where there is nothing to do.

   There is one pool, for one call at a time: calls that come while it is busy do their work alone, so that there are never more
   threads than one call may have beside those that call. A child of fork() begins without threads. */

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* More threads than any call has. */
#define LM_MOST_THREADS 256

/* How often somebody who waits looks again before going to sleep: some microseconds. */
#define LM_SPINS 400

static struct {
    pthread_mutex_t busy; /* held by the call whose work it is */
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t work, rest;
    pthread_t threads[LM_MOST_THREADS];
    int n_threads, is_closing;
    int n_wanted; /* threads that may still take part */
    int n_active; /* threads that take part */
    unsigned number; /* of the work that was given out last */
    lm_part function;
    void *data;
    int n_parts, next;
} lm_pool = {
    .busy = PTHREAD_MUTEX_INITIALIZER,
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .rest = PTHREAD_COND_INITIALIZER,
};

static void lm_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* How many threads a call has where nobody says it: as OMP_NUM_THREADS and OMP_THREAD_LIMIT ask, or one for each processor that the
   process may use. */
static int lm_default_threads(void)
{
    long n = 0, limit = 0;
    const char *const wanted = getenv("OMP_NUM_THREADS"), *const most = getenv("OMP_THREAD_LIMIT");
    if (wanted != NULL) n = strtol(wanted, NULL, 10); /* of a list the first, for there are no threads inside of threads */
    if (most != NULL) limit = strtol(most, NULL, 10);
#ifdef CPU_COUNT
    cpu_set_t allowed;
    if (n <= 0 && sched_getaffinity(0, sizeof(allowed), &allowed) == 0) n = CPU_COUNT(&allowed);
#endif
    if (n <= 0) n = sysconf(_SC_NPROCESSORS_ONLN);
    if (limit > 0 && n > limit) n = limit;
    return n < 1 ? 1 : n > LM_MOST_THREADS ? LM_MOST_THREADS : (int)n;
}

static void lm_take_part(void)
{
    for (;;) {
        const int part = __atomic_fetch_add(&lm_pool.next, 1, __ATOMIC_RELAXED);
        if (part >= lm_pool.n_parts) return;
        lm_pool.function(lm_pool.data, part);
    }
}

static void *lm_thread(void *const unused)
{
    (void)unused;
    pthread_mutex_lock(&lm_pool.lock);
    while (!lm_pool.is_closing) {
        if (lm_pool.n_wanted == 0) {
            const unsigned number = lm_pool.number;
            pthread_mutex_unlock(&lm_pool.lock);
            for (int i = 0; i < LM_SPINS && __atomic_load_n(&lm_pool.number, __ATOMIC_RELAXED) == number; ++i) lm_pause();
            pthread_mutex_lock(&lm_pool.lock);
            while (lm_pool.n_wanted == 0 && !lm_pool.is_closing) pthread_cond_wait(&lm_pool.work, &lm_pool.lock);
            continue;
        }
        --lm_pool.n_wanted;
        ++lm_pool.n_active;
        pthread_mutex_unlock(&lm_pool.lock);
        lm_take_part();
        pthread_mutex_lock(&lm_pool.lock);
        if (--lm_pool.n_active == 0) pthread_cond_signal(&lm_pool.rest);
    }
    pthread_mutex_unlock(&lm_pool.lock);
    return NULL;
}

/* Of a process that was forked, only the thread that forked goes on: in the child, nobody holds the locks or waits. */
static void lm_forget_threads(void)
{
    pthread_mutex_init(&lm_pool.busy, NULL);
    pthread_mutex_init(&lm_pool.lock, NULL);
    pthread_cond_init(&lm_pool.work, NULL);
    pthread_cond_init(&lm_pool.rest, NULL);
    lm_pool.n_threads = lm_pool.n_wanted = lm_pool.n_active = 0;
}

__attribute__((constructor)) static void lm_prepare_threads(void) { pthread_atfork(NULL, NULL, lm_forget_threads); }

/* Let there be `n` threads, or as many as the system gives; called by who holds `busy`. Signals are for the threads of others. */
static void lm_start_threads(const int n)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (lm_pool.n_threads < n && pthread_create(&lm_pool.threads[lm_pool.n_threads], NULL, lm_thread, NULL) == 0)
        ++lm_pool.n_threads;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The code may be unloaded. */
__attribute__((destructor)) static void lm_end_threads(void)
{
    if (lm_pool.n_threads == 0 || pthread_mutex_trylock(&lm_pool.busy) != 0) return;
    pthread_mutex_lock(&lm_pool.lock);
    lm_pool.is_closing = 1;
    pthread_cond_broadcast(&lm_pool.work);
    pthread_mutex_unlock(&lm_pool.lock);
    while (lm_pool.n_threads > 0) pthread_join(lm_pool.threads[--lm_pool.n_threads], NULL);
    lm_pool.is_closing = 0;
    pthread_mutex_unlock(&lm_pool.busy);
}

static void lm_parallel(lm_call *const call, const int n_parts, const lm_part function, void *const data)
{
    int helpers = (call->threads < n_parts ? call->threads : n_parts) - 1;
    if (helpers > LM_MOST_THREADS) helpers = LM_MOST_THREADS;
    if (helpers < 1 || pthread_mutex_trylock(&lm_pool.busy) != 0) {
        for (int part = 0; part < n_parts; ++part) function(data, part);
        return;
    }
    if (lm_pool.n_threads < helpers) lm_start_threads(helpers);
    pthread_mutex_lock(&lm_pool.lock);
    lm_pool.function = function;
    lm_pool.data = data;
    lm_pool.n_parts = n_parts;
    lm_pool.next = 0;
    lm_pool.n_wanted = helpers < lm_pool.n_threads ? helpers : lm_pool.n_threads;
    __atomic_fetch_add(&lm_pool.number, 1, __ATOMIC_RELAXED);
    if (lm_pool.n_wanted == 1) pthread_cond_signal(&lm_pool.work);
    else pthread_cond_broadcast(&lm_pool.work);
    pthread_mutex_unlock(&lm_pool.lock);

    lm_take_part();

    /* Threads that have not come by now are not waited for. */
    pthread_mutex_lock(&lm_pool.lock);
    lm_pool.n_wanted = 0;
    for (int i = 0; i < LM_SPINS && lm_pool.n_active > 0; ++i) {
        pthread_mutex_unlock(&lm_pool.lock);
        lm_pause();
        pthread_mutex_lock(&lm_pool.lock);
    }
    while (lm_pool.n_active > 0) pthread_cond_wait(&lm_pool.rest, &lm_pool.lock);
    pthread_mutex_unlock(&lm_pool.lock);
    pthread_mutex_unlock(&lm_pool.busy);
}
