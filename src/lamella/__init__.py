"""Lamella: a symbolic tensor compiler, built in layers on an immutable intermediate representation.

Build a graph of typed operations, let the library differentiate and rewrite it, and run it as one
compiled C function.  This module is the public face: it defines nothing and only hands names on.
"""
