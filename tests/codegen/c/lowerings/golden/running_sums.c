static const lm_step steps[] = {
    /* 0: v1 = CumOp(v0) */
    {step0, 1, 1, 0, (const int[]){0, 1}},
    /* 1: v2 = LinearRecurrence(v0, v0) */
    {step1, 2, 1, 0, (const int[]){0, 0, 2}},
};
