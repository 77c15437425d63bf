"""Tools beside DSPy's: arguments, descriptors, texts, results, refusals."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import pathlib
import sys
import warnings
from collections.abc import Callable
from typing import Any, Literal, Optional, Union

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from reasonact.runtime.callbacks import BaseCallback
from reasonact.runtime.settings import context
from reasonact.tools.tool import Tool

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dspy

# ruff: noqa: UP007, UP045


class Inner(BaseModel):
    """An inner thing."""

    name: str = Field(description="its name", min_length=1)
    count: int = 3


class Outer(BaseModel):
    items: list[Inner]
    one: Inner
    maybe: Optional[Inner] = None
    by_name: dict[str, Inner] = {}


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Place(TypedDict):
    city: str


@dataclasses.dataclass
class Point:
    x: int
    y: str = "q"


def nothing() -> str:
    return "nothing"


def scalars(a: int, b: str, c: float, d: bool) -> Any:
    """Takes scalars.

    And more.
    """
    return a, b, c, d


def defaults(a: int, b: str = "x", c: Optional[int] = None, d: list[str] = [], e: bool = True) -> Any:
    """Has defaults."""
    return a, b, c, d, e


def unions(u: Union[int, str], lit: Literal["a", "b"], opt: int | None, m: dict[str, list[int]]) -> Any:
    return u, lit, opt, m


def models(o: Outer, many: list[Inner]) -> Any:
    return o, many


def with_model_default(i: Inner = Inner(name="z")) -> Any:
    return i


def enums(c: Colour, d: Colour = Colour.RED) -> Any:
    return c, d


def records(p: Point, t: Place) -> Any:
    return p, t


def times(d: datetime.date, t: datetime.datetime, q: decimal.Decimal, p: pathlib.Path) -> Any:
    return d, t, q, p


def untyped(x, y=3):  # type: ignore[no-untyped-def]
    return x, y


def anything(x: Any, y: Any = None) -> Any:
    return x, y


def strings(a: int, b: list[str]) -> Any:
    return a, b


async def later(x: int) -> int:
    """Async."""
    return x


class Callables:
    """A class with a call."""

    def __call__(self, x: int) -> int:
        return x

    def method(self, x: int) -> int:
        """A method."""
        return x


FUNCTIONS: list[Callable[..., Any]] = [
    nothing, scalars, defaults, unions, models, with_model_default, enums, records, times, untyped, strings, later,
    Callables(), Callables().method,
]  # fmt: skip


def pair(func: Callable[..., Any], **options: Any) -> tuple[Tool, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Tool(func, **options), dspy.Tool(func, **options)


_MADE_OPTIONAL = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="a default of None made every type optional there, and DSPy keeps that"
)


@pytest.mark.parametrize("func", [*FUNCTIONS, pytest.param(anything, marks=_MADE_OPTIONAL)])
def test_arguments_and_descriptors_are_the_same(func: Callable[..., Any]) -> None:
    ours, theirs = pair(func)
    assert theirs.args == ours.args
    assert list(theirs.args) == list(ours.args)
    assert theirs.arg_types == ours.arg_types
    assert (theirs.name, theirs.desc, theirs.arg_desc) == (ours.name, ours.desc, ours.arg_desc)
    assert theirs.has_kwargs == ours.has_kwargs
    assert theirs.format_as_litellm_function_call() == ours.format_as_litellm_function_call()
    assert repr(theirs) == repr(ours)


@pytest.mark.parametrize(
    ("func", "options"),
    [
        (scalars, {"name": "other", "desc": "Other."}),
        (scalars, {"arg_desc": {"a": "the a", "d": "the d"}}),
        (untyped, {"args": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 3}}}),
        (lambda **kw: kw, {"name": "free", "args": {"q": {"type": "string", "description": "the words"}}}),
        (lambda: "Completed.", {"name": "finish", "desc": "Done.", "args": {}}),
    ],
)
def test_options_have_the_same_effect(func: Callable[..., Any], options: dict[str, Any]) -> None:
    ours, theirs = pair(func, **options)
    assert theirs.args == ours.args
    assert theirs.format_as_litellm_function_call() == ours.format_as_litellm_function_call()


@pytest.mark.parametrize("func", FUNCTIONS)
def test_the_text_holds_the_same_things_in_the_same_order(func: Callable[..., Any]) -> None:
    ours, theirs = pair(func)
    described = f"<desc>{ours.desc}</desc>".replace("\n", "  ") if ours.desc else ""
    for text in (str(ours), str(theirs)):
        quoted = text.replace("'", '"')
        assert text.startswith(ours.name)
        assert described in text
        places = [quoted.index(f'"{name}": {{', quoted.index(described)) for name in ours.args]
        assert sorted(places) == places
        assert "\n" not in text
    assert [theirs.format(), ours.format()] == [str(theirs), str(ours)]
    assert [theirs.model_dump(), ours.model_dump()] == [str(theirs), str(ours)]


CALLS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (nothing, {}),
    (scalars, {"a": 1, "b": "x", "c": 1.5, "d": True}),
    (defaults, {"a": 1}),
    (defaults, {"a": 1, "b": "y", "c": 4, "d": ["q"], "e": False}),
    (unions, {"u": "x", "lit": "a", "opt": None, "m": {"k": [1]}}),
    (models, {"o": {"items": [{"name": "a"}], "one": {"name": "b"}}, "many": [{"name": "c", "count": 4}]}),
    (with_model_default, {}),
    (with_model_default, {"i": {"name": "n"}}),
    (with_model_default, {"i": Inner(name="n")}),
    (enums, {"c": "blue"}),
    (records, {"p": {"x": 1}, "t": {"city": "Rome"}}),
    (times, {"d": "2024-05-06", "t": "2024-05-06T07:08:09", "q": 1.5, "p": "/tmp/x"}),
    (untyped, {"x": object}),
    (anything, {"x": [1, {"a": None}]}),
    (lambda a, **kw: (a, kw), {"a": 1, "b": 2}),
]


@pytest.mark.parametrize(("func", "args"), CALLS)
async def test_calls_give_the_same(func: Callable[..., Any], args: dict[str, Any]) -> None:
    ours, theirs = pair(func)
    assert theirs(**args) == ours(**args)
    assert await theirs.acall(**args) == await ours.acall(**args)


@pytest.mark.parametrize(
    ("func", "args"),
    [
        (scalars, {"a": "x", "b": "x", "c": 1.5, "d": True}),
        (scalars, {"a": 1, "b": 5, "c": 1.5, "d": True}),
        (nothing, {"a": 1}),
        (models, {"o": {"items": []}, "many": []}),
        (models, {"o": 3, "many": []}),
        (enums, {"c": "green"}),
        (records, {"p": {}, "t": {"city": "Rome"}}),
        (later, {"x": 1}),
    ],
)
def test_both_refuse_the_same_with_a_value_error(func: Callable[..., Any], args: dict[str, Any]) -> None:
    for tool in pair(func):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError):
                tool(**args)


def test_both_refuse_positional_arguments_with_a_type_error() -> None:
    for tool in pair(scalars):
        with pytest.raises(TypeError):
            tool(1, "x", 1.5, True)


@pytest.mark.parametrize("func", [3, None, "x"])
def test_both_refuse_what_cannot_be_called_with_a_value_error(func: Any) -> None:
    for make in (Tool, dspy.Tool):
        with pytest.raises(ValueError):
            make(func)


def test_async_conversion_has_the_same_switch() -> None:
    ours, theirs = pair(later)
    with context(allow_tool_async_sync_conversion=True), dspy.context(allow_tool_async_sync_conversion=True):
        assert theirs(x=1) == ours(x=1)
    assert asyncio.run(theirs.acall(x=1)) == asyncio.run(ours.acall(x=1))


def test_callbacks_get_the_same() -> None:
    def recorder(base: type) -> tuple[Any, list[Any]]:
        seen: list[Any] = []

        class Recorder(base):  # type: ignore[misc]
            def on_tool_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
                seen.append((instance.name, inputs))

            def on_tool_end(self, call_id: str, outputs: Any, exception: Exception | None = None) -> None:
                seen.append((outputs, exception is None))

        return Recorder(), seen

    ours, theirs = pair(defaults)
    our_recorder, our_seen = recorder(BaseCallback)
    their_recorder, their_seen = recorder(dspy.utils.BaseCallback)
    with context(callbacks=[our_recorder]), dspy.context(callbacks=[their_recorder]):
        for tool in (ours, theirs):
            tool(a=1)
            with pytest.raises(ValueError):
                tool(a="x")
    assert their_seen == our_seen


def test_both_are_equal_by_their_fields_and_have_these() -> None:
    assert [True, True] == [Tool(scalars) == Tool(scalars), dspy.Tool(scalars) == dspy.Tool(scalars)]
    assert list(dspy.Tool.model_fields) == list(Tool.model_fields)[:7]


@pytest.mark.parametrize(
    ("func", "args", "result"),
    [
        (scalars, {"a": "1", "b": "x", "c": "1.5", "d": "true"}, (1, "x", 1.5, True)),
        (defaults, {"a": 1, "b": None}, (1, "x", None, [], True)),
        (with_model_default, {"i": '{"name": "n"}'}, Inner(name="n")),
    ],
)
def test_what_is_unambiguous_is_converted_where_dspy_refuses(
    func: Callable[..., Any], args: dict[str, Any], result: Any
) -> None:
    ours, theirs = pair(func)
    with pytest.raises(ValueError):
        theirs(**args)
    assert result == ours(**args)


def test_descriptions_beside_a_nested_model_are_kept_where_dspy_loses_them() -> None:
    class Holder(BaseModel):
        inner: Inner = Field(description="of the field")

    ours, theirs = pair(lambda h: h, arg_types={"h": Holder})[0], dspy.Tool(_holding(Holder))
    assert "An inner thing." == theirs.args["h"]["properties"]["inner"]["description"]
    assert "of the field" == ours.args["h"]["properties"]["inner"]["description"]


def _holding(holder: type) -> Callable[..., Any]:
    def hold(h: Any) -> None: ...

    hold.__annotations__["h"] = holder
    return hold


def test_hidden_star_arguments_where_dspy_shows_them() -> None:
    ours, theirs = pair(lambda a, *rest, **more: a)
    assert ["a", "rest", "more"] == list(theirs.args)
    assert ["a"] == list(ours.args)
