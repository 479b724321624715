"""Control flow: Ops that choose, repeat or wrap other graphs."""
