/* The shared variables of an exported function, as C programs make, read, set and free them. */

static lm_state_value *lm_new_state(const lm_export *const export)
{
    lm_state_value *const values = calloc((size_t)export->n_shared + 1, sizeof(lm_state_value));
    for (int i = 0; values != NULL && i < export->n_shared; ++i)
        values[i] = (lm_state_value){NULL, export->shared[i].data, export->shared[i].shape};
    return values;
}

static void lm_delete_state(const lm_export *const export, lm_state_value *const values)
{
    for (int i = 0; values != NULL && i < export->n_shared; ++i) lm_drop_state_value(&values[i]);
    free(values);
}

static int lm_get_shared(
    const lm_services *const serve, const lm_export *const export, const lm_state_value *const values, const int number,
    lamella_array *const made)
{
    lm_call call = {.serve = serve};
    const lm_type *const type = export->shared_types[number];
    lm_int array[2 + 2 * type->ndim];
    lm_describe((lm_array *)array, type, values[number].data, values[number].shape);
    const int status = lm_give(&call, (lm_array *)array, type, made);
    lm_free_spare(&call);
    return status;
}

static int lm_set_shared(
    const lm_services *const serve, const lm_export *const export, lm_state_value *const values, const int number,
    const lamella_array *const given)
{
    lm_call call = {.serve = serve};
    const lm_type *const type = export->shared_types[number];
    lm_int memory[2 + 2 * type->ndim];
    lm_array *const array = (lm_array *)memory;
    array->block = NULL;
    lm_state_value made = {0};
    int status = lm_take(&call, array, type, given, export->names[export->n_given + number]);
    if (status == 0) status = lm_keep(&call, array, type, &made);
    if (status == 0) {
        lm_drop_state_value(&values[number]);
        values[number] = made;
    }
    lm_release(&call, &array->block);
    lm_free_spare(&call);
    return status;
}
