static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: Shape(float64[?, ?]) */
    call->step = 0;
    f->v2.shape[0] = 2;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v2, &type2, 0, NULL) < 0)) return -1;
    ((int64_t *)f->v2.data)[0] = f->v0.shape[0];
    ((int64_t *)f->v2.data)[1] = f->v0.shape[1];
    /* 1: Shape_i(float64[?, ?]) */
    call->step = 1;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, &f->v3, &type1, 0, NULL) < 0)) return -1;
    *(int64_t *)f->v3.data = f->v0.shape[1];
    /* 2: SpecifyShape(float64[?, ?], int64[]) */
    call->step = 2;
    if (LM_UNLIKELY(!(f->v0.shape[0] == *(int64_t *)f->v1.data))) goto reference2;
    f->v4.shape[0] = f->v0.shape[0];
    f->v4.strides[0] = f->v4.shape[0] == 1 ? 0 : f->v0.strides[0];
    f->v4.shape[1] = f->v0.shape[1];
    f->v4.strides[1] = f->v4.shape[1] == 1 ? 0 : f->v0.strides[1];
    f->v4.data = f->v0.data;
    f->v4.block = lm_share(f->v0.block);
done2:;
    return 0;

reference2:;
    if (call->serve->reference(call, 2, 2, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type1}}, 1, (const lm_value[]){{&f->v4, &type0}}) < 0)
        return -1;
    goto done2;
}
