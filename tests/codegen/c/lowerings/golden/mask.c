static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: Gt(float64[?, ?], float64[1, 1]) */
    call->step = 0;
    f->v1.shape[0] = f->v0.shape[0];
    f->v1.shape[1] = f->v0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)&f->v1, &type1, 1, (const lm_int *const[]){f->v0.strides}) < 0)) return -1;
    call->serve->nest(call, kernel0, 2, 2, f->v1.shape,
                      (char *const[]){f->v1.data, f->v0.data}, (const lm_int *const[]){f->v1.strides, f->v0.strides});
    /* 1: Shape_i(float64[?, ?]) */
    call->step = 1;
    f->v2.data = f->s2;
    *(int64_t *)f->v2.data = f->v0.shape[0];
    /* 2: Shape_i(float64[?, ?]) */
    call->step = 2;
    f->v3.data = f->s3;
    *(int64_t *)f->v3.data = f->v0.shape[1];
    /* 3: CheckMask(bool[?, ?], int64[], int64[]) */
    call->step = 3;
    if (LM_UNLIKELY(!(f->v1.shape[0] == *(int64_t *)f->v2.data))) goto reference3;
    if (LM_UNLIKELY(!(f->v1.shape[1] == *(int64_t *)f->v3.data))) goto reference3;
    f->v4.shape[0] = f->v1.shape[0];
    f->v4.strides[0] = f->v4.shape[0] == 1 ? 0 : f->v1.strides[0];
    f->v4.shape[1] = f->v1.shape[1];
    f->v4.strides[1] = f->v4.shape[1] == 1 ? 0 : f->v1.strides[1];
    f->v4.data = f->v1.data;
    f->v4.block = lm_share(f->v1.block);
done3:;
    lm_release(call, &f->v1.block);
    lm_release(call, &f->v2.block);
    lm_release(call, &f->v3.block);
    /* 4: Nonzero(bool[?, ?]) */
    call->step = 4;
    lm_int n4 = 0;
    call->serve->nest(call, count0, 2, 2, f->v4.shape,
                      (char *const[]){f->v4.data, (char *)&n4}, (const lm_int *const[]){f->v4.strides, (const lm_int[]){0, 0}});
    f->v5.shape[0] = n4;
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)&f->v5, &type3, 0, NULL) < 0)) return -1;
    f->v6.shape[0] = n4;
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)&f->v6, &type3, 0, NULL) < 0)) return -1;
    void *const unlocked4 = f->v4.shape[0] * f->v4.shape[1] >= LM_LONG ? call->serve->unlock() : NULL;
    nonzero0(n4, f->v4.data, f->v4.shape, f->v4.strides, (int64_t *const[]){(int64_t *)f->v5.data, (int64_t *)f->v6.data});
    if (unlocked4 != NULL) call->serve->lock(unlocked4);
    lm_release(call, &f->v4.block);
    /* 5: AdvancedSubtensor(float64[?, ?], int64[?], int64[?]) */
    call->step = 5;
    if (LM_UNLIKELY(!(f->v6.shape[0] == f->v5.shape[0]))) goto reference5;
    f->v7.shape[0] = f->v5.shape[0];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v7, &type4, 0, NULL) < 0)) return -1;
    {
    lm_indexed at = {0, 0, 0, f->v0.data, (const lm_int[]){f->v0.shape[0], f->v0.shape[1]}, (const lm_int[]){f->v0.strides[0], f->v0.strides[1]}, NULL, NULL, NULL};
    lm_join_kept(&at);
    void *const unlocked5 = lm_is_long(f->v5.shape[0], 1) ? call->serve->unlock() : NULL;
    call->serve->nest(call, indexed0, 5, 1, (const lm_int[]){f->v5.shape[0]},
                      (char *const[]){f->v7.data, f->v7.data, f->v5.data, f->v6.data, (char *)&at}, (const lm_int *const[]){(const lm_int[]){f->v7.strides[0]}, (const lm_int[]){f->v7.strides[0]}, (const lm_int[]){f->v5.strides[0]}, (const lm_int[]){f->v6.strides[0]}, (const lm_int[]){0}});
    if (unlocked5 != NULL) call->serve->lock(unlocked5);
    if (LM_UNLIKELY(!(!at.outside))) goto reference5;
    }
done5:;
    lm_release(call, &f->v5.block);
    lm_release(call, &f->v6.block);
    return 0;

reference3:;
    if (call->serve->reference(call, 3, 3, (const lm_value[]){{&f->v1, &type1}, {&f->v2, &type2}, {&f->v3, &type2}}, 1, (const lm_value[]){{&f->v4, &type1}}) < 0)
        return -1;
    goto done3;

reference5:;
    if (call->serve->reference(call, 5, 3, (const lm_value[]){{&f->v0, &type0}, {&f->v5, &type3}, {&f->v6, &type3}}, 1, (const lm_value[]){{&f->v7, &type4}}) < 0)
        return -1;
    goto done5;
}
