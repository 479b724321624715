"""What a type checker accepts and refuses."""
