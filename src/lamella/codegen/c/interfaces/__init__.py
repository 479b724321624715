"""C code of users' own Ops and Types."""
