/* What generated code is written against. There is no Python in it: all it needs of its host, it asks of `lm_services`. */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* For functions with a loop that becomes vector code: there is to be one of each. */
#define LM_ALONE static __attribute__((noinline))

/* For what such a loop computes: it becomes vector code where it is a part of the loop, however much it is. */
#define LM_INLINE static inline __attribute__((always_inline))

/* How many elements of a type are computed side by side, each statement for all of them: as many as fill 8 vectors. */
#if defined(__AVX512F__)
#define LM_LANES(type) (512 / (int)sizeof(type))
#else
#define LM_LANES(type) (256 / (int)sizeof(type))
#endif

/* From how many parts of a row, of equal lengths, elements come that are combined at once. Memory delivers several streams faster than one, and sums
   in several vectors wait less for each other; but processors of this kind follow best what is read in order, by not too much at a time. They are
   slower for being asked to read what comes next, too. */
#if defined(__znver1__) || defined(__znver2__) || defined(__znver3__) || defined(__znver4__) || defined(__znver5__)
#define LM_STREAMS 1
#define LM_ASK_FOR(place) ((void)(place))
#else
#define LM_STREAMS 4
#define LM_ASK_FOR(place) __builtin_prefetch(place)
#endif

/* For functions that spend more on reading than on computing, of which there is to be one each: on the processors that follow one stream, vectors of
   256 bits are faster there. */
#if LM_STREAMS == 1 && defined(__GNUC__) && !defined(__clang__)
#define LM_SHORT_VECTORS LM_ALONE __attribute__((target("prefer-vector-width=256")))
#else
#define LM_SHORT_VECTORS LM_ALONE
#endif

/* For functions that are beside the point of a unit, or run once a call and have no loop: compiling them fast matters more.
   They clear the upper halves of vector registers before others run, which at this level is an expensive optimisation: code without
   vectors, such as Python's, would be several times slower for it. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define LM_BESIDE __attribute__((optimize("O1", "expensive-optimizations")))
#else
#define LM_BESIDE
#endif

#define LM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

typedef intptr_t lm_int;

typedef enum {
    LM_BOOL, LM_INT8, LM_INT16, LM_INT32, LM_INT64, LM_UINT8, LM_UINT16, LM_UINT32, LM_UINT64,
    LM_FLOAT16, LM_FLOAT32, LM_FLOAT64, LM_COMPLEX64, LM_COMPLEX128,
    LM_OBJECT /* a value of the host's, not an array */
} lm_dtype;

typedef struct {
    lm_dtype dtype;
    int ndim;
    lm_int itemsize;
    const lm_int *shape; /* -1 for an unknown length; NULL where there are no dimensions */
    int is_number;       /* whether the host knows it as a number; here it is an array without dimensions */
} lm_type;

/* A piece of memory with a count of those who use it. */
typedef struct {
    lm_int count;  /* negative for memory that outlives every call: it is not counted */
    lm_int size;   /* bytes that can be used, of plain memory */
    void *owner;   /* the host's object that the memory belongs to; NULL for plain memory, which follows this header */
} lm_block;

/* An array. Its `ndim` lengths and `ndim` strides (in bytes) follow; `lm_array2` and the like spell them out.
   An axis of length 1 has the stride 0, so that it broadcasts. Elements are aligned. */
typedef struct {
    char *data;
    lm_block *block; /* NULL for memory in the frame of the running function */
} lm_array;

#define LM_DECLARE_ARRAY(ndim) \
    typedef struct { char *data; lm_block *block; lm_int shape[ndim], strides[ndim]; } lm_array##ndim

typedef lm_array lm_array0;

/* A variable, for those who do not know its type: `place` points to an lm_array, or to the pointer to a host's object. */
typedef struct {
    void *place;
    const lm_type *type;
} lm_value;

/* One pass over `n` elements: data and stride of each operand. */
typedef void (*lm_kernel)(lm_int n, char *const *data, const lm_int *strides);

