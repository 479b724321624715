/* CumOp(float32[?, ?]) */
static LM_BESIDE int step0(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    lm_array2 *const z0 = operands[1];
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type0, 1, (const lm_int *const[]){x0.strides}) < 0)) return -1;
    if (z0->shape[0] > 0) {
    void *const unlocked = lm_is_long(z0->shape[1], z0->shape[0]) ? call->serve->unlock() : NULL;
    call->serve->nest(call, running0, 3, 1, (const lm_int[]){z0->shape[1]},
                      (char *const[]){z0->data, x0.data, (char *)(const lm_int[]){z0->shape[0], z0->strides[0], x0.strides[0]}}, (const lm_int *const[]){(const lm_int[]){z0->strides[1]}, (const lm_int[]){x0.strides[1]}, (const lm_int[]){0}});
    if (unlocked != NULL) call->serve->lock(unlocked);
    }
    return 0;
}

/* LinearRecurrence(float32[?, ?], float32[?, ?]) */
static LM_BESIDE int step1(lm_call *const call, void *const *const operands)
{
    (void)call;
    const lm_array2 x0 = *(const lm_array2 *)operands[0];
    const lm_array2 x1 = *(const lm_array2 *)operands[1];
    lm_array2 *const z0 = operands[2];
    if (LM_UNLIKELY(!(x0.shape[0] == x1.shape[0]))) return LM_REFER;
    if (LM_UNLIKELY(!(x0.shape[1] == x1.shape[1]))) return LM_REFER;
    z0->shape[0] = x0.shape[0];
    z0->shape[1] = x0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)z0, &type0, 1, (const lm_int *const[]){x0.strides}) < 0)) return -1;
    if (z0->shape[1] > 0) {
    void *const unlocked = lm_is_long(z0->shape[0], z0->shape[1]) ? call->serve->unlock() : NULL;
    call->serve->nest(call, running1, 4, 1, (const lm_int[]){z0->shape[0]},
                      (char *const[]){z0->data + (z0->shape[1] - 1) * z0->strides[1], x0.data + (z0->shape[1] - 1) * x0.strides[1], x1.data + (z0->shape[1] - 1) * x1.strides[1], (char *)(const lm_int[]){z0->shape[1], -z0->strides[1], -x0.strides[1], -x1.strides[1]}}, (const lm_int *const[]){(const lm_int[]){z0->strides[0]}, (const lm_int[]){x0.strides[0]}, (const lm_int[]){x1.strides[0]}, (const lm_int[]){0}});
    if (unlocked != NULL) call->serve->lock(unlocked);
    }
    return 0;
}

static const lm_step steps[] = {
    /* 0: v1 = CumOp(v0) */
    {step0, 1, 1, 0, (const int[]){0, 1}},
    /* 1: v2 = LinearRecurrence(v0, v0) */
    {step1, 2, 1, 0, (const int[]){0, 0, 2}},
};
