/* What the code of users' Ops is compiled with: how it meets the host. */

#define LM_GIVEN_OUT __attribute__((visibility("default")))

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
