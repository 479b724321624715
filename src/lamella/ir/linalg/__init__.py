"""Linear algebra: Ops on matrices and stacks of matrices."""
