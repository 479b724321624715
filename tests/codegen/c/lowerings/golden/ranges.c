static const lm_step steps[] = {
    /* 0: v6 = ARange(v2, v0, v3) */
    {step0, 3, 1, 0, (const int[]){2, 0, 3, 6}},
    /* 1: v7 = ARange(v4, v5, v1) */
    {step1, 3, 1, 0, (const int[]){4, 5, 1, 7}},
};
