/* Rows along an axis, and work that takes long. */

/* Elements from which on a step lets other threads run. */
#define LM_LONG 50000

/* Whether the first elements of rows lie closer to each other than the elements of one row. */
static inline int lm_rows_side_by_side(const lm_int n, const lm_int between, const lm_int along)
{
    return n > 1 && (between < 0 ? -between : between) < (along < 0 ? -along : along);
}

/* Whether walking along rows is long work of which a loop over the rows alone cannot tell. */
static inline int lm_is_long(const lm_int rows, const lm_int length) { return rows < LM_LONG && rows * length >= LM_LONG; }
