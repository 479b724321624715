"""Tests of the typing layer."""
