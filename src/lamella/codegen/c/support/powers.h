/* Powers of integers, which wrap. The exponent is read as one without a sign. */

static int64_t lm_integer_power_alone(const int64_t base, const int64_t exponent)
{
    uint64_t result = 1, square = (uint64_t)base;
    for (uint64_t left = (uint64_t)exponent; left != 0; left >>= 1) {
        if (left & 1) result *= square;
        square *= square;
    }
    return (int64_t)result;
}

LM_EASY int64_t lm_integer_power_easy(const int64_t base, const int64_t exponent, int64_t *const hard)
{
    const uint64_t first = (uint64_t)base, second = first * first, third = second * second, fourth = third * third;
    *hard |= (uint64_t)exponent >= 16;
    const uint64_t low = (exponent & 1 ? first : 1) * (exponent & 2 ? second : 1);
    return (int64_t)(low * ((exponent & 4 ? third : 1) * (exponent & 8 ? fourth : 1)));
}

LM_VECTOR_FUNCTION2(int64_t, integer_power)
