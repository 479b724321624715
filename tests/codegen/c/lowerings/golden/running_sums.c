static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: CumOp(float32[?, ?]) */
    call->step = 0;
    f->v1.shape[0] = f->v0.shape[0];
    f->v1.shape[1] = f->v0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v1, &type0, 1, (const lm_int *const[]){f->v0.strides}) < 0)) return -1;
    if (f->v1.shape[0] > 0) {
    void *const unlocked0 = lm_is_long(f->v1.shape[1], f->v1.shape[0]) ? call->serve->unlock() : NULL;
    call->serve->nest(call, running0, 3, 1, (const lm_int[]){f->v1.shape[1]},
                      (char *const[]){f->v1.data, f->v0.data, (char *)(const lm_int[]){f->v1.shape[0], f->v1.strides[0], f->v0.strides[0]}}, (const lm_int *const[]){(const lm_int[]){f->v1.strides[1]}, (const lm_int[]){f->v0.strides[1]}, (const lm_int[]){0}});
    if (unlocked0 != NULL) call->serve->lock(unlocked0);
    }
    /* 1: LinearRecurrence(float32[?, ?], float32[?, ?]) */
    call->step = 1;
    f->v2.shape[0] = f->v0.shape[0];
    f->v2.shape[1] = f->v0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v2, &type0, 1, (const lm_int *const[]){f->v0.strides}) < 0)) return -1;
    if (f->v2.shape[1] > 0) {
    void *const unlocked1 = lm_is_long(f->v2.shape[0], f->v2.shape[1]) ? call->serve->unlock() : NULL;
    call->serve->nest(call, running1, 4, 1, (const lm_int[]){f->v2.shape[0]},
                      (char *const[]){f->v2.data + (f->v2.shape[1] - 1) * f->v2.strides[1], f->v0.data + (f->v2.shape[1] - 1) * f->v0.strides[1], f->v0.data + (f->v2.shape[1] - 1) * f->v0.strides[1], (char *)(const lm_int[]){f->v2.shape[1], -f->v2.strides[1], -f->v0.strides[1], -f->v0.strides[1]}}, (const lm_int *const[]){(const lm_int[]){f->v2.strides[0]}, (const lm_int[]){f->v0.strides[0]}, (const lm_int[]){f->v0.strides[0]}, (const lm_int[]){0}});
    if (unlocked1 != NULL) call->serve->lock(unlocked1);
    }
    return 0;
}
