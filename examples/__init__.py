"""Examples: each file is a script to read and to run."""
