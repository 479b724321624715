"""Benchmarks: ours beside NumPy and, where they are installed, PyTensor, JAX and numexpr."""
