"""Streams of a running program."""
