"""The intermediate representation: immutable graphs of typed operations and what they mean.

Types, Variables, Apply nodes, Ops and FunctionGraphs; the concrete Types and Ops with their NumPy
meaning; differentiation; printing; and the reference interpreter that every backend is compared with.
"""
