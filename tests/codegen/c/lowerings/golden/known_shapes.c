static const lm_step steps[] = {
    /* 0: v3 = Reshape(v0, v2) */
    {step0, 2, 1, 0, (const int[]){0, 2, 3}},
    /* 1: v4 = AdvancedSubtensor1(v3, v1) */
    {step1, 2, 1, 1, (const int[]){3, 1, 4, 3}},
    /* 2: v5 = Sum(v4) */
    {step2, 1, 1, 1, (const int[]){4, 5, 4}},
};
