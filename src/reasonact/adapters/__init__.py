"""Typed fields to messages, and completions back to typed fields."""