/* A kernel each of whose elements can be computed without the others. */
typedef struct {
    lm_kernel kernel;
    int n_out, n;        /* operands that are written, which come first; all operands */
    lm_int itemsize;     /* bytes of an element that is written, if all have as many; else 0 */
    lm_int picoseconds;  /* that an element takes, about */
    const lm_int *sizes; /* bytes of an element of each operand; NULL where the kernel needs rows as they are */
} lm_loop;

/* How elements are combined with accumulators. Both lie side by side, but for rows of elements, which are `by` bytes apart. */
typedef struct {
    void (*rows)(lm_int n, lm_int m, const char *x, lm_int by, char *to);    /* each of `m` rows with one of `m` accumulators */
    void (*columns)(lm_int n, lm_int m, const char *x, lm_int by, char *to); /* `m` rows of `n` with `n` accumulators */
    void (*merge)(lm_int n, lm_int m, const char *x, lm_int by, char *to);   /* as `columns`, for rows of accumulators */
    lm_int size, accumulator_size;
    const void *identity; /* what accumulators begin with; NULL for any of the elements */
    const void *final;    /* an accumulator that no element changes any more; NULL where there is none */
    int goes_forward;     /* elements are not taken backward, even if they lie so: signs of zeros would change */
} lm_reduction;

/* Which result of a kernel an output is made of, and how; without a reduction, of its elements as they are. */
typedef struct {
    int result;
    const lm_reduction *reduction;
} lm_reduced;

typedef struct {
    lm_kernel elements;  /* computes results from what is read; NULL where the only result is what is read */
    int n_results, n_outputs, n_read;
    const lm_int *sizes; /* of an element of each result, then of each operand that is read */
    const int *whole;    /* for each result, the output that has its elements as they are, or -1 */
    const lm_reduced *outputs;
} lm_reducer;

/* A kernel that works on one row of each operand, a vector whose elements lie side by side, or a single element. Each row can be
   worked on without the others. */
typedef struct {
    void (*row)(lm_int n, char *const *rows);
    int n_out, n_operands; /* operands that are written, which come first; all operands */
    const lm_int *sizes;   /* of an element of each operand, or 0 for one with a single element */
    /* The same for `m` rows, whose first elements lie side by side, and so on, each `by` bytes from the one before; results, of a single
       element, are `apart` bytes from each other. NULL where nothing is gained by it. */
    void (*columns)(lm_int n, lm_int m, const char *x, lm_int by, char *z, lm_int apart);
} lm_row_kernel;

/* Elements at `n` places from `array` on, and as many from `beside` on, `stride` apart. */
typedef void (*lm_points)(lm_int n, const lm_int *places, char *array, char *beside, lm_int stride);

/* `n` elements from `array` on, `by` apart, and as many from `beside` on. */
typedef void (*lm_row_of)(lm_int n, char *array, lm_int by, char *beside, lm_int stride);

/* What is done with elements that index arrays select; with LM_INDEX_CHECK, only the indices are looked at. */
typedef enum { LM_INDEX_CHECK, LM_INDEX_READ, LM_INDEX_SET, LM_INDEX_ADD } lm_index_action;

typedef struct {
    lm_index_action action;
    lm_dtype dtype;
    lm_int itemsize;
    lm_points points;               /* for dtypes that the host does not add: how elements are; else NULL */
    lm_row_of row;
    int n_indices, n_outer, n_kept;
    char *array;                    /* the first element */
    const lm_int *lengths, *by;     /* lengths and strides of the axes that are indexed */
    lm_int *shape, *strides, *at;   /* kept axes: lengths, strides in the array, and in what is put beside it */
    int outside;                    /* set to whether an index was out of bounds */
    int (*directly)(                /* chosen by the host */
        lm_int n, const char *index, lm_int step, lm_int length, char *array, lm_int by, char *beside, lm_int stride);
} lm_indexed;

/* A loop over elements, some of which are read from tables at the places that index vectors select, and some of which are added to tables
   there. Operands: vectors that are written, accumulators (which begin anew), tables that are added to, tables that are read,
   vectors or single elements that are read, index vectors. All vectors are of one length. */
