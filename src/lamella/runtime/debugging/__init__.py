"""What `DebugMode` checks: nodes, shapes, C code and rewrites, each in a file of its own."""
