from __future__ import annotations

from typing import TYPE_CHECKING

import dspy

if TYPE_CHECKING:
    from dspy import Prediction


def ask() -> Prediction:
    return dspy.Predict("a -> b")(a="x")


def main():
    return ask().b
