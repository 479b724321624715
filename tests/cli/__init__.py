"""Tests of the `lamella` command."""
