"""DSPy's import path for callbacks and the dummy model."""

from reasonact.runtime.callbacks import BaseCallback as BaseCallback
from reasonact.runtime.callbacks import with_callbacks as with_callbacks
from reasonact.testing import DummyLM as DummyLM

__all__ = ["BaseCallback", "DummyLM", "with_callbacks"]
