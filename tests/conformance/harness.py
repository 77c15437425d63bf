"""Play one script through DSPy 3.4.1 and through reasonact, and hold both records side by side.

A `Scenario` says in neutral words what the model writes; `play` puts it into the form that
the adapter reads, runs the program on the library it is given, and returns a `Record` of
plain data: what came out, what the model was sent, what the program looks like. Sentences
are left out of it, for they are each library's own; roles, order, markers, keys, schemas,
ids, values and options are in.
"""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import enum
import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

from pydantic import BaseModel

MARKER = re.compile(r"\[\[ ## (\w+) ## \]\]")
MARKER_LINE = re.compile(r"^\[\[ ## (\w+) ## \]\]$", re.MULTILINE)
FIELD_LINE = re.compile(r"^\d+\. `(\w+)` \((.*)\):", re.MULTILINE)
QUOTED_NAME = re.compile(r"\[\[ ## (\w+) ## \]\]|`(\w+)`")
JSON_SLOT = re.compile(r'^  "(\w+)": ', re.MULTILINE)


# What the model writes


@dataclass(frozen=True)
class Call:
    """One tool call; text as ``args`` goes to the wire as it stands."""

    name: str
    args: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None


@dataclass(frozen=True)
class Fields:
    """A completion that fills output fields."""

    values: Mapping[str, Any]


@dataclass(frozen=True)
class Turn:
    """A turn of ReActV2: a thought and its calls. ``marked`` puts the thought under its marker."""

    thought: str | None
    calls: tuple[Call, ...] = ()
    marked: bool = True


@dataclass(frozen=True)
class Raw:
    """A completion in the model's own form."""

    text: str


@dataclass(frozen=True)
class Fault:
    """The request fails with the library's error of this name, or with Python's."""

    error: str = "ContextWindowExceededError"


@dataclass(frozen=True)
class Several:
    """Several completions to one request (``n`` > 1)."""

    completions: tuple[Fields | Raw, ...]


Reply = Fields | Turn | Raw | Fault | Several


def step(thought: str, tool: str, **args: Any) -> Fields:
    """One step of ReAct."""
    parts = {"thought": thought, "tool_name": tool, "tool_args": args}
    return Fields({f"next_{name}": value for name, value in parts.items()})


def turn(thought: str | None, *calls: Call) -> Turn:
    """One turn of ReActV2."""
    return Turn(thought, calls)


def submit(id: str | None = None, **outputs: Any) -> Turn:
    """The turn that ends a ReActV2 run."""
    return Turn("That is all.", (Call("submit", outputs, id),))


FINISH = step("That is all.", "finish")


# Scenarios


@dataclass(frozen=True)
class Scenario:
    """One script, in neutral words.

    Args:
        name: What happens in it.
        agent: The class of the program.
        signature: A string, or a function from the library to a signature class.
        tools: Plain callables.
        replies: What the model writes, in order.
        inputs: The inputs of the run; several runs give a tuple of them, and a run that
            needs what the one before gave is a function from (library, prediction) to inputs.
        adapters: The adapters it is played with; "native" asks for native function calling.
        options: Keywords of the constructor.
        build: Makes the program from (library, agent); stands for subclasses and preparation.
        run: Calls the program; stands for everything but a plain call.
        ends: "ok", or the class of the error that DSPy raises.
        leftover: Replies that DSPy does not come to.
        knows: Capabilities of the model.
        settings: Settings in force while it runs.
        switches: Keywords that only reasonact's constructor has, which bring DSPy's way back.
        differences: Names of the deliberate differences that show in it.
    """

    name: str
    agent: str
    signature: Any
    replies: tuple[Reply, ...]
    tools: tuple[Callable[..., Any], ...] = ()
    inputs: Any = field(default_factory=lambda: {"question": "q?"})
    adapters: tuple[str, ...] = ("chat", "json")
    options: Mapping[str, Any] = field(default_factory=dict)
    build: Callable[[Any, Any], Any] | None = None
    run: Callable[[Any, Any], Any] | None = None
    ends: str = "ok"
    leftover: int = 0
    knows: tuple[str, ...] = ("function_calling",)
    settings: Mapping[str, Any] = field(default_factory=dict)
    switches: Mapping[str, Any] = field(default_factory=dict)
    differences: tuple[str, ...] = ()


