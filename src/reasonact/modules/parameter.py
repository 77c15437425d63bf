"""The mark of what a program can learn."""

from __future__ import annotations


class Parameter:
    """Base of the parts that a program's saved state holds; `Predict` is one."""
