static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: Join(float64[?, ?], float64[?, ?]) */
    call->step = 0;
    if (LM_UNLIKELY(!(f->v1.shape[0] == f->v0.shape[0]))) goto reference0;
    f->v2.shape[0] = f->v0.shape[0];
    f->v2.shape[1] = f->v0.shape[1] + f->v1.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v2, &type0, 2, (const lm_int *const[]){f->v0.strides, f->v1.strides}) < 0)) return -1;
    char *at0 = f->v2.data;
    call->serve->copy(call, 8, 2, (const lm_int[]){f->v0.shape[0], f->v0.shape[1]}, at0, f->v2.strides, f->v0.data, f->v0.strides);
    at0 += f->v0.shape[1] * f->v2.strides[1];
    call->serve->copy(call, 8, 2, (const lm_int[]){f->v1.shape[0], f->v1.shape[1]}, at0, f->v2.strides, f->v1.data, f->v1.strides);
done0:;
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 2, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type0}}, 1, (const lm_value[]){{&f->v2, &type0}}) < 0)
        return -1;
    goto done0;
}
