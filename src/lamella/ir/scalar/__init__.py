"""Scalars: their Types and the scalar Ops that elementwise Ops apply to every element."""
