static const lm_step steps[] = {
    /* 0: v3 = Reshape(v0, v2) */
    {step0, 2, 1, 0, (const int[]){0, 2, 3}},
    /* 1: v4 = Reshape(v0, v1) */
    {step1, 2, 1, 0, (const int[]){0, 1, 4}},
};
