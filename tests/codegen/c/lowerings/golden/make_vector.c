static int steps0(lm_call *const call, struct frame *const f)
{
    /* 0: MakeVector(float64[], float64[]) */
    call->step = 0;
    f->v2.shape[0] = 2;
    if (LM_UNLIKELY(call->serve->allocate_escaping(call, (lm_array *)&f->v2, &type1, 0, NULL) < 0)) return -1;
    memcpy(f->v2.data + 0, f->v0.data, 8);
    memcpy(f->v2.data + 8, f->v1.data, 8);
    return 0;
}
