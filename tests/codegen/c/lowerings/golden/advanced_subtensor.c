static const lm_step steps[] = {
    /* 0: v4 = Shape(v0) */
    {step0, 1, 1, 0, (const int[]){0, 4}},
    /* 1: v5 = Subtensor(v4) */
    {step1, 1, 1, 1, (const int[]){4, 5, 4}},
    /* 2: v6 = ARange(v2, v5, v3) */
    {step2, 3, 1, 1, (const int[]){2, 5, 3, 6, 5}},
    /* 3: v7 = AdvancedSubtensor(v0, v6, v1) */
    {step3, 3, 1, 1, (const int[]){0, 6, 1, 7, 6}},
};
