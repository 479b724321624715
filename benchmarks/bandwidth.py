"""The memory bandwidth of this machine: the triad of McCalpin's STREAM benchmark, as the compiler makes it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["triad_seconds"]

# Huge pages, as NumPy asks for them, too; without, page faults would be measured.
_TRIAD = r"""
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static double *vector(size_t n)
{
    double *x = aligned_alloc(1 << 21, ((n * 8 >> 21) + 1) << 21);
    if (x == NULL) exit(1);
    madvise(x, n * 8, MADV_HUGEPAGE);
    for (size_t i = 0; i < n; ++i) x[i] = 1.0;
    return x;
}

static void triad(double *restrict a, const double *restrict b, const double *restrict c, size_t n)
{
#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; ++i) a[i] = b[i] + 3.0 * c[i];
}

static int ascending(const void *x, const void *y) { return (*(double *)x > *(double *)y) - (*(double *)x < *(double *)y); }

int main(int argc, char **argv)
{
    const size_t n = strtoul(argv[argc - 1], NULL, 10);
    double *a = vector(n), *b = vector(n), *c = vector(n), times[31];
    for (int i = 0; i < 31; ++i) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        triad(a, b, c, n);
        clock_gettime(CLOCK_MONOTONIC, &to);
        times[i] = (to.tv_sec - from.tv_sec) + 1e-9 * (to.tv_nsec - from.tv_nsec);
    }
    qsort(times, 31, sizeof(double), ascending);
    printf("%.9g\n", times[15]);
    return a[0] == 4.0 ? 0 : 1;
}
"""


def triad_seconds(n: int, threads: int, folder: Path) -> float:
    """Return the median seconds that ``a = b + 3*c`` takes for vectors of `n` numbers."""
    source, program = folder / "triad.c", folder / "triad"
    source.write_text(_TRIAD)
    subprocess.run(["cc", "-O3", "-march=native", "-fopenmp", str(source), "-o", str(program)], check=True)
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([str(program), str(n)], env=environment, check=True, capture_output=True, text=True)
    return float(done.stdout)