@dataclass
class Record:
    """What a run left behind, as plain data."""

    ended: str = "ok"
    error: str = ""
    results: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    tools: dict[str, Any] = field(default_factory=dict)
    predictors: list[str] = field(default_factory=list)
    unplayed: int = 0


# The two forms of a completion


def written(reply: Fields | Turn | Raw, adapter: str) -> SimpleNamespace:
    """The OpenAI-shaped message for a reply under an adapter."""
    native = adapter.endswith("native")
    if isinstance(reply, Raw):
        return SimpleNamespace(role="assistant", content=reply.text, tool_calls=None)
    if isinstance(reply, Fields):
        return SimpleNamespace(role="assistant", content=filled(reply.values, adapter), tool_calls=None)
    if not native:
        calls = [{**({"id": c.id} if c.id else {}), "name": c.name, "args": c.args} for c in reply.calls]
        values = {"next_thought": reply.thought or "", "tool_calls": {"tool_calls": calls}}
        return SimpleNamespace(role="assistant", content=filled(values, adapter), tool_calls=None)
    text = filled({"next_thought": reply.thought}, adapter) if reply.marked and reply.thought else reply.thought
    return SimpleNamespace(role="assistant", content=text, tool_calls=[wire(call) for call in reply.calls] or None)


def wire(call: Call) -> SimpleNamespace:
    arguments = call.args if isinstance(call.args, str) else json.dumps(call.args)
    return SimpleNamespace(id=call.id, type="function", function=SimpleNamespace(name=call.name, arguments=arguments))


def filled(values: Mapping[str, Any], adapter: str) -> str:
    if adapter.startswith("json"):
        return json.dumps(values)
    parts = [f"[[ ## {name} ## ]]\n{v if isinstance(v, str) else json.dumps(v)}" for name, v in values.items()]
    return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def scripted_lm(library: Any, scenario: Scenario, adapter: str) -> Any:
    """A model of the library's own base class that plays the replies and keeps the requests."""

    class Scripted(library.BaseLM):  # type: ignore[misc]
        supports_function_calling = "function_calling" in scenario.knows
        supports_response_schema = "response_schema" in scenario.knows
        supports_reasoning = "reasoning" in scenario.knows
        supported_params = {"response_format"} if "response_schema" in scenario.knows else set()

        def __init__(self) -> None:
            super().__init__("scripted", cache=False)
            self.left = list(scenario.replies)
            self.requests: list[dict[str, Any]] = []

        def forward(self, prompt: Any = None, messages: Any = None, **options: Any) -> Any:
            request = {"messages": messages, "options": plain(options)}
            self.requests.append(json.loads(json.dumps(request)))  # what is changed later does not change the record
            if not self.left:
                raise AssertionError("the script is over")
            reply = self.left.pop(0)
            if isinstance(reply, Fault):
                own = getattr(library, reply.error, None)
                raise own(model="scripted", message="too long") if own else RuntimeError("the model is away")
            several = reply.completions if isinstance(reply, Several) else (reply,)
            choices = [
                SimpleNamespace(index=i, message=written(one, adapter), finish_reason="stop")
                for i, one in enumerate(several)
            ]
            usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
            return SimpleNamespace(choices=choices, usage=usage, model="scripted")

        async def aforward(self, prompt: Any = None, messages: Any = None, **options: Any) -> Any:
            return self.forward(prompt=prompt, messages=messages, **options)

    return Scripted()


def make_adapter(library: Any, adapter: str) -> Any:
    cls = library.JSONAdapter if adapter.startswith("json") else library.ChatAdapter
    return cls(use_native_function_calling=adapter.endswith("native"))


# Playing


