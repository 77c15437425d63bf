"""Names that the agents keep for themselves, and the text that ends a trajectory."""

from __future__ import annotations

from typing import Final

from reasonact.adapters.ending_tools import FINISH, SUBMIT

__all__ = ["ASK", "COMPLETED", "FINISH", "KEYS_PER_STEP", "SUBMIT"]

ASK: Final = "user_clarification"
COMPLETED: Final = "Completed."
KEYS_PER_STEP: Final = 4
"""Thought, tool name, arguments and observation: what one step adds to a trajectory."""
