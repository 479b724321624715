/* Rows along an axis, and work that takes long. */

/* Elements from which on a step lets other threads run. */
#define LM_LONG 50000

/* Whether walking along rows is long work of which a loop over the rows alone cannot tell. */
static inline int lm_is_long(const lm_int rows, const lm_int length) { return rows < LM_LONG && rows * length >= LM_LONG; }
