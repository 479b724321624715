/* Lengths and places that indices select. */

__extension__ typedef __int128 lm_wide;

/* The number of elements of start, start + step, ... before stop; -1 where there is no such number, or one too large. */
static inline lm_int lm_range_length(const lm_wide start, const lm_wide stop, const lm_wide step)
{
    if (step == 0) return -1;
    const lm_wide distance = step > 0 ? stop - start : start - stop, size = step > 0 ? step : -step;
    const lm_wide length = distance <= 0 ? 0 : (distance - 1) / size + 1;
    return length <= ((lm_wide)1 << 58) ? (lm_int)length : -1;
}

typedef struct { lm_int row, column, length; } lm_diagonal;

static inline lm_diagonal lm_diagonal_of(const lm_int rows, const lm_int columns, const lm_int offset)
{
    lm_diagonal d = {0, 0, 0};
    if (offset >= columns || offset <= -rows) return d;
    if (offset >= 0) d.column = offset;
    else d.row = -offset;
    const lm_int down = rows - d.row, across = columns - d.column;
    d.length = down < across ? down : across;
    return d;
}

typedef struct { lm_int first, length; } lm_slice;

/* The stride of a slice; where it selects less than two elements, any number, for that of NumPy wraps too. */
static inline lm_int lm_step_stride(const lm_int step, const lm_int stride)
{
    return (lm_int)((uintptr_t)step * (uintptr_t)stride);
}

static inline lm_int lm_slice_bound(lm_int bound, const lm_int length, const lm_int lower, const lm_int upper)
{
    if (bound < 0) {
        bound += length;
        return bound < lower ? lower : bound;
    }
    return bound > upper ? upper : bound;
}

/* What a slice selects of a length, as Python has it; the first index is 0 where that is nothing. */
static inline lm_slice lm_slice_of(
    const lm_int length, const lm_int start, const int has_start, const lm_int stop, const int has_stop, lm_int step)
{
    const int back = step < 0;
    if (step == INTPTR_MIN) step = -INTPTR_MAX;
    const lm_int lower = back ? -1 : 0, upper = back ? length - 1 : length;
    const lm_int first = has_start ? lm_slice_bound(start, length, lower, upper) : back ? upper : lower;
    const lm_int end = has_stop ? lm_slice_bound(stop, length, lower, upper) : back ? lower : upper;
    const lm_int distance = back ? first - end : end - first, size = back ? -step : step;
    const lm_slice empty = {0, 0}, found = {first, (distance - 1) / size + 1};
    return distance <= 0 ? empty : found;
}
