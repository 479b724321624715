static const lm_step steps[] = {
    /* 0: v4 = ExtractDiag(v0) */
    {step0, 1, 1, 0, (const int[]){0, 4}},
    /* 1: v5 = Shape_i(v1) */
    {step1, 1, 1, 0, (const int[]){1, 5}},
    /* 2: v6 = AllocDiag(v1, v5, v5) */
    {step2, 3, 1, 1, (const int[]){1, 5, 5, 6, 5}},
    /* 3: v7 = Eye(v2, v2, v3) */
    {step3, 3, 1, 0, (const int[]){2, 2, 3, 7}},
};
