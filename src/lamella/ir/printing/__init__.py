"""Printing: trees, mathematical notation and the stable textual form of a graph."""
