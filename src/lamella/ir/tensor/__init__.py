"""Tensors: their Types and Ops, from elementwise maps and reductions to indexing and shapes."""
