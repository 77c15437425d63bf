"""What is fuzzed: a function for each parser, which takes any bytes and raises where a promise is broken.

The promises: nothing but the documented exceptions; values of the declared types, and the same ones
when they are written and read again; pieces of a stream that add up to the same wherever the text is cut.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from functools import cache, lru_cache
from typing import Any, Final, Literal, Optional, Union

from fuzz_input import Input, cuts, is_json
from pydantic import BaseModel, TypeAdapter

from reasonact.adapters.base import Adapter
from reasonact.adapters.call_shapes import read_native_call, read_tool_calls
from reasonact.adapters.call_splitter import CallSplitter
from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.json_adapter import JSONAdapter
from reasonact.adapters.splitting import Splitter
from reasonact.adapters.text_protocol import TextProtocolAdapter
from reasonact.adapters.xml_adapter import XMLAdapter
from reasonact.errors import AdapterParseError
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature
from reasonact.testing import ScriptedLM
from reasonact.tools.arguments import InvalidArguments
from reasonact.tools.tool import Tool
from reasonact.types.history import History
from reasonact.types.reasoning import Reasoning
from reasonact.types.tool_calls import ToolCalls

# ruff: noqa: UP007, UP045  # a Union of types that are chosen has no other form


class Colour(Enum):
    RED = "r"
    BLUE = "b"


class Place(BaseModel):
    name: str
    rank: Optional[int] = None
    tags: list[str] = []


class Tree(BaseModel):
    value: int
    below: list[Tree] = []


def _signature(**outputs: Any) -> Any:
    return Signature({"q": (str, InputField()), **{name: (kind, OutputField()) for name, kind in outputs.items()}})


SIGNATURES: Final = [
    _signature(a=str, b=int, c=Optional[list[str]]),
    _signature(next_thought=str, next_tool_name=str, next_tool_args=dict[str, Any]),
    _signature(a=list[Place], b=Place),
    _signature(a=Union[int, float, bool, None], b=Decimal, c=dict[str, int]),
    _signature(a=Literal["x", 1, "</a>"], b=Colour, c=date),
    _signature(a=Tree, b=Union[Place, list[Place], str], c=Any),
    _signature(a=Reasoning, b=bool),
    _signature(a=str),
    _signature(a=tuple[int, str], b=Union[dict[str, Any], str], c=set[int]),
]


def search(query: str, limit: int = 3) -> str:
    """Search."""
    return query


def look(place: Place) -> str:
    """Look."""
    return place.name


_TOOLS: Final = [Tool(search), Tool(look)]
_AGENT: Final = (
    Signature({"question": (str, InputField())}, "Work.")
    .append("history", InputField(), type_=History)
    .append("tools", InputField(), type_=list[Tool])
    .append("next_thought", OutputField(), type_=Reasoning)
    .append("tool_calls", OutputField(), type_=ToolCalls)
)


def _plan(adapter: Adapter) -> Any:
    lm = ScriptedLM([], function_calling=True)
    return adapter.render(lm, {}, _AGENT, [], {"question": "q", "history": History(messages=[]), "tools": _TOOLS})


@dataclass(frozen=True)
class _Form:
    """An adapter, with the plan of an agent's turn in its text form."""

    adapter: Adapter
    plan: Any


@cache
def _form(kind: type[Any]) -> _Form:
    adapter = kind() if kind is TextProtocolAdapter else kind(use_native_function_calling=False)
    return _Form(adapter, _plan(adapter))


@cache
def _native(kind: type[Any]) -> _Form:
    adapter = kind(use_native_function_calling=True)
    return _Form(adapter, _plan(adapter))