typedef struct {
    /* Go through `n` elements, those of each vector side by side; return how many came before the first that an index below 0 or
       out of bounds selects. In place of the index vectors there is one for each set of places. Given are the stride of each operand, and
       for each set of places the length of the tables that they are in. */
    lm_int (*pass)(lm_int n, char *const *data, const lm_int *by, const lm_int *lengths);
    int n_written, n_reduced, n_scattered;
    int first_read, first_index, n, n_places; /* the first operand that is read along the loop, the first index vector, all operands */
    const lm_int *sizes;                      /* of an element of each vector and accumulator; 0 for other operands */
    const int *indices;                       /* for each set of places, which operand its index vector is */
    void (*const *merges)(char *to, const char *from); /* for each accumulator, how it is combined with another one */
} lm_indexed_pass;

/* A part of some work. */
typedef void (*lm_part)(void *data, int part);

typedef struct lm_call lm_call;

/* What the host does for generated code. Functions that return an int return 0, or -1 if they fail. */
typedef struct {
    /* Give an array memory and strides for its shape: of the call, or (`allocate_escaping`) such as may be returned. The order
       of axes in memory follows that of the operands whose strides are given. */
    int (*allocate)(lm_call *, lm_array *, const lm_type *, int n, const lm_int *const *strides);
    int (*allocate_escaping)(lm_call *, lm_array *, const lm_type *, int n, const lm_int *const *strides);
    void (*release)(lm_call *, lm_block *);
    void (*release_object)(void *);
    void (*share_object)(void *);
    /* Run a kernel over all elements of operands of one shape. */
    void (*nest)(lm_call *, lm_kernel, int n, int ndim, const lm_int *shape, char *const *data, const lm_int *const *strides);
    /* The same for a kernel whose elements are independent: threads may share them, in any order. Where that is long work, others
       are let run meanwhile: it must not be called between `unlock` and `lock`. */
    void (*each)(lm_call *, const lm_loop *, int ndim, const lm_int *shape, char *const *data, const lm_int *const *strides);
    /* Compute elements and reduce them; threads may share the work. Operands of one shape: the outputs, whose strides are 0 along axes
       that are reduced, and what is read. It must not be called between `unlock` and `lock`. */
    int (*reduce)(
        lm_call *, const lm_reducer *, int ndim, const lm_int *shape, char *const *data, const lm_int *const *strides);
    /* Run a kernel on all rows, of `n` elements that are `along` bytes apart; threads may share the work. Operands of one shape, the axis of
       the rows left out. It must not be called between `unlock` and `lock`. */
    int (*rows)(
        lm_call *, const lm_row_kernel *, lm_int n, const lm_int *along, int ndim, const lm_int *shape, char *const *data,
        const lm_int *const *strides);
    /* Visit the places that index arrays select. Operands of one shape, that of the index arrays: one whose strides set the order, what is put
       beside the array, the index arrays. It must not be called between `unlock` and `lock`. */
    void (*index)(
        lm_call *, lm_indexed *, int ndim, const lm_int *shape, char *const *data, const lm_int *const *strides);
    /* Run a loop over `n` elements at an index, given data and stride of each operand, and the length for each set of places; with `look_first`,
       all indices are looked at before anything is written. Returns LM_REFER where an index is out of bounds. It must not be called between
       `unlock` and `lock`. */
    int (*pass_at)(
        lm_call *, const lm_indexed_pass *, lm_int n, char *const *data, const lm_int *by, const lm_int *lengths, int look_first);
    /* Call a function with each of the numbers from 0 to before `n_parts` once: by several threads at a time where the call has more
       than one, in any order. It uses nothing of the call or the host. Return when all are done. Results must not depend on the number of
       threads: cut work by its size alone, into parts that take 20 microseconds or longer. A part starts no further ones.
       Others are let run only if the caller has called `unlock`. */
    void (*parallel)(lm_call *, int n_parts, lm_part, void *data);
    /* Copy elements of some size in bytes, whatever they are; a source whose strides are 0 is repeated. No element that is read
       is written. */
    void (*copy)(
        lm_call *, lm_int itemsize, int ndim, const lm_int *shape, char *to, const lm_int *to_strides, const char *from,
        const lm_int *from_strides);
    /* Let others run, and wait for one's turn. Between the two nothing of the host may be used. */
    void *(*unlock)(void);
    void (*lock)(void *);
    /* Compute a step as the reference interpreter does. */
    int (*reference)(lm_call *, int step, int n_in, const lm_value *in, int n_out, const lm_value *out);
    /* Of dtypes that the BLAS knows: out += alpha * a @ b, or (`alpha` is NULL) out = a @ b, for matrices and vectors;
       out = a @ b, for stacks of matrices. */
    int (*add_product)(lm_call *, const lm_value *out, const void *alpha, const lm_value *a, const lm_value *b);
    int (*products)(lm_call *, const lm_value *out, const lm_value *a, const lm_value *b);
    /* The elements sorted along an axis, stably, or the indices that sort them. */
    int (*sort)(lm_call *, const lm_value *out, const lm_value *in, int axis, int indices);
    /* For code that works on the host's objects: a variable's value as one, a new reference or NULL; an object as the value of a
       variable, taking over the reference. An object may be kept under a number, and recalled in the next call if nobody else
       has it, or NULL. */
    void *(*as_object)(lm_call *, const lm_value *);
    int (*from_object)(lm_call *, const lm_value *, void *object);
    void (*keep)(lm_call *, int slot, void *object);
    void *(*recall)(lm_call *, int slot);
} lm_services;

