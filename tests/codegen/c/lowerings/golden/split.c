static const lm_step steps[] = {
    /* 0: v2, v3 = Split(v0, v1) */
    {step0, 2, 2, 0, (const int[]){0, 1, 2, 3}},
};
