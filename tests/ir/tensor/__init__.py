"""Tests of tensors and their Ops."""
