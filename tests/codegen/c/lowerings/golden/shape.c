static const lm_step steps[] = {
    /* 0: v2 = Shape(v0) */
    {step0, 1, 1, 0, (const int[]){0, 2}},
    /* 1: v3 = Shape_i(v0) */
    {step1, 1, 1, 0, (const int[]){0, 3}},
    /* 2: v4 = SpecifyShape(v0, v1) */
    {step2, 2, 1, 0, (const int[]){0, 1, 4}},
};
