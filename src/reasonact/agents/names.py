"""Names that the agents keep for themselves, and the text that ends a trajectory."""

from __future__ import annotations

from typing import Final

FINISH: Final = "finish"
SUBMIT: Final = "submit"
ASK: Final = "user_clarification"
COMPLETED: Final = "Completed."
KEYS_PER_STEP: Final = 4
"""Thought, tool name, arguments and observation: what one step adds to a trajectory."""
