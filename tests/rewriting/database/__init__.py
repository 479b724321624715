"""Tests of the databases of rewriters."""
