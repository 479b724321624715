static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: Subtensor(float64[?, ?], int64[]) */
    call->step = 0;
    lm_int index0_0 = *(int64_t *)f->v1.data;
    if (index0_0 < 0) index0_0 += f->v0.shape[0];
    if (LM_UNLIKELY(!(index0_0 >= 0 && index0_0 < f->v0.shape[0]))) goto reference0;
    const lm_slice slice0_1 = lm_slice_of(f->v0.shape[1], INT64_C(1), 1, 0, 0, INT64_C(-2));
    f->v2.shape[0] = slice0_1.length;
    f->v2.strides[0] = f->v2.shape[0] == 1 ? 0 : INT64_C(-2) * f->v0.strides[1];
    f->v2.data = f->v0.data + index0_0 * f->v0.strides[0] + slice0_1.first * f->v0.strides[1];
    f->v2.block = lm_share(f->v0.block);
done0:;
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 2, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type1}}, 1, (const lm_value[]){{&f->v2, &type2}}) < 0)
        return -1;
    goto done0;
}
