static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: Alloc(float64[?], int64[], int64[]) */
    call->step = 0;
    const lm_int length0_0 = *(int64_t *)f->v1.data;
    if (LM_UNLIKELY(!(length0_0 >= 0))) goto reference0;
    if (LM_UNLIKELY(!(f->v0.shape[0] == 3))) goto reference0;
    if (LM_UNLIKELY(!(lm_is_addressable(2, (const lm_int[]){length0_0, 3}, 8)))) goto reference0;
    f->v2.shape[0] = length0_0;
    f->v2.shape[1] = 3;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v2, &type2, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, f->v2.shape, f->v2.data, f->v2.strides, f->v0.data, (const lm_int[]){0, f->v0.strides[0]});
done0:;
    /* 1: Alloc(float64[], int64[], int64[]) */
    call->step = 1;
    const lm_int length1_0 = *(int64_t *)f->v1.data;
    if (LM_UNLIKELY(!(length1_0 >= 0))) goto reference1;
    if (LM_UNLIKELY(!(lm_is_addressable(2, (const lm_int[]){length1_0, 2}, 8)))) goto reference1;
    f->v3.shape[0] = length1_0;
    f->v3.shape[1] = 2;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v3, &type3, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, f->v3.shape, f->v3.data, f->v3.strides, f->c1.data, (const lm_int[]){0, 0});
done1:;
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 3, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type1}, {&f->c0, &type1}}, 1, (const lm_value[]){{&f->v2, &type2}}) < 0)
        return -1;
    goto done0;

reference1:;
    if (call->serve->reference(call, 1, 3, (const lm_value[]){{&f->c1, &type4}, {&f->v1, &type1}, {&f->c2, &type1}}, 1, (const lm_value[]){{&f->v3, &type3}}) < 0)
        return -1;
    goto done1;
}