/* One call of a function. */
struct lm_call {
    const lm_services *serve;
    int step;         /* the step that runs: what an error is about */
    int threads;      /* the most that may work for it at a time, with the one that called */
    int n_spare;
    lm_block *spare[16]; /* plain memory that nobody uses any more */
    void *host;       /* what the host keeps for this call */
};

/* A variable of a function: where it is in the frame, the memory in which the function's variables are. */
typedef struct {
    int offset;          /* of its lm_array, or of the pointer to a host's object */
    int storage;         /* of memory for its elements, if they are few and their number is known; else 0 */
    const lm_type *type;
} lm_variable;

/* What a step's function returns: 0, -1 for an error that the host has noted (or for want of memory), or this, to be computed as
   the reference interpreter does, because its own code does not apply or because there is an error to raise. Then it has written
   over no input. */
#define LM_REFER 1

/* A step. `variables` holds the numbers of its inputs (-1 for one that is not read), of its outputs, and of those that nobody
   reads any more. */
typedef struct {
    int (*run)(lm_call *, void *const *operands); /* given the addresses of inputs and outputs; NULL to refer */
    int n_in, n_out, n_dead;
    const int *variables;
} lm_step;

/* What a function with choices is run by: a step that no output needs, because a choice does without it, does not run. */
typedef struct {
    const int *producers;     /* for each variable, the step that computes it, or -1 */
    const int *uses;          /* for each variable, how often steps read it, and how often it is returned */
    const int *const *inputs; /* for each step, the numbers of all its inputs, -1 for one that has none */
    const int *const *before; /* for each step, those that run before it if they run at all, ended by -1 */
    const int *choices;       /* for each step 0; for a choice, the number of values that a branch has */
    int most_waiting;         /* more steps than ever wait */
} lm_demand;

/* A function: its variables, of which inputs and then constants come first, and its steps. */
typedef struct {
    int n_inputs, n_constants, n_variables, n_outputs, n_steps, most_operands, frame_size;
    const lm_variable *variables;
    const int *outputs;
    const unsigned char *overwritten; /* for each input, whether a step may overwrite it */
    const lm_step *steps;
    const lm_demand *demand; /* NULL where all steps run */
} lm_program;

LM_INLINE void lm_release(lm_call *const call, lm_block **const block)
{
    lm_block *const held = *block;
    *block = NULL;
    if (held != NULL && held->count > 0 && --held->count == 0) call->serve->release(call, held);
}

LM_INLINE lm_block *lm_share(lm_block *const block)
{
    if (block != NULL && block->count > 0) ++block->count;
    return block;
}
