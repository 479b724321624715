/* What the host of compiled functions keeps: for a loaded library, for a linked function, and for one call. */

#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include <numpy/arrayobject.h>
#include <dlfcn.h>

/* Under which tracemalloc counts the elements of arrays: `numpy.lib.tracemalloc_domain`. */
#define LM_NUMPY_DOMAIN 389047

/* Bytes of plain memory that a function keeps for its next call, in pieces that are not large. */
#define LM_KEPT_MEMORY ((lm_int)1 << 20)

#define LM_SPARE ((int)(sizeof(((lm_call *)0)->spare) / sizeof(lm_block *)))

/* Array objects of a call whose headers need no memory of their own. */
#define LM_OWNERS 8

static const struct { char kind; int typenum; } lm_dtypes[] = {
    [LM_BOOL] = {'b', NPY_BOOL}, [LM_INT8] = {'i', NPY_INT8}, [LM_INT16] = {'i', NPY_INT16}, [LM_INT32] = {'i', NPY_INT32},
    [LM_INT64] = {'i', NPY_INT64}, [LM_UINT8] = {'u', NPY_UINT8}, [LM_UINT16] = {'u', NPY_UINT16},
    [LM_UINT32] = {'u', NPY_UINT32}, [LM_UINT64] = {'u', NPY_UINT64}, [LM_FLOAT16] = {'f', NPY_FLOAT16},
    [LM_FLOAT32] = {'f', NPY_FLOAT32}, [LM_FLOAT64] = {'f', NPY_FLOAT64}, [LM_COMPLEX64] = {'c', NPY_COMPLEX64},
    [LM_COMPLEX128] = {'c', NPY_COMPLEX128},
};

/* A number that is given to a call and is no array; it lies in the frame. */
typedef union {
    char bytes[16];
    int64_t integer;
    float single;
    double real[2];
} lm_number;

/* What one call works with; cut from one piece of memory. */
typedef struct {
    char *variables;
    PyObject **objects;  /* owned: the inputs, arrays as kernels read them; NULL for a number, which lies in `numbers` */
    lm_block *blocks;    /* for the inputs */
    lm_number *numbers;  /* for the inputs */
    PyObject **results;  /* owned: the outputs */
} Frame;

typedef struct {
    PyObject_HEAD
    void *library;
    const lm_program *program;
    const lm_user_code *user; /* NULL where there is no code of users' Ops */
    int initialised, n_linked;
    PyObject *weak_references;
} Library;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Library *library;
    PyObject *constants, *perform, *annotate;
    char *template; /* what the variables of a frame begin with, as it is when a call begins, but for its inputs */
    size_t template_size;
    int *stored, n_stored; /* variables whose elements lie in the frame */
    lm_block *constant_blocks;
    PyObject **objects; /* what users' code keeps from call to call */
    int n_opened;
    int threads; /* that a call may have */
    Frame *idle; /* a frame that no call works with */
    int n_kept;
    lm_block *kept[LM_SPARE];
} Entry;

/* A call, as generated code is given it, and what the host keeps for it. */
typedef struct {
    lm_call call;
    Entry *entry;
    int n_owners;
    lm_block owners[LM_OWNERS]; /* headers of memory that belongs to array objects */
} Run;

typedef struct {
    PyTypeObject *library, *entry, *plan;
    PyTypeObject *function_base, *function; /* the type of Python that functions have, and ours; NULL until one is needed */
} ModuleState;
