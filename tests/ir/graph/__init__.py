"""Tests of the graph core."""
