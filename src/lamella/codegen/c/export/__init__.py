"""Compiled graphs written as C libraries, which need no Python."""
