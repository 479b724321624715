"""The C target: interfaces, kernels, lowerings, the compiler driver and the on-disk cache."""
