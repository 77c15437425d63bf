"""Other files import the names from here, so they stay."""
from dspy import ReAct as Agent, Tool

__all__ = ["Agent", "Tool"]


def main():
    return [name for name in __all__ if name in globals()]
