static const lm_step steps[] = {
    /* 0: v3 = AdvancedIncSubtensor(v0, v1, v2, v2) */
    {step0, 4, 1, 0, (const int[]){0, 1, 2, 2, 3}},
};
