"""Signatures: what goes in and what comes out of a model call."""
