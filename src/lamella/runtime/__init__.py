"""The runtime: linkers, modes, shared storage and the callable Function, the only thing with state."""
