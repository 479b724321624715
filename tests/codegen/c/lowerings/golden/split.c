static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: Split(float64[?, ?], int64[?]) */
    call->step = 0;
    if (LM_UNLIKELY(!(f->v1.shape[0] == 2))) goto reference0;
    lm_int left0 = f->v0.shape[1];
    const lm_int size0_0 = *(const int64_t *)(f->v1.data + (0) * f->v1.strides[0]);
    if (LM_UNLIKELY(!(size0_0 >= 0 && size0_0 <= left0))) goto reference0;
    left0 -= size0_0;
    const lm_int size0_1 = *(const int64_t *)(f->v1.data + (1) * f->v1.strides[0]);
    if (LM_UNLIKELY(!(size0_1 >= 0 && size0_1 <= left0))) goto reference0;
    left0 -= size0_1;
    if (LM_UNLIKELY(!(left0 == 0))) goto reference0;
    f->v2.shape[0] = f->v0.shape[0];
    f->v2.strides[0] = f->v2.shape[0] == 1 ? 0 : f->v0.strides[0];
    f->v2.shape[1] = size0_0;
    f->v2.strides[1] = f->v2.shape[1] == 1 ? 0 : f->v0.strides[1];
    f->v2.data = f->v0.data + (0) * f->v0.strides[1];
    f->v2.block = lm_share(f->v0.block);
    f->v3.shape[0] = f->v0.shape[0];
    f->v3.strides[0] = f->v3.shape[0] == 1 ? 0 : f->v0.strides[0];
    f->v3.shape[1] = size0_1;
    f->v3.strides[1] = f->v3.shape[1] == 1 ? 0 : f->v0.strides[1];
    f->v3.data = f->v0.data + (size0_0) * f->v0.strides[1];
    f->v3.block = lm_share(f->v0.block);
done0:;
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 2, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type1}}, 2, (const lm_value[]){{&f->v2, &type0}, {&f->v3, &type0}}) < 0)
        return -1;
    goto done0;
}
