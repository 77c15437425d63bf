"""Tools: callables with a schema, their policy, and how the calls of a turn are run."""
