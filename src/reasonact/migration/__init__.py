"""The move from DSPy 3.4 to 3.5."""
