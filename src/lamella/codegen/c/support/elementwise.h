/* Kernels of elementwise Ops: operands of any strides are brought to the form that the loop takes. */

typedef struct {
    void (*loop)(lm_int n, char *const *data); /* elements one behind the other, or the same for all */
    int n_out, n;                              /* operands that are written, which come first; all operands */
    const unsigned char *steps;                /* for each operand, the bytes from element to element; 0 where it is the same for all */
    void (*all)(lm_int n, char *const *data);  /* a loop for operands that all lie one behind the other, or NULL, and their steps */
    const unsigned char *all_steps;
} lm_elementwise;

/* Bytes of the blocks that operands are copied to and from, and the most elements of one. */
#define LM_BYTES_OF_BLOCKS 16384
#define LM_LARGEST_BLOCK 256

static inline int lm_has_steps(const int n, const lm_int *const strides, const unsigned char *const steps)
{
    for (int k = 0; k < n; ++k)
        if (LM_UNLIKELY(strides[k] != steps[k])) return 0;
    return 1;
}

/* Of operands that do not lie as the loop takes them, those that should lie side by side are copied to and from small arrays, a block
   at a time; one that is the same for all is copied once. Where an operand varies that should be the same for all, the other loop is
   taken, or elements one at a time. */
#if defined(LM_HALF)
LM_BESIDE __attribute__((noinline))
#else
LM_ALONE LM_BESIDE
#endif
void lm_run_anyhow(
    const lm_elementwise *const kernel, const lm_int n, char *const *const data, const lm_int *const strides);

/* Of a unit that is compiled in halves, the first has it. */
#if !defined(LM_HALF) || LM_HALF == 1
#define LM_COPY_ELEMENTS(type) \
    for (lm_int j = 0; j < m; ++j) *(type *)(to + j * to_stride) = *(const type *)(from + j * from_stride); \
    break

LM_ALONE LM_BESIDE void lm_copy_elements(
    const int size, const lm_int m, char *const to, const lm_int to_stride, const char *const from, const lm_int from_stride)
{
    switch (size) {
    case 1: LM_COPY_ELEMENTS(uint8_t);
    case 2: LM_COPY_ELEMENTS(uint16_t);
    case 4: LM_COPY_ELEMENTS(uint32_t);
    case 8: LM_COPY_ELEMENTS(uint64_t);
    default:
        for (lm_int j = 0; j < m; ++j) memcpy(to + j * to_stride, from + j * from_stride, 16);
    }
}

void lm_run_anyhow(
    const lm_elementwise *const kernel, const lm_int n, char *const *const data, const lm_int *const strides)
{
    const int n_operands = kernel->n;
    const unsigned char *steps = kernel->steps;
    void (*loop)(lm_int, char *const *) = kernel->loop;
    char *at[n_operands];
    int is_same = 1;
    for (int k = 0; k < n_operands; ++k)
        if (steps[k] == 0 && strides[k] != 0) is_same = 0;
    if (!is_same && n > 1 && kernel->all != NULL) {
        loop = kernel->all;
        steps = kernel->all_steps;
        is_same = 1;
        if (lm_has_steps(n_operands, strides, steps)) {
            loop(n, data);
            return;
        }
    }
    if (!is_same || n == 1) {
        for (lm_int i = 0; i < n; ++i) {
            for (int k = 0; k < n_operands; ++k) at[k] = data[k] + i * strides[k];
            loop(1, at);
        }
        return;
    }
    lm_int bytes = 0;
    for (int k = 0; k < n_operands; ++k) bytes += steps[k];
    lm_int block = LM_BYTES_OF_BLOCKS / bytes / 16 * 16;
    block = block < 16 ? 16 : block > LM_LARGEST_BLOCK ? LM_LARGEST_BLOCK : block;
    char blocks[block * bytes] __attribute__((aligned(16)));
    for (lm_int i = 0; i < n; i += block) {
        const lm_int m = n - i < block ? n - i : block;
        char *place = blocks;
        for (int k = 0; k < n_operands; ++k) {
            const lm_int size = steps[k];
            at[k] = size == strides[k] ? data[k] + i * size : place;
            place += block * size;
            if (size != strides[k] && k >= kernel->n_out && (i == 0 || strides[k] != 0))
                lm_copy_elements((int)size, m, at[k], size, data[k] + i * strides[k], strides[k]);
        }
        loop(m, at);
        for (int k = 0; k < kernel->n_out; ++k)
            if (steps[k] != strides[k])
                lm_copy_elements((int)steps[k], m, data[k] + i * strides[k], strides[k], at[k], steps[k]);
    }
}
#endif

static inline void lm_run_elementwise(
    const lm_elementwise *const kernel, const lm_int n, char *const *const data, const lm_int *const strides)
{
    if (lm_has_steps(kernel->n, strides, kernel->steps)) kernel->loop(n, data);
    else lm_run_anyhow(kernel, n, data, strides);
}
