"""The tools by which a model ends a run."""

from __future__ import annotations

from typing import Final

FINISH: Final = "finish"
"""Ends a run of ReAct, whose history the structured agent may go on from."""

SUBMIT: Final = "submit"
"""Ends a run of ReActV2, with its outputs."""
