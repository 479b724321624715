static const lm_step steps[] = {
    /* 0: v2 = MakeVector(v0, v1) */
    {step0, 2, 1, 0, (const int[]){0, 1, 2}},
};
