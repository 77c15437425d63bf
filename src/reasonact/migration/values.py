"""What the checker knows of a value without running the program: which kind of thing it may be.

A name stands for a set of these. An empty set means that nothing of interest is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Line = Literal["dspy", "3.4", "3.5", "3.6"]
Kind = Literal["trajectory", "structured", "kept"]
"""An agent: ReAct of 3.4, the structured one, or TrajectoryReAct, which no move changes."""


@dataclass(frozen=True)
class Namespace:
    """The library, or a path inside it, as a module.

    Args:
        line: DSPy itself, or a line of this library.
        path: The path below it; empty for the root.
        binding: Which import gave it: the id of its node, and the line that was taken from it.
    """

    line: Line
    path: str
    binding: tuple[int, str]


@dataclass(frozen=True)
class Public:
    """A class or function of the library."""

    line: Line
    name: str


@dataclass(frozen=True)
class Member:
    """An attribute of a class of the library."""

    owner: Public
    name: str


@dataclass(frozen=True)
class FileClass:
    """A class of the file, by the id of its node."""

    node: int


@dataclass(frozen=True)
class FileFunction:
    """A function of the file, by the id of its node."""

    node: int


@dataclass(frozen=True)
class Bound:
    """A function of the file as a method of something."""

    owner: Instance | Agent
    node: int


@dataclass(frozen=True)
class Instance:
    """An object of a class of the file that is no agent."""

    node: int


@dataclass(frozen=True)
class Agent:
    """An agent, of a class of the file where ``node`` is its id."""

    kind: Kind
    node: int | None = None


@dataclass(frozen=True)
class Parent:
    """What ``super()`` is in a subclass of an agent."""

    kind: Kind


@dataclass(frozen=True)
class MethodOf:
    """A method of something that is not of the file."""

    owner: Agent | Parent | Result | Trajectory | ToolTable | Several
    name: str


@dataclass(frozen=True)
class Result:
    """What a run of an agent returns."""

    kind: Kind


@dataclass(frozen=True)
class Trajectory:
    """A trajectory."""

    kind: Kind


@dataclass(frozen=True)
class Step:
    """A value from a trajectory."""

    kind: Kind


@dataclass(frozen=True)
class ToolTable:
    """An agent's ``tools``."""

    kind: Kind


@dataclass(frozen=True)
class NamedTool:
    """A tool, by name."""

    name: str


@dataclass(frozen=True)
class Past:
    """A `History`."""


@dataclass(frozen=True)
class Several:
    """A container that holds something."""

    item: Value


Value = (
    Namespace
    | Public
    | Member
    | FileClass
    | FileFunction
    | Bound
    | Instance
    | Agent
    | Parent
    | MethodOf
    | Result
    | Trajectory
    | Step
    | ToolTable
    | NamedTool
    | Past
    | Several
)
Values = frozenset[Value]

NOTHING: Final[Values] = frozenset()

_STRUCTURED_REACT: Final = ("3.5", "3.6")


def agent_kind(value: Value) -> Kind | None:
    """Which agent a name of the library is the class of.

    Args:
        value: What the name stands for.

    Returns:
        The kind; None for anything else.
    """
    if not isinstance(value, Public):
        return None
    if value.name == "TrajectoryReAct":
        return "kept"
    if value.name == "ReActV2":
        return "structured"
    if value.name == "ReAct":
        return "structured" if value.line in _STRUCTURED_REACT else "trajectory"
    return None


def several(values: Values) -> Values:
    """A container of each of the values; containers in containers are one."""
    return frozenset(value if isinstance(value, Several) else Several(value) for value in values)


def items(values: Values) -> Values:
    """What the containers among the values hold."""
    return frozenset(value.item for value in values if isinstance(value, Several))
