"""The @tool decorator: a tool that stays callable like the function it was."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
from pydantic import Field

from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.decorator import tool
from reasonact.tools.tool import Tool


@tool(name="search", description="Search the web.", require_confirmation=True)
def search(query: str = Field(description="the words"), limit: int = Field(3, ge=1)) -> tuple[str, int]:
    """Not this one."""
    return query, limit


@tool
def double(x: int, *, times: int = 1) -> int:
    """Doubles."""
    return x * 2**times


@tool
async def later(x: int) -> int:
    return x


def test_options_go_to_the_tool() -> None:
    assert isinstance(search, Tool)
    assert ("search", "Search the web.") == (search.name, search.desc)
    assert search.policy.require_confirmation is True
    assert {
        "query": {"type": "string", "description": "the words"},
        "limit": {"type": "integer", "minimum": 1, "default": 3},
    } == search.args


def test_without_options_it_goes_by_the_function() -> None:
    assert ("double", "Doubles.") == (double.name, double.desc)


def test_name_and_description_may_be_positional() -> None:
    made = tool("n", "d")(lambda: 0)
    assert ("n", "d") == (made.name, made.desc)


def test_it_is_called_like_the_function_and_field_defaults_are_values() -> None:
    assert ("x", 3) == search("x")
    assert ("x", 4) == search("x", 4)
    assert ("x", 3) == search(query="x")
    assert 8 == double(2, times=2)


async def test_it_is_awaited_like_the_function() -> None:
    assert ("x", 3) == await search.acall("x")
    assert 1 == await later.acall(1)


@pytest.mark.parametrize(("args", "kwargs"), [(("a", 1, 2), {}), (("a",), {"query": "b"})])
def test_positional_arguments_that_do_not_fit_are_a_type_error(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="search"):
        search(*args, **kwargs)


def test_arguments_are_checked_by_position_too() -> None:
    with pytest.raises(InvalidArguments, match="limit"):
        search("x", 0)


def test_an_unknown_option_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        tool(name="x", colour="red")(lambda: 0)  # type: ignore[call-overload]


def test_a_decorated_function_goes_through_pickle_and_deep_copy() -> None:
    copied = pickle.loads(pickle.dumps(search))
    assert copied == search
    assert ("x", 3) == copied("x")
    assert search.func is copied.func
    assert copy.deepcopy(search).func is search.func
    renamed = copy.deepcopy(search)
    renamed.name = "find"
    assert "find" == pickle.loads(pickle.dumps(renamed)).name
