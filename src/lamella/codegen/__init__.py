"""The code generators: from a ScheduledGraph to a compiled module, one folder per target."""
