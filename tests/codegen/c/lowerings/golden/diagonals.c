static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: ExtractDiag(float64[?, ?]) */
    call->step = 0;
    const lm_diagonal diagonal0 = lm_diagonal_of(f->v0.shape[0], f->v0.shape[1], 1);
    f->v3.shape[0] = diagonal0.length;
    f->v3.strides[0] = f->v3.shape[0] == 1 ? 0 : f->v0.strides[0] + f->v0.strides[1];
    f->v3.data = f->v0.data + diagonal0.row * f->v0.strides[0] + diagonal0.column * f->v0.strides[1];
    f->v3.block = lm_share(f->v0.block);
    /* 1: Shape_i(float64[?]) */
    call->step = 1;
    f->v4.data = f->s4;
    *(int64_t *)f->v4.data = f->v1.shape[0];
    /* 2: AllocDiag(float64[?], int64[], int64[]) */
    call->step = 2;
    const lm_int length2_0 = *(int64_t *)f->v4.data;
    if (LM_UNLIKELY(!(length2_0 >= 0))) goto reference2;
    const lm_int length2_1 = *(int64_t *)f->v4.data;
    if (LM_UNLIKELY(!(length2_1 >= 0))) goto reference2;
    const lm_diagonal diagonal2 = lm_diagonal_of(length2_0, length2_1, 0);
    if (LM_UNLIKELY(!(f->v1.shape[0] == diagonal2.length))) goto reference2;
    if (LM_UNLIKELY(!(lm_is_addressable(2, (const lm_int[]){length2_0, length2_1}, 8)))) goto reference2;
    f->v5.shape[0] = length2_0;
    f->v5.shape[1] = length2_1;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v5, &type0, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, f->v5.shape, f->v5.data, f->v5.strides, (char[16]){0}, (const lm_int[]){0, 0});
    call->serve->copy(call, 8, 1, (const lm_int[]){f->v1.shape[0]}, f->v5.data + diagonal2.row * f->v5.strides[0] + diagonal2.column * f->v5.strides[1], (const lm_int[]){f->v5.strides[0] + f->v5.strides[1]}, f->v1.data, f->v1.strides);
done2:;
    lm_release(call, &f->v4.block);
    /* 3: Eye(int64[], int64[], int64[]) */
    call->step = 3;
    const lm_int length3_0 = *(int64_t *)f->v2.data;
    if (LM_UNLIKELY(!(length3_0 >= 0))) goto reference3;
    const lm_int length3_1 = *(int64_t *)f->v2.data;
    if (LM_UNLIKELY(!(length3_1 >= 0))) goto reference3;
    if (LM_UNLIKELY(!(lm_is_addressable(2, (const lm_int[]){length3_0, length3_1}, 8)))) goto reference3;
    f->v6.shape[0] = length3_0;
    f->v6.shape[1] = length3_1;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v6, &type0, 0, NULL) < 0)) return -1;
    call->serve->copy(call, 8, 2, f->v6.shape, f->v6.data, f->v6.strides, (char[16]){0}, (const lm_int[]){0, 0});
    const lm_diagonal diagonal3 = lm_diagonal_of(length3_0, length3_1, *(int64_t *)f->c0.data);
    call->serve->copy(call, 8, 1, &diagonal3.length, f->v6.data + diagonal3.row * f->v6.strides[0] + diagonal3.column * f->v6.strides[1], (const lm_int[]){f->v6.strides[0] + f->v6.strides[1]}, (char *)(double[1]){(double)1}, (const lm_int[]){0});
done3:;
    return 0;

reference2:;
    if (call->serve->reference(call, 2, 3, (const lm_value[]){{&f->v1, &type1}, {&f->v4, &type2}, {&f->v4, &type2}}, 1, (const lm_value[]){{&f->v5, &type0}}) < 0)
        return -1;
    goto done2;

reference3:;
    if (call->serve->reference(call, 3, 3, (const lm_value[]){{&f->v2, &type2}, {&f->v2, &type2}, {&f->c0, &type2}}, 1, (const lm_value[]){{&f->v6, &type0}}) < 0)
        return -1;
    goto done3;
}
