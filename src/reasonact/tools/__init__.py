"""Tools: callables with a schema."""
