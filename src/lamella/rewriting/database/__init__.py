"""The databases: queries, databases of rewriters, and optdb, assembled in one readable file."""
