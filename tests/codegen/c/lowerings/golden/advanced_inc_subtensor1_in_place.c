static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: AdvancedIncSubtensor1(float64[?], float64[?], int64[?]) */
    call->step = 0;
    if (LM_UNLIKELY(!(f->v1.shape[0] == f->v2.shape[0]))) goto reference0;
    {
    lm_indexed at = {.lengths = (const lm_int[]){f->v0.shape[0]}, .by = (const lm_int[]){f->v0.strides[0]}};
    call->serve->nest(call, check0, 4, 1, (const lm_int[]){f->v2.shape[0]},
                      (char *const[]){f->v0.data, f->v0.data, f->v2.data, (char *)&at}, (const lm_int *const[]){(const lm_int[]){1}, (const lm_int[]){1}, (const lm_int[]){f->v2.strides[0]}, (const lm_int[]){0}});
    if (LM_UNLIKELY(!(!at.outside))) goto reference0;
    }
    f->v3.shape[0] = f->v0.shape[0];
    f->v3.strides[0] = f->v3.shape[0] == 1 ? 0 : f->v0.strides[0];
    f->v3.data = f->v0.data;
    f->v3.block = lm_share(f->v0.block);
    {
    lm_indexed at = {0, 0, 0, f->v3.data, (const lm_int[]){f->v3.shape[0]}, (const lm_int[]){f->v3.strides[0]}, NULL, NULL, NULL};
    lm_join_kept(&at);
    void *const unlocked0 = lm_is_long(f->v2.shape[0], 1) ? call->serve->unlock() : NULL;
    call->serve->nest(call, indexed0, 4, 1, (const lm_int[]){f->v2.shape[0]},
                      (char *const[]){f->v3.data, f->v1.data, f->v2.data, (char *)&at}, (const lm_int *const[]){(const lm_int[]){1}, (const lm_int[]){f->v1.strides[0]}, (const lm_int[]){f->v2.strides[0]}, (const lm_int[]){0}});
    if (unlocked0 != NULL) call->serve->lock(unlocked0);
    }
done0:;
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 3, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type0}, {&f->v2, &type1}}, 1, (const lm_value[]){{&f->v3, &type0}}) < 0)
        return -1;
    goto done0;
}
