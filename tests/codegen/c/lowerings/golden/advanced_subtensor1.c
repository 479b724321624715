static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: AdvancedSubtensor1(float64[?, ?], int64[?]) */
    call->step = 0;
    f->v2.shape[0] = f->v1.shape[0];
    f->v2.shape[1] = f->v0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v2, &type0, 0, NULL) < 0)) return -1;
    {
    lm_int shape[] = {f->v0.shape[1]};
    lm_int strides[] = {f->v0.strides[1]};
    lm_int beside[] = {f->v2.strides[1]};
    lm_indexed at = {0, 0, 1, f->v0.data, (const lm_int[]){f->v0.shape[0]}, (const lm_int[]){f->v0.strides[0]}, shape, strides, beside};
    lm_join_kept(&at);
    void *const unlocked0 = lm_is_long(f->v1.shape[0], f->v0.shape[1]) ? call->serve->unlock() : NULL;
    call->serve->nest(call, indexed0, 4, 1, (const lm_int[]){f->v1.shape[0]},
                      (char *const[]){f->v2.data, f->v2.data, f->v1.data, (char *)&at}, (const lm_int *const[]){(const lm_int[]){f->v2.strides[0]}, (const lm_int[]){f->v2.strides[0]}, (const lm_int[]){f->v1.strides[0]}, (const lm_int[]){0}});
    if (unlocked0 != NULL) call->serve->lock(unlocked0);
    if (LM_UNLIKELY(!(!at.outside))) goto reference0;
    }
done0:;
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 2, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type1}}, 1, (const lm_value[]){{&f->v2, &type0}}) < 0)
        return -1;
    goto done0;
}
