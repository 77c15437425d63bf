"""The adapter in force."""

from __future__ import annotations

from typing import Final

from reasonact.adapters.base import Adapter
from reasonact.adapters.chat import ChatAdapter
from reasonact.runtime.settings import settings

_DEFAULT: Final = ChatAdapter()  # one for all: what a run has rendered so far holds for the adapter that did it


def active_adapter() -> Adapter:
    """The adapter that the settings name, else a `ChatAdapter`, the same one each time.

    Raises:
        TypeError: What the settings name is no adapter.
    """
    adapter = settings.adapter
    if adapter is None:
        return _DEFAULT
    if not isinstance(adapter, Adapter):
        raise TypeError(f"the setting adapter is {adapter!r}, not an adapter; write adapter=reasonact.ChatAdapter()")
    return adapter
