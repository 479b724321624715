"""Automatic differentiation: gradients, pullbacks and pushforwards as graphs built from graphs."""
