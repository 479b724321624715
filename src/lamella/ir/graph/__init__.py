"""The graph core: Type, Variable, Constant, Apply, Op and FunctionGraph, and algorithms on them.

Nothing in this folder knows what a tensor is.
"""