def play(library: ModuleType, scenario: Scenario, adapter: str, mode: str) -> Record:
    """Run a scenario on a library.

    Args:
        library: ``dspy`` or ``reasonact``.
        scenario: The script.
        adapter: "chat", "json", each with " native" behind it or not.
        mode: "sync" or "async".

    Returns:
        The record.
    """
    record = Record()
    lm = scripted_lm(library, scenario, adapter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with library.context(lm=lm, adapter=make_adapter(library, adapter), **scenario.settings):
            try:
                program = build(library, scenario)
                describe(program, record)
                perform(library, program, scenario, mode, record)
            except Exception as error:
                record.ended, record.error = type(error).__name__, str(error)
    record.requests = [outline(request) for request in lm.requests]
    record.unplayed = len(lm.left)
    return record


def build(library: Any, scenario: Scenario) -> Any:
    signature = scenario.signature(library) if callable(scenario.signature) else scenario.signature
    keywords = {**scenario.options, **(scenario.switches if library.__name__ == "reasonact" else {})}
    if scenario.agent.startswith("ReAct"):
        keywords["tools"] = list(scenario.tools)
    cls = getattr(library, scenario.agent)
    program = cls(signature, **keywords)
    return scenario.build(library, program) if scenario.build else program


def perform(library: Any, program: Any, scenario: Scenario, mode: str, record: Record) -> None:
    runs = scenario.inputs if isinstance(scenario.inputs, tuple) else (scenario.inputs,)
    prediction: Any = None
    for inputs in runs:
        given = inputs(library, prediction) if callable(inputs) else inputs
        if scenario.run:
            prediction = scenario.run(program, given)
        elif mode == "sync":
            prediction = program(**given)
        else:
            prediction = asyncio.run(program.acall(**given))
        for one in prediction if isinstance(prediction, list) else [prediction]:
            record.results.append(result_of(one))


def describe(program: Any, record: Record) -> None:
    record.predictors = [name for name, _ in program.named_predictors()]
    record.tools = {
        name: without_own_words(tool.format_as_litellm_function_call())
        for name, tool in getattr(program, "tools", {}).items()
    }


def state_of(library: Any, scenario: Scenario) -> dict[str, Any]:
    """The saved form of a scenario's program.

    An agent's instructions begin with the task's; what follows is each library's own, and
    is left out.
    """
    with library.context(lm=None):
        state = plain(build(library, scenario).dump_state())
    for part in state.values():
        if isinstance(part, dict) and "instructions" in part.get("signature", {}):
            part["signature"]["instructions"] = part["signature"]["instructions"].split("\n")[0]
    return dict(state)


def without_own_words(schema: dict[str, Any]) -> dict[str, Any]:
    """A tool's schema; what `finish` and `submit` are for is said in each library's own words."""
    schema = copy.deepcopy(schema)
    if schema["function"]["name"] in ("finish", "submit"):
        schema["function"]["description"] = bool(schema["function"]["description"])
    return schema


def result_of(prediction: Any) -> dict[str, Any]:
    result = {name: plain(value) for name, value in prediction.items()}
    result["(keys)"] = list(prediction.keys())
    if len(prediction.completions or []) > 1:
        result["(completions)"] = plain(
            prediction.completions.toDict()
            if hasattr(prediction.completions, "toDict")
            else dict(prediction.completions.items())
        )
    return result


def plain(value: Any) -> Any:
    """A value as JSON data that still tells what type it was."""
    if value is None or (isinstance(value, (bool, int, float, str)) and not isinstance(value, enum.Enum)):
        return value
    if isinstance(value, enum.Enum):
        return {"(enum)": type(value).__name__, "value": value.value}
    if isinstance(value, type):
        return {"(schema)": value.model_json_schema()} if issubclass(value, BaseModel) else value.__name__
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    kind = type(value).__name__
    if kind == "History":
        return {"(History)": [plain(event) for event in value.messages]}
    if kind == "ToolCalls":
        found: dict[str, Any] = {"(ToolCalls)": [plain(call) for call in value.tool_calls]}
        if value.tool_call_results is not None:
            found["results"] = [plain(result) for result in value.tool_call_results.tool_call_results]
        return found
    if kind == "ToolCall":
        return {"id": value.id, "name": value.name, "args": plain(value.args)}
    if kind == "ToolCallResult":
        keys = ("call_id", "name", "value", "is_error")
        return {key: plain(getattr(value, key)) for key in keys}
    if kind == "Reasoning":
        return str(value.content)
    if isinstance(value, BaseModel):
        return {"(model)": kind, **plain(value.model_dump())}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"(dataclass)": kind, **plain(dataclasses.asdict(value))}
    return {"(object)": kind, "text": str(value)}


# What the model was sent


