static const lm_step steps[] = {
    /* 0: v3 = IncSubtensor(v0, v1, v2) */
    {step0, 3, 1, 0, (const int[]){0, 1, 2, 3}},
};
