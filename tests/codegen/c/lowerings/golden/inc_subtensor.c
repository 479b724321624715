static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: IncSubtensor(float64[?, ?], float64[?], int64[]) */
    call->step = 0;
    lm_int index0_0 = *(int64_t *)f->v2.data;
    if (index0_0 < 0) index0_0 += f->v0.shape[0];
    if (LM_UNLIKELY(!(index0_0 >= 0 && index0_0 < f->v0.shape[0]))) goto reference0;
    if (LM_UNLIKELY(!(f->v1.shape[0] == f->v0.shape[1]))) goto reference0;
    f->v3.shape[0] = f->v0.shape[0];
    f->v3.shape[1] = f->v0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v3, &type0, 1, (const lm_int *const[]){f->v0.strides}) < 0)) return -1;
    call->serve->copy(call, 8, 2, f->v3.shape, f->v3.data, f->v3.strides, f->v0.data, f->v0.strides);
    call->serve->copy(call, 8, 1, (const lm_int[]){f->v0.shape[1]}, f->v3.data + index0_0 * f->v3.strides[0], (const lm_int[]){f->v3.strides[1]}, f->v1.data, f->v1.strides);
done0:;
    /* 1: IncSubtensor(float64[?, ?], float64[?], int64[]) */
    call->step = 1;
    lm_int index1_0 = *(int64_t *)f->v2.data;
    if (index1_0 < 0) index1_0 += f->v0.shape[0];
    if (LM_UNLIKELY(!(index1_0 >= 0 && index1_0 < f->v0.shape[0]))) goto reference1;
    if (LM_UNLIKELY(!(f->v1.shape[0] == f->v0.shape[1]))) goto reference1;
    f->v4.shape[0] = f->v0.shape[0];
    f->v4.shape[1] = f->v0.shape[1];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v4, &type0, 1, (const lm_int *const[]){f->v0.strides}) < 0)) return -1;
    call->serve->copy(call, 8, 2, f->v4.shape, f->v4.data, f->v4.strides, f->v0.data, f->v0.strides);
    call->serve->nest(call, kernel0, 3, 1, (const lm_int[]){f->v0.shape[1]},
                      (char *const[]){f->v4.data + index1_0 * f->v4.strides[0], f->v4.data + index1_0 * f->v4.strides[0], f->v1.data}, (const lm_int *const[]){(const lm_int[]){f->v4.strides[1]}, (const lm_int[]){f->v4.strides[1]}, f->v1.strides});
done1:;
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 3, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type1}, {&f->v2, &type2}}, 1, (const lm_value[]){{&f->v3, &type0}}) < 0)
        return -1;
    goto done0;

reference1:;
    if (call->serve->reference(call, 1, 3, (const lm_value[]){{&f->v0, &type0}, {&f->v1, &type1}, {&f->v2, &type2}}, 1, (const lm_value[]){{&f->v4, &type0}}) < 0)
        return -1;
    goto done1;
}
