static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: ARange(int64[], int64[], int64[]) */
    call->step = 0;
    const lm_int length0 = lm_range_length(*(int64_t *)f->c0.data, *(int64_t *)f->v0.data, *(int64_t *)f->c1.data);
    if (LM_UNLIKELY(!(length0 >= 0))) goto reference0;
    const lm_wide start0 = *(int64_t *)f->c0.data, next0 = start0 + *(int64_t *)f->c1.data;
    const int64_t first0 = (int64_t)start0, second0 = (int64_t)next0;
    if (LM_UNLIKELY(!(length0 < 1 || first0 == start0))) goto reference0;
    if (LM_UNLIKELY(!(length0 < 2 || second0 == next0))) goto reference0;
    if (LM_UNLIKELY(!(lm_is_addressable(1, (const lm_int[]){length0}, 8)))) goto reference0;
    f->v2.shape[0] = length0;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v2, &type2, 0, NULL) < 0)) return -1;
    if (length0 > 0) ((int64_t *)f->v2.data)[0] = first0;
    if (length0 > 1) ((int64_t *)f->v2.data)[1] = second0;
    void *const unlocked0 = length0 >= LM_LONG ? call->serve->unlock() : NULL;
    for (lm_int i = 2; i < length0; ++i) ((int64_t *)f->v2.data)[i] = (int64_t)((uint64_t)first0 + (uint64_t)i * ((uint64_t)second0 - (uint64_t)first0));
    if (unlocked0 != NULL) call->serve->lock(unlocked0);
done0:;
    /* 1: ARange(float64[], float64[], float64[]) */
    call->step = 1;
    const double first1 = *(double *)f->c2.data, second1 = first1 + *(double *)f->v1.data;
    const double distance1 = *(double *)f->c3.data - first1, steps1 = distance1 / *(double *)f->v1.data;
    if (LM_UNLIKELY(!(steps1 > -0x1p58 && steps1 < 0x1p58 && (steps1 != 0 || distance1 == 0)))) goto reference1;
    const lm_int length1 = steps1 > 0 ? (lm_int)ceil((double)steps1) : 0;
    if (LM_UNLIKELY(!(lm_is_addressable(1, (const lm_int[]){length1}, 8)))) goto reference1;
    f->v3.shape[0] = length1;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v3, &type3, 0, NULL) < 0)) return -1;
    if (length1 > 0) ((double *)f->v3.data)[0] = first1;
    if (length1 > 1) ((double *)f->v3.data)[1] = second1;
    void *const unlocked1 = length1 >= LM_LONG ? call->serve->unlock() : NULL;
    for (lm_int i = 2; i < length1; ++i) ((double *)f->v3.data)[i] = (double)((double)first1 + (double)i * ((double)second1 - (double)first1));
    if (unlocked1 != NULL) call->serve->lock(unlocked1);
done1:;
    return 0;

reference0:;
    if (call->serve->reference(call, 0, 3, (const lm_value[]){{&f->c0, &type0}, {&f->v0, &type0}, {&f->c1, &type0}}, 1, (const lm_value[]){{&f->v2, &type2}}) < 0)
        return -1;
    goto done0;

reference1:;
    if (call->serve->reference(call, 1, 3, (const lm_value[]){{&f->c2, &type1}, {&f->c3, &type1}, {&f->v1, &type1}}, 1, (const lm_value[]){{&f->v3, &type3}}) < 0)
        return -1;
    goto done1;
}