def outline(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request without its sentences."""
    options = dict(request["options"])
    if "tools" in options:
        options["tools"] = [without_own_words(tool) for tool in options["tools"]]
    return {"messages": [outline_message(m) for m in request["messages"]], "options": options}


def outline_message(message: Mapping[str, Any]) -> dict[str, Any]:
    outline: dict[str, Any] = {"role": message["role"]}
    content = message.get("content")
    if message["role"] == "system":
        outline["fields"] = [list(found) for found in FIELD_LINE.findall(content)]
        outline["slots"] = MARKER_LINE.findall(content) + JSON_SLOT.findall(content)
        outline["schemas"] = schemas(content)
        return outline
    if message["role"] == "tool":
        return {**outline, **{k: v for k, v in message.items() if k != "role"}}
    if message.get("tool_calls"):
        outline["calls"] = [
            {
                "id": c["id"],
                "type": c["type"],
                "name": c["function"]["name"],
                "args": json.loads(c["function"]["arguments"]),
            }
            for c in message["tool_calls"]
        ]
    if content is None or isinstance(content, list):
        outline["content"] = content
        return outline
    body, reminder = split_reminder(content) if message["role"] == "user" else (content, None)
    if reminder is not None:
        outline["asks for"] = reminder
    outline["content"] = sections(body) if body.strip() else []
    return outline


def schemas(content: str) -> list[Any]:
    """The JSON schemas that stand beside the slots of a system message."""
    found = []
    for line in content.splitlines():
        slot = JSON_SLOT.match(line)
        text = json.loads(line[slot.end() :].rstrip(",")) if slot else line
        if text.startswith("{") and "}  " in text and '{"' in text:
            found.append(json.loads(text[text.index('{"') :]))
    return found


def split_reminder(content: str) -> tuple[str, list[str] | None]:
    """Take off the closing sentence that says which fields are wanted (no input here holds a backtick)."""
    body, _, last = content.rpartition("\n\n")
    if "`" not in last:
        return content, None
    return body, [marked or name for marked, name in QUOTED_NAME.findall(last) if (marked or name) != "completed"]


def sections(content: str) -> Any:
    """A message's body as (marker, value) pairs, as JSON, or as text."""
    try:
        found = json.loads(content)
    except ValueError:
        found = None
    if isinstance(found, dict):
        return {"(json)": found}
    parts = MARKER_LINE.split(content)
    if len(parts) == 1:
        return content.strip()
    pairs = list(zip(parts[1::2], (part.strip() for part in parts[2::2])))
    return [[name, value] for name, value in pairs if name != "completed"]


# Comparing


Settle = Callable[[Scenario, Record, Record], bool]


def compare(scenario: Scenario, theirs: Record, ours: Record, differences: Sequence[Settle]) -> set[str]:
    """Take the deliberate differences out of two records and assert that nothing else is left.

    Args:
        scenario: What was played.
        theirs: DSPy's record.
        ours: reasonact's record.
        differences: Functions that look for one difference each, take it out of both
            records and say whether it was there.

    Returns:
        The names of the differences that were there.
    """
    theirs, ours = copy.deepcopy(theirs), copy.deepcopy(ours)
    found = {settle.__name__ for settle in differences if settle(scenario, theirs, ours)}
    for aspect in ("ended", "results", "predictors", "tools", "requests", "unplayed"):
        left, right = getattr(theirs, aspect), getattr(ours, aspect)
        if left != right:
            raise AssertionError(
                f"{scenario.name}: {aspect} differ\n{first_difference(left, right, aspect)}\n"
                f"--- dspy: {show(left)}\n--- reasonact: {show(right)}\n"
                f"(dspy ended {theirs.ended} {theirs.error[:300]}; reasonact ended {ours.ended} {ours.error[:600]})"
            )
    return found


def first_difference(left: Any, right: Any, path: str) -> str:
    """The first place where two pieces of plain data part, with both sides' value."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(k for k in right if k not in left)]:
            if key not in left or key not in right:
                return f"{path}.{key}: only in {'dspy' if key in left else 'reasonact'}"
            if left[key] != right[key]:
                return first_difference(left[key], right[key], f"{path}.{key}")
    if isinstance(left, list) and isinstance(right, list):
        for index, (a, b) in enumerate(zip(left, right)):
            if a != b:
                return first_difference(a, b, f"{path}[{index}]")
        if len(left) != len(right):
            return f"{path}: {len(left)} in dspy, {len(right)} in reasonact"
    return f"{path}:\n   dspy      {left!r}\n   reasonact {right!r}"


def show(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, default=str)
