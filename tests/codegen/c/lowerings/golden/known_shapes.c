static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: Reshape(float64[3, 1], int64[1]) */
    call->step = 0;
    f->v2.shape[0] = 3;
    if (LM_UNLIKELY(!(lm_reshape_lengths(3 * 1, 1, f->v2.shape)))) goto reference0;
    if (lm_reshape_strides(2, f->v0.shape, f->v0.strides, 1, f->v2.shape, f->v2.strides, 8)) {
        f->v2.data = f->v0.data;
        f->v2.block = lm_share(f->v0.block);
    } else {
    f->v2.shape[0] = 3;
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)&f->v2, &type2, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, f->v0.shape, f->v2.data, (const lm_int[]){8 * 1, 8}, f->v0.data, f->v0.strides);
    }
done0:;
    /* 1: AdvancedSubtensor1(float64[3], int64[2]) */
    call->step = 1;
    f->v3.shape[0] = 2;
    f->v3.data = f->s3;
    f->v3.strides[0] = 8;
    {
    lm_indexed at = {0, 0, 0, f->v2.data, (const lm_int[]){3}, (const lm_int[]){f->v2.strides[0]}, NULL, NULL, NULL};
    lm_join_kept(&at);
    void *const unlocked1 = lm_is_long(2, 1) ? call->serve->unlock() : NULL;
    call->serve->nest(call, indexed0, 4, 1, (const lm_int[]){2},
                      (char *const[]){f->v3.data, f->v3.data, f->v1.data, (char *)&at}, (const lm_int *const[]){(const lm_int[]){f->v3.strides[0]}, (const lm_int[]){f->v3.strides[0]}, (const lm_int[]){f->v1.strides[0]}, (const lm_int[]){0}});
    if (unlocked1 != NULL) call->serve->lock(unlocked1);
    if (LM_UNLIKELY(!(!at.outside))) goto reference1;
    }
done1:;
    lm_release(call, &f->v2.block);
    /* 2: Sum(float64[2]) */
    call->step = 2;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, &f->v4, &type4, 0, NULL) < 0)) return -1;
    double acc2 = 0x0.0p+0;
    call->serve->nest(call, reduction0, 2, 1, f->v3.shape,
                      (char *const[]){(char *)&acc2, f->v3.data}, (const lm_int *const[]){(const lm_int[]){0}, f->v3.strides});
    *(double *)f->v4.data = acc2;
    lm_release(call, &f->v3.block);
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 2, (const lm_value[]){{&f->v0, &type0}, {&f->c0, &type5}}, 1, (const lm_value[]){{&f->v2, &type2}}) < 0)
        return -1;
    goto done0;

reference1:;
    if (call->serve->reference(call, 1, 2, (const lm_value[]){{&f->v2, &type2}, {&f->v1, &type1}}, 1, (const lm_value[]){{&f->v3, &type3}}) < 0)
        return -1;
    goto done1;
}
