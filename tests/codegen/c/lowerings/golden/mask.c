static const lm_step steps[] = {
    /* 0: v1 = Gt(v0, constant) */
    {step0, 2, 1, 0, (const int[]){0, -1, 1}},
    /* 1: v2 = Shape_i(v0) */
    {step1, 1, 1, 0, (const int[]){0, 2}},
    /* 2: v3 = Shape_i(v0) */
    {step2, 1, 1, 0, (const int[]){0, 3}},
    /* 3: v4 = CheckMask(v1, v2, v3) */
    {step3, 3, 1, 3, (const int[]){1, 2, 3, 4, 1, 2, 3}},
    /* 4: v5, v6 = Nonzero(v4) */
    {step4, 1, 2, 1, (const int[]){4, 5, 6, 4}},
    /* 5: v7 = AdvancedSubtensor(v0, v5, v6) */
    {step5, 3, 1, 2, (const int[]){0, 5, 6, 7, 5, 6}},
};
