"""Which models have refused an option of a request, so that they are not asked again."""

from __future__ import annotations

import weakref
from typing import Any

from reasonact.errors import ContextWindowExceededError, LMInvalidRequestError, LMUnsupportedFeatureError

Refusal = (LMInvalidRequestError, LMUnsupportedFeatureError)
"""The errors by which a server or a client refuses an option."""


class Refusals:
    """A note of the models that refused one option; it keeps none of them alive.

    Args:
        words: Any of these in an error's text, in any letter case, says that it is this
            option that was refused.
    """

    __slots__ = ("_models", "_words")

    def __init__(self, *words: str) -> None:
        self._words = tuple(word.casefold() for word in words)
        self._models: weakref.WeakSet[Any] = weakref.WeakSet()

    def note(self, lm: Any, error: Exception) -> bool:
        """Note a model, if an error is about this option.

        Args:
            lm: The model.
            error: What it raised.

        Returns:
            Whether the error is about this option.
        """
        if not isinstance(error, Refusal) or isinstance(error, ContextWindowExceededError):
            return False
        said = " ".join([str(error), *map(str, getattr(error, "features", ()))]).casefold()
        if not any(word in said for word in self._words):
            return False
        try:
            self._models.add(lm)
        except TypeError:  # a model that cannot be held weakly is asked again each time
            pass
        return True

    def __contains__(self, lm: object) -> bool:
        try:
            return lm in self._models
        except TypeError:
            return False
