"""A large real API becomes tools: the schema of each is a JSON schema, and some are called."""

from __future__ import annotations

import datetime
import inspect
import json
import math
import pathlib
import re
import shutil
import statistics
import textwrap
import urllib.parse
import zoneinfo
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest

from reasonact.tools.tool import Tool

OWNERS = [
    math,
    textwrap,
    pathlib.Path,
    datetime,
    datetime.date,
    datetime.datetime,
    datetime.timedelta,
    statistics,
    statistics.NormalDist,
    urllib.parse,
    json,
    re,
    shutil,
    zoneinfo,
    zoneinfo.ZoneInfo,
]


def has_signature(func: Callable[..., Any]) -> bool:
    try:
        inspect.signature(func)
    except (ValueError, TypeError):
        return False
    return True


def surface() -> Iterator[Any]:
    for owner in OWNERS:
        for name in dir(owner):
            member = getattr(owner, name)
            if not name.startswith("_") and callable(member) and has_signature(member):
                yield pytest.param(member, id=f"{getattr(owner, '__name__', owner)}.{name}")


def test_the_surface_is_large() -> None:
    assert len(list(surface())) > 200


@pytest.mark.parametrize("member", list(surface()))
def test_every_function_is_a_tool_with_a_valid_schema(member: Callable[..., Any]) -> None:
    tool = Tool(member)
    function = tool.format_as_litellm_function_call()["function"]
    parameters = function["parameters"]
    jsonschema.Draft202012Validator.check_schema(parameters)
    json.dumps(function, allow_nan=False)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", function["name"])
    wanted = [
        name
        for name, p in inspect.signature(member).parameters.items()
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    assert wanted == parameters["required"]


@pytest.mark.parametrize(
    ("func", "args", "result"),
    [
        (math.gcd, {}, 0),
        (math.sqrt, {"x": 9}, 3.0),
        (math.isclose, {"a": 1, "b": 1.5, "rel_tol": 0.5}, True),
        (textwrap.dedent, {"text": "  a"}, "a"),
        (textwrap.shorten, {"text": "one two three", "width": 8, "placeholder": "…"}, "one two…"),
        (statistics.mean, {"data": [1, 2, 3]}, 2),
        (urllib.parse.quote, {"string": "a b"}, "a%20b"),
        (json.loads, {"s": "[1]", "parse_int": None}, [1]),
        (re.sub, {"pattern": "a", "repl": "b", "string": "aa", "count": 1}, "ba"),
        (pathlib.Path.joinpath, {"self": pathlib.Path("a")}, pathlib.Path("a")),
        (zoneinfo.available_timezones, {}, zoneinfo.available_timezones()),
    ],
)
def test_functions_of_the_surface_can_be_called(func: Callable[..., Any], args: dict[str, Any], result: Any) -> None:
    assert result == Tool(func)(**args)
