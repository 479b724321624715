"""Tests of the rewriting engine."""
