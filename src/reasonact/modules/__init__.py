"""Modules: programs made of model calls."""