@cache
def _checker(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


# Adapters


def chat(data: bytes) -> None:
    """ChatAdapter: reading a completion, and cutting it into fields."""
    _adapter(ChatAdapter, data)


def json(data: bytes) -> None:
    """JSONAdapter: the same."""
    _adapter(JSONAdapter, data)


def xml(data: bytes) -> None:
    """XMLAdapter: the same."""
    _adapter(XMLAdapter, data)


def protocol(data: bytes) -> None:
    """TextProtocolAdapter: the same."""
    _adapter(TextProtocolAdapter, data)


def _adapter(kind: type[Any], data: bytes) -> None:
    source = Input(data)
    which, places = source.byte() % (len(SIGNATURES) + 1), bytes([source.byte(), source.byte(), source.byte()])
    text = source.text()
    form = _form(kind)
    if which == len(SIGNATURES):
        _read_turn(form, text)
        _cut_alike(lambda: form.adapter.splitter(form.plan), text, places)
    else:
        signature = SIGNATURES[which]
        _read(form.adapter, signature, text)
        _cut_alike(lambda: form.adapter.field_splitter(signature), text, places)


def _read(adapter: Adapter, signature: Any, text: str) -> None:
    try:
        values = adapter.parse(signature, text)
    except AdapterParseError as error:
        assert text == error.lm_response
        assert str(error)
        return
    assert list(signature.output_fields) == list(values)
    for name, info in signature.output_fields.items():
        if values[name] is not None or info.annotation in (str, int):
            _checker(info.annotation).validate_python(values[name], strict=True)
    if len(text) < 2_000 and _can_be_sent(values):
        written = adapter.format_assistant_message_content(signature, values)
        again = adapter.parse(signature, written)
        assert _kept(values) == _kept(again), (values, written, again)


def _read_turn(form: _Form, text: str) -> None:
    try:
        (values,) = form.adapter.read(form.plan, [text])
    except AdapterParseError as error:
        assert text == error.lm_response
        return
    assert isinstance(values["next_thought"], Reasoning | None)
    assert isinstance(values["tool_calls"], ToolCalls)
    for call in values["tool_calls"].tool_calls:
        assert isinstance(call.name, str)
        assert all(isinstance(name, str) for name in call.args)


def _can_be_sent(values: dict[str, Any]) -> bool:
    try:
        repr(values).encode()
    except RecursionError:
        return False
    return "\\ud" not in repr(values)


def _kept(values: dict[str, Any]) -> str:
    """Values as they can be compared: NaN is NaN, sets have no order, and texts have no outer white space."""
    shown = {
        name: value.strip() if isinstance(value, str) else sorted(value) if isinstance(value, set) else value
        for name, value in values.items()
    }
    return repr(shown)


def _cut_alike(make: Callable[[], Splitter], text: str, places: bytes) -> None:
    whole = _split(make(), [text])
    for chunks in _chunks(places, text):
        assert whole == _split(make(), chunks)


def _chunks(places: bytes, text: str) -> list[Iterable[str]]:
    """A text cut at places that were chosen, and cut everywhere; a long one into words, to save time."""
    size = 1 if len(text) < 1_000 else 9
    return [cuts(places, text), (text[start : start + size] for start in range(0, len(text), size))]


def _split(splitter: Splitter, chunks: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """The text of each field, and the fields in the order in which they were done."""
    texts: dict[str, list[str]] = {}
    done: list[str] = []
    pieces = [piece for chunk in chunks for piece in splitter.feed(chunk)]
    for piece in [*pieces, *splitter.close()]:
        texts.setdefault(piece.field, []).append(piece.delta)
        if piece.done:
            done.append(piece.field)
    return {name: "".join(deltas) for name, deltas in texts.items()}, done


# Calls


def calls(data: bytes) -> None:
    """Calls as a provider gives them, the text beside them, and calls written in a field of text."""
    source = Input(data)
    kind, given, places = source.choice([ChatAdapter, JSONAdapter, XMLAdapter]), source.byte(), bytes([source.byte()])
    name, value = source.choice(["search", "look", "submit", "", " ", None, 3]), source.value()
    text = source.text()
    arguments = [text, value, None, {"query": text}][given % 4]
    entry = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    read = read_native_call(entry)
    assert isinstance(read.args, (dict, str))
    form = _native(kind)
    try:
        (values,) = form.adapter.read(form.plan, [{"text": text, "tool_calls": [entry] if given < 128 else []}])
    except AdapterParseError as error:
        assert text == error.lm_response
    else:
        assert isinstance(values["tool_calls"], ToolCalls | None)
    for written in (text, value):
        try:
            found = read_tool_calls(written)
        except ValueError:
            continue
        assert all(isinstance(call["name"], str) and isinstance(call["args"], dict) for call in found)
    _cut_alike(lambda: form.adapter.splitter(form.plan), text, places)
    whole = _call_deltas([text])
    for chunks in _chunks(places, text):
        assert whole == _call_deltas(chunks)


def _call_deltas(chunks: Iterable[str]) -> dict[int, list[Any]]:
    splitter, found = CallSplitter(), {}
    for delta in (delta for chunk in chunks for delta in splitter.feed(chunk)):
        known = found.setdefault(delta.index, [None, None, []])
        known[0] = known[0] or delta.id
        known[1] = known[1] or delta.name
        known[2].append(delta.arguments)
    return {index: [call_id, name, "".join(parts)] for index, (call_id, name, parts) in found.items()}


# Arguments of tools

SCALARS: Final = [
    *(int, str, float, bool, date, Decimal, Colour, Place, Tree, Literal["a", 1], Any, bytes, type(None)),
    *(dict, list, set[int]),
]
KINDS: Final = [
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
]
NAMES: Final = ["x", "y", "self", "name", "kwargs", "schema", "func", "k"]
EMPTY: Final = inspect.Parameter.empty


def _annotation(source: Input, depth: int = 0) -> Any:
    kind = source.byte()
    if kind < 128 or depth > 2:
        return SCALARS[kind % len(SCALARS)]
    inner = _annotation(source, depth + 1)
    forms: list[Callable[[], Any]] = [
        lambda: list[inner],
        lambda: dict[str, inner],
        lambda: Optional[inner],
        lambda: Union[inner, _annotation(source, depth + 1)],
        lambda: tuple[inner, _annotation(source, depth + 1)],
    ]
    return forms[kind % len(forms)]()


@lru_cache(maxsize=2_000)
def _tool(shape: bytes, strict: bool, by_schema: bool) -> Tool:
    """A tool with parameters that the bytes choose; by its schema it knows nothing of their types."""
    source = Input(shape)
    drawn: dict[str, Any] = {}
    for _ in range(1 + source.byte() % 3):
        name, kind, default = source.choice(NAMES), source.choice(KINDS), source.choice([EMPTY, None, 5])
        drawn[name] = (kind, default, _annotation(source))
    parameters, optional = [], False
    for name, (kind, default, annotation) in sorted(drawn.items(), key=lambda item: KINDS.index(item[1][0])):
        if kind is not inspect.Parameter.KEYWORD_ONLY:
            optional = optional or default is not EMPTY
            default = None if optional and default is EMPTY else default
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    if source.byte() % 2:
        parameters.append(inspect.Parameter("more", inspect.Parameter.VAR_KEYWORD))

    def echo(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    echo.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    typed = Tool(echo, strict=strict)
    if not by_schema:
        return typed
    schema = typed.format_as_litellm_function_call()["function"]["parameters"]
    return Tool(lambda **kwargs: kwargs, name="echo", schema=schema, strict=strict)


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except RecursionError:
        return "(deep)"


def arguments(data: bytes) -> None:
    """The arguments of a tool: converted to their types, or refused by name."""
    source = Input(data)
    options = source.byte()
    shape = bytes(source.byte() for _ in range(16))
    tool = _tool(shape, options % 4 == 1, options % 4 == 2)
    given: dict[str, Any] = {}
    for _ in range(source.byte() % 4):
        name = source.choice([*tool.args, "stray"])
        given[name] = source.value()
    before = _shown(given)
    try:
        values = tool.check_args(given)
    except InvalidArguments as error:
        assert error.names
        assert str(error)
        assert before == _shown(given)
        return
    assert before == _shown(given)
    for name, value in values.items():
        if name in tool.arg_types and tool.arg_types[name] is not EMPTY:
            _checker(tool.arg_types[name]).validate_python(value, strict=True)
    assert tool.check_args(values).keys() == values.keys()
    if is_json(given):
        str(tool(**given))


TARGETS: Final[dict[str, Callable[[bytes], None]]] = {
    "chat": chat,
    "json": json,
    "xml": xml,
    "protocol": protocol,
    "calls": calls,
    "arguments": arguments,
}
