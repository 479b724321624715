static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: SortOp(float64[?, ?]) */
    call->step = 0;
    if (LM_UNLIKELY(call->serve->sort(call, &(const lm_value){(lm_array *)&f->v1, &type0}, &(const lm_value){(lm_array *)&f->v0, &type0}, 0, 0) < 0)) return -1;
    /* 1: ArgSortOp(float64[?, ?]) */
    call->step = 1;
    if (LM_UNLIKELY(call->serve->sort(call, &(const lm_value){(lm_array *)&f->v2, &type1}, &(const lm_value){(lm_array *)&f->v0, &type0}, 1, 1) < 0)) return -1;
    return 0;
}
