"""The engine: rewriters, walks, equilibrium, merging, patterns, and the log of what replaced what."""
