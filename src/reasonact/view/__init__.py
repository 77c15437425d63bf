"""A run for people to look at."""
