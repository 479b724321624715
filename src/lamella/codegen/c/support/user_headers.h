/* The headers that the code of users' Ops may count on. Python's comes first. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
