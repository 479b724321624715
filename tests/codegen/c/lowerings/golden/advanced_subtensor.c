static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: Shape(float64[?, ?]) */
    call->step = 0;
    f->v2.shape[0] = 2;
    f->v2.data = f->s2;
    f->v2.strides[0] = 8;
    ((int64_t *)f->v2.data)[0] = f->v0.shape[0];
    ((int64_t *)f->v2.data)[1] = f->v0.shape[1];
    /* 1: Subtensor(int64[2]) */
    call->step = 1;
    lm_int index1_0 = INT64_C(0);
    if (index1_0 < 0) index1_0 += 2;
    if (LM_UNLIKELY(!(index1_0 >= 0 && index1_0 < 2))) goto reference1;
    f->v3.data = f->v2.data + index1_0 * f->v2.strides[0];
    f->v3.block = lm_share(f->v2.block);
done1:;
    lm_release(call, &f->v2.block);
    /* 2: ARange(int64[], int64[], int64[]) */
    call->step = 2;
    const lm_int length2 = lm_range_length(*(int64_t *)f->c0.data, *(int64_t *)f->v3.data, *(int64_t *)f->c1.data);
    if (LM_UNLIKELY(!(length2 >= 0))) goto reference2;
    const lm_wide start2 = *(int64_t *)f->c0.data, next2 = start2 + *(int64_t *)f->c1.data;
    const int64_t first2 = (int64_t)start2, second2 = (int64_t)next2;
    if (LM_UNLIKELY(!(length2 < 1 || first2 == start2))) goto reference2;
    if (LM_UNLIKELY(!(length2 < 2 || second2 == next2))) goto reference2;
    if (LM_UNLIKELY(!(lm_is_addressable(1, (const lm_int[]){length2}, 8)))) goto reference2;
    f->v4.shape[0] = length2;
    if (LM_UNLIKELY(call->serve->allocate(call, (lm_array *)&f->v4, &type1, 0, NULL) < 0)) return -1;
    if (length2 > 0) ((int64_t *)f->v4.data)[0] = first2;
    if (length2 > 1) ((int64_t *)f->v4.data)[1] = second2;
    void *const unlocked2 = length2 >= LM_LONG ? call->serve->unlock() : NULL;
    for (lm_int i = 2; i < length2; ++i) ((int64_t *)f->v4.data)[i] = (int64_t)((uint64_t)first2 + (uint64_t)i * ((uint64_t)second2 - (uint64_t)first2));
    if (unlocked2 != NULL) call->serve->lock(unlocked2);
done2:;
    lm_release(call, &f->v3.block);
    /* 3: AdvancedSubtensor(float64[?, ?], int64[?], int64[?]) */
    call->step = 3;
    if (LM_UNLIKELY(!(f->v1.shape[0] == f->v4.shape[0]))) goto reference3;
    f->v5.shape[0] = f->v4.shape[0];
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v5, &type4, 0, NULL) < 0)) return -1;
    {
    lm_indexed at = {0, 0, 0, f->v0.data, (const lm_int[]){f->v0.shape[0], f->v0.shape[1]}, (const lm_int[]){f->v0.strides[0], f->v0.strides[1]}, NULL, NULL, NULL};
    lm_join_kept(&at);
    void *const unlocked3 = lm_is_long(f->v4.shape[0], 1) ? call->serve->unlock() : NULL;
    call->serve->nest(call, indexed0, 5, 1, (const lm_int[]){f->v4.shape[0]},
                      (char *const[]){f->v5.data, f->v5.data, f->v4.data, f->v1.data, (char *)&at}, (const lm_int *const[]){(const lm_int[]){f->v5.strides[0]}, (const lm_int[]){f->v5.strides[0]}, (const lm_int[]){f->v4.strides[0]}, (const lm_int[]){f->v1.strides[0]}, (const lm_int[]){0}});
    if (unlocked3 != NULL) call->serve->lock(unlocked3);
    if (LM_UNLIKELY(!(!at.outside))) goto reference3;
    }
done3:;
    lm_release(call, &f->v4.block);
    return 0;

reference1:;
    if (call->serve->reference(call, 1, 1, (const lm_value[]){{&f->v2, &type2}}, 1, (const lm_value[]){{&f->v3, &type3}}) < 0)
        return -1;
    goto done1;

reference2:;
    if (call->serve->reference(call, 2, 3, (const lm_value[]){{&f->c0, &type3}, {&f->v3, &type3}, {&f->c1, &type3}}, 1, (const lm_value[]){{&f->v4, &type1}}) < 0)
        return -1;
    goto done2;

reference3:;
    if (call->serve->reference(call, 3, 3, (const lm_value[]){{&f->v0, &type0}, {&f->v4, &type1}, {&f->v1, &type1}}, 1, (const lm_value[]){{&f->v5, &type4}}) < 0)
        return -1;
    goto done3;
}
