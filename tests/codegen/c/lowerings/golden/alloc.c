static const lm_step steps[] = {
    /* 0: v5 = Alloc(v0, v1, v2) */
    {step0, 3, 1, 0, (const int[]){0, 1, 2, 5}},
    /* 1: v6 = Alloc(v3, v1, v4) */
    {step1, 3, 1, 0, (const int[]){3, 1, 4, 6}},
};
