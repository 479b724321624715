static const lm_step steps[] = {
    /* 0: v1 = SortOp(v0) */
    {step0, 1, 1, 0, (const int[]){0, 1}},
    /* 1: v2 = ArgSortOp(v0) */
    {step1, 1, 1, 0, (const int[]){0, 2}},
};
