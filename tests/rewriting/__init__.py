"""Tests of the rewriting layer."""
