/* What the code of users' Ops is compiled with: how it meets the host. */

#define LM_GIVEN_OUT __attribute__((visibility("default")))

/* In C++, an exception goes no further than the block that it is thrown in: it becomes one of Python's. */
#if defined(__cplusplus) && defined(__cpp_exceptions)

#include <exception>
#include <new>

static void lm_caught(void)
{
    if (PyErr_Occurred()) return;
    try {
        throw;
    } catch (const std::bad_alloc &) {
        PyErr_NoMemory();
    } catch (const std::exception &exception) {
        PyErr_SetString(PyExc_RuntimeError, exception.what());
    } catch (...) {
        PyErr_SetString(PyExc_RuntimeError, "C++ code of an Op has thrown what is no std::exception");
    }
}

#define LM_TRY try {
#define LM_CATCH } catch (...) { lm_caught(); lm_failed = 1; }

#else

#define LM_TRY {
#define LM_CATCH }

#endif

/* A node with state: `open` prepares it for a linked function, given its params, and `close` cleans up, also after a failure. */
typedef struct {
    int step;
    int (*open)(PyObject *params);
    void (*close)(void);
} lm_user_node;

typedef struct {
    int (*init)(void);
    int n_nodes, n_kept;
    const lm_user_node *nodes;
} lm_user_code;

/* Return the value of a variable as a new reference. */
static inline PyObject *lm_take(lm_call *const call, void *const place, const lm_type *const type)
{
    const lm_value value = {place, type};
    return (PyObject *)call->serve->as_object(call, &value);
}

/* Make an object the value of a variable, taking over the reference to it; keep it for the next call, if there is a slot for it. */
static inline int lm_give(lm_call *const call, void *const place, const lm_type *const type, PyObject *const object, const int slot)
{
    const lm_value value = {place, type};
    if (slot >= 0) call->serve->keep(call, slot, object);
    return call->serve->from_object(call, &value, object);
}
