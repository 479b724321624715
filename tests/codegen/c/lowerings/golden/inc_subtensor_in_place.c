static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: IncSubtensor(float64[?, ?], float64[?], int64[]) */
    call->step = 0;
    lm_int index0_1 = *(int64_t *)f->v2.data;
    if (index0_1 < 0) index0_1 += f->v0.shape[1];
    if (LM_UNLIKELY(!(index0_1 >= 0 && index0_1 < f->v0.shape[1]))) goto reference0;
    if (LM_UNLIKELY(!(f->v1.shape[0] == f->v0.shape[0]))) goto reference0;
    f->v3.shape[0] = f->v0.shape[0];
    f->v3.strides[0] = f->v3.shape[0] == 1 ? 0 : f->v0.strides[0];
    f->v3.shape[1] = f->v0.shape[1];
    f->v3.strides[1] = f->v3.shape[1] == 1 ? 0 : f->v0.strides[1];
    f->v3.data = f->v0.data;
    f->v3.block = lm_share(f->v0.block);
    call->serve->copy(call, 8, 1, (const lm_int[]){f->v0.shape[0]}, f->v3.data + index0_1 * f->v3.strides[1], (const lm_int[]){f->v3.strides[0]}, f->v1.data, f->v1.strides);
done0:;
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 3, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type1}, {&f->v2, &type2}}, 1, (const lm_value[]){{&f->v3, &type0}}) < 0)
        return -1;
    goto done0;
}
