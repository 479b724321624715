static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: Reshape(float64[?, ?], int64[2]) */
    call->step = 0;
    f->v2.shape[0] = 3;
    f->v2.shape[1] = -1;
    if (LM_UNLIKELY(!(lm_reshape_lengths(f->v0.shape[0] * f->v0.shape[1], 2, f->v2.shape)))) goto reference0;
    if (lm_reshape_strides(2, f->v0.shape, f->v0.strides, 2, f->v2.shape, f->v2.strides, 8)) {
        f->v2.data = f->v0.data;
        f->v2.block = lm_share(f->v0.block);
    } else {
    f->v2.shape[0] = 3;
    f->v2.shape[1] = f->v2.shape[1];
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)&f->v2, &type2, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, f->v0.shape, f->v2.data, (const lm_int[]){8 * f->v0.shape[1], 8}, f->v0.data, f->v0.strides);
    }
done0:;
    /* 1: Reshape(float64[?, ?], int64[?]) */
    call->step = 1;
    if (LM_UNLIKELY(!(f->v1.shape[0] == 3))) goto reference1;
    f->v3.shape[0] = *(const int64_t *)(f->v1.data + (0) * f->v1.strides[0]);
    f->v3.shape[1] = *(const int64_t *)(f->v1.data + (1) * f->v1.strides[0]);
    f->v3.shape[2] = *(const int64_t *)(f->v1.data + (2) * f->v1.strides[0]);
    if (LM_UNLIKELY(!(lm_reshape_lengths(f->v0.shape[0] * f->v0.shape[1], 3, f->v3.shape)))) goto reference1;
    if (lm_reshape_strides(2, f->v0.shape, f->v0.strides, 3, f->v3.shape, f->v3.strides, 8)) {
        f->v3.data = f->v0.data;
        f->v3.block = lm_share(f->v0.block);
    } else {
    f->v3.shape[0] = f->v3.shape[0];
    f->v3.shape[1] = f->v3.shape[1];
    f->v3.shape[2] = f->v3.shape[2];
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)&f->v3, &type3, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, f->v0.shape, f->v3.data, (const lm_int[]){8 * f->v0.shape[1], 8}, f->v0.data, f->v0.strides);
    }
done1:;
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 2, (const lm_value[]){{&f->v0, &type0}, {&f->c0, &type4}}, 1, (const lm_value[]){{&f->v2, &type2}}) < 0)
        return -1;
    goto done0;

reference1:;
    if (call->serve->reference(call, 1, 2, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type1}}, 1, (const lm_value[]){{&f->v3, &type3}}) < 0)
        return -1;
    goto done1;
}
