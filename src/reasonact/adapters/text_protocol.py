"""TextProtocolAdapter: Thought, Action, Observation, Answer, each at the start of a line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

from reasonact.adapters.annotation_names import get_field_description_string
from reasonact.adapters.base import Adapter
from reasonact.adapters.content import (
    Content,
    Pieces,
    field_content,
    field_row,
    joined,
    laid_out,
    put_together,
    stripped,
)
from reasonact.adapters.conversation import Rendered
from reasonact.adapters.ending_tools import FINISH, SUBMIT
from reasonact.adapters.fields import FieldInfoWithName, named
from reasonact.adapters.label_splitter import LabelSplitter
from reasonact.adapters.labels import Labels
from reasonact.adapters.layout import layout_of
from reasonact.adapters.plan import Plan
from reasonact.adapters.protocol import (
    CALL_TERMS,
    LABELS,
    PROTOCOL,
    STEP_TERMS,
    STOP,
    call_arguments,
    read_step,
    written_action,
    written_answer,
    written_observation,
    written_thought,
)
from reasonact.adapters.protocol_tools import called, example_call, named_tool, tool_list_text
from reasonact.adapters.readers import parse_error
from reasonact.adapters.refusals import Refusals
from reasonact.adapters.splitting import Splitter
from reasonact.adapters.step_form import ARGUMENTS, THOUGHT, TOOL, is_step, offered_tools, tool_name
from reasonact.adapters.type_form import form_of
from reasonact.adapters.values import translate_field_type
from reasonact.errors import AdapterParseError
from reasonact.runtime.callbacks import BaseCallback
from reasonact.signatures.fields import infer_prefix
from reasonact.signatures.memo import kept
from reasonact.types.tool_calls import ToolCalls

FORGED: Final = "forged_observations"
"""The key under which a completion says how many observations of its own making were dropped."""

_STOP: Final = "stop"
_TRAJECTORY: Final = "trajectory"
_STEP_KEYS: Final = ("thought", "tool_name", "tool_args", "observation")

_refused_stop: Final = Refusals("stop")


class TextProtocolAdapter(Adapter):
    """The classic ReAct text protocol, for chat models and for completion endpoints.

    In the turns of both agents the model writes ``Thought:`` and then ``Action:
    name[{...}]`` or ``Answer:``, and reads ``Observation:``; other signatures have their
    fields under labels, ``Field name:``. Needs no tool interface of a provider. See
    "ReAct: Synergizing Reasoning and Acting in Language Models" (2022).

    Args:
        callbacks: Callbacks for this object alone.
    """

    field_separator: ClassVar[str] = "\n"

    def __init__(self, callbacks: list[BaseCallback] | None = None) -> None:
        super().__init__(callbacks)

    def with_own_options(self, plan: Plan, lm: Any, options: Mapping[str, Any]) -> Plan:
        """The plan of an agent's turn with a stop before an observation; see `Adapter.with_own_options`."""
        if not (_is_protocol(plan.shown) and _takes_stop(lm)):
            return plan
        given = plan.options.get(_STOP) or []
        return plan.with_option(_STOP, [*([given] if isinstance(given, str) else given), STOP])

    def weaker(self, lm: Any, plan: Plan, error: Exception) -> Plan | None:
        """The plan without the stop sequence where that was refused, unless the caller has asked for one too."""
        if _STOP not in plan.added or plan.options[_STOP] != [STOP] or not _refused_stop.note(lm, error):
            return None
        return replace(plan, options={name: value for name, value in plan.options.items() if name != _STOP})

    def read(self, plan: Plan, outputs: Iterable[Any]) -> list[dict[str, Any]]:
        """Read the answers to a plan; see `Adapter.read`.

        Returns:
            The output fields of each completion, and under ``forged_observations`` how
            many observations a completion held that no tool made, where it held any.
        """
        completions = list(outputs)
        try:
            values = super().read(plan, completions)
        except AdapterParseError as error:
            if _is_protocol(plan.shown):
                error.forged_observations = sum(map(_forged, completions))
            raise
        if _is_protocol(plan.shown):
            for value, output in zip(values, completions, strict=True):
                forged = _forged(output)
                if forged:
                    value[FORGED] = forged
        return values

    # Rendering

    def format_field_description(self, signature: Any) -> str:
        """The list of the fields with types and descriptions."""
        if not _is_protocol(signature):
            return super().format_field_description(signature)
        layout = layout_of(signature)
        unsaid = {layout.history, layout.tools, _TRAJECTORY if is_step(signature) else None}
        said = {name: info for name, info in signature.input_fields.items() if name not in unsaid}
        return f"You are given these fields:\n{get_field_description_string(said)}"

    def format_field_structure(self, signature: Any) -> str:
        """The labels, and what stands under them."""
        if not _is_protocol(signature):
            labels = _labels(signature.fields)
            lines = [f"{labels[name]}: {translate_field_type(name, info)}" for name, info in signature.fields.items()]
            return "Every message keeps to this form, each label at the start of a line:\n\n" + "\n".join(lines)
        return PROTOCOL

    def format_task_description(self, signature: Any) -> str:
        """The signature's instructions, and how their terms appear here."""
        task = super().format_task_description(signature)
        if is_step(signature):
            return f"{task}\n\n{STEP_TERMS}"
        return f"{task}\n\n{CALL_TERMS}" if layout_of(signature).agent else task

    def format_tool_list(self, field: FieldInfoWithName, tools: list[Any]) -> str:
        """The tools with their arguments, and what an answer holds."""
        return tool_list_text(tools)

    def format_worked_example(self, signature: Any, tools: list[Any]) -> str:
        """An exchange that shows the form."""
        if not _is_protocol(signature):
            return ""
        tools = tools or list(offered_tools(signature))
        name, arguments = example_call(signature, tools)
        submit = named_tool(tools, SUBMIT)
        several = submit is not None and len(submit.args) > 1
        answer: Any = dict.fromkeys(submit.args, "...") if several and submit is not None else "..."
        return "\n".join(
            [
                "An exchange looks like this; the values are made up:",
                "",
                written_thought("One thing is still missing, and a tool can tell it."),
                written_action(name, arguments),
                "Observation: (what the tool returned)",
                written_thought("Now nothing is missing."),
                written_answer(answer),
            ]
        )

    def format_user_message_content(
        self,
        signature: Any,
        inputs: Mapping[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> Any:
        """The inputs under their labels; see `Adapter.format_user_message_content`."""
        steps: Sequence[Content] = ()
        if is_step(signature) and _TRAJECTORY in inputs and _TRAJECTORY in signature.input_fields:
            steps = field_row(signature.input_fields[_TRAJECTORY], inputs[_TRAJECTORY])
            inputs = {name: value for name, value in inputs.items() if name != _TRAJECTORY}
        said = [
            (FieldInfoWithName(name, info), inputs[name])
            for name, info in signature.input_fields.items()
            if name in inputs
        ]
        # The fields under labels of their own, then the steps as they stand.
        blocks: list[Sequence[Content]] = [[prefix], self.field_row(said), steps]
        reminder = self.reminder(signature) if main_request else ""
        return joined(laid_out([*blocks, [reminder], [suffix]], "\n\n"))

    def user_message_output_requirements(self, signature: Any) -> str:
        """The reminder of the labels to write."""
        if _is_protocol(signature):
            return "Go on with `Thought:`, and then `Action:` or `Answer:`."
        if not signature.output_fields:
            return ""
        labels = _labels(signature.fields)
        wanted = [f"`{labels[name]}:`{form_of(info)}" for name, info in signature.output_fields.items()]
        return f"Now write, each at the start of a line: {', then '.join(wanted)}."

    def format_assistant_message_content(
        self, signature: Any, outputs: Mapping[str, Any], missing_field_message: str | None = None
    ) -> Any:
        """The outputs as a step of the protocol, or under their labels."""
        layout = layout_of(signature)
        if is_step(signature):
            return "\n".join(_written_step(outputs, missing_field_message))
        if layout.agent:
            return "\n".join(_written_turn(outputs.get(THOUGHT), outputs.get(layout.tool_calls or "")))
        labels = _labels(signature.fields)
        known = _reader(signature)
        blocks = []
        for name, info in signature.output_fields.items():
            shown = field_content(info, outputs.get(name, missing_field_message))
            blocks.append(joined([f"{labels[name]}: ", known.escape(shown) if isinstance(shown, str) else shown]))
        return stripped(joined(blocks, "\n"))

    def field_pieces(self, field: FieldInfoWithName, value: Any) -> list[Content]:
        """A field under its label; see `Adapter.field_pieces`."""
        return self.own_row([(field, value)])

    def own_row(self, fields: Iterable[tuple[FieldInfoWithName, Any]]) -> list[Content]:
        """Fields under labels by which they can be told apart."""
        given = list(fields)
        labels = _labels(field.name for field, _ in given)
        blocks = [[f"{labels[field.name]}: ", *field_row(field.info, value)] for field, value in given]
        return laid_out(blocks, self.field_separator)

    def format_tool_results(self, results: list[dict[str, Any]]) -> Any:
        """The results of a turn's calls as observations; an answer that was taken has none."""
        shown = [item for item in results if item["name"] != SUBMIT or item["is_error"]]
        return joined([written_observation(item["value"], is_error=item["is_error"]) for item in shown], "\n")

    def format_trajectory(
        self, trajectory: Mapping[str, Any], rendered: Rendered | None = None, errors: Collection[int] = ()
    ) -> Any:
        """ReAct's steps so far under the three labels; see `Adapter.format_trajectory`."""
        return put_together(self.trajectory_pieces(trajectory, rendered or Rendered(), errors))

    def trajectory_pieces(
        self, trajectory: Mapping[str, Any], rendered: Rendered, errors: Collection[int] = ()
    ) -> Pieces | Content:
        """As `format_trajectory`, in pieces; see `Adapter.trajectory_pieces`."""
        failed = frozenset(errors)

        def part(key: str, value: Any) -> Content:
            return self._trajectory_part(trajectory, key, value, failed)

        return rendered.trajectory.render(trajectory, "\n", part, self, failed)

    def _trajectory_part(self, trajectory: Mapping[str, Any], key: str, value: Any, failed: frozenset[int]) -> Content:
        kind, _, number = key.rpartition("_")
        if kind not in _STEP_KEYS or not number.isdigit():
            content: Content = self.format_field_with_value({named(key): value})
            return content
        tool = trajectory.get(f"tool_name_{number}")
        if kind == "thought":
            return written_thought(value)
        if kind == "observation":
            return written_observation(value, is_error=tool == "" or int(number) in failed)
        if not tool or (kind == "tool_name" and f"tool_args_{number}" in trajectory):
            return ""  # the action is written where its arguments are
        return written_action(str(tool), value if kind == "tool_args" else {})

    # Reading

    def raw_fields(self, signature: Any, completion: str, tools: Sequence[Any] = ()) -> Mapping[str, Any]:
        """The fields of a step, or those under their labels; see `Adapter.raw_fields`."""
        if not _is_protocol(signature):
            return self._labelled(signature, completion)
        step = read_step(completion)
        raw: dict[str, Any] = {THOUGHT: step.thought}
        offered = tools or offered_tools(signature)
        if step.name is None and step.answer is None:
            raise self._error(signature, completion, "It holds neither an `Action:` nor an `Answer:`.", raw)
        if is_step(signature):
            if step.answer is not None:
                return {THOUGHT: f"{step.thought}\nAnswer: {step.answer}".strip(), TOOL: FINISH, ARGUMENTS: {}}
            tool = named_tool(offered, tool_name(step.name or "", [tool.name for tool in offered]))
            arguments = call_arguments(step.arguments, None if tool is None else tool.args)
            raw.update({TOOL: step.name, ARGUMENTS: arguments})
            if isinstance(arguments, str):
                message = f"The action `{step.name}` cannot be carried out: {arguments}."
                raise self._error(signature, completion, message, raw)
            return raw
        raw[layout_of(signature).tool_calls or ""] = ToolCalls(tool_calls=[called(step, offered)])
        return raw

    def field_splitter(self, signature: Any) -> Splitter:
        """What cuts a completion at its labels; of a step, the thought."""
        if not _is_protocol(signature):
            return LabelSplitter(_reader(signature), {name: name for name in signature.output_fields})
        if THOUGHT not in signature.output_fields:
            return LabelSplitter(LABELS, {})
        ends = ("action", "input", "observation", "answer")
        return LabelSplitter(LABELS, {"thought": THOUGHT}, lead=THOUGHT, ends=ends)

    def _labelled(self, signature: Any, completion: str) -> Mapping[str, Any]:
        known = _reader(signature)
        found: dict[str, Any] = {}
        for section in known.split(completion):
            name = section.key
            if name is None or name not in signature.output_fields:
                continue
            value = known.unescape(section.text)
            if not found.get(name):
                found[name] = value
            elif len(found) == len(signature.output_fields):
                break  # all was said: a completion that goes on begins the next turn by itself
            elif value and value != found[name]:
                raise self._error(signature, completion, f"Given twice, with different values: `{name}`.", found)
        return found

    def _error(self, signature: Any, completion: str, message: str, raw: Mapping[str, Any]) -> Exception:
        return parse_error(type(self).__name__, signature, completion, message, raw=raw)


def _forged(output: Any) -> int:
    text = output.get("text") if isinstance(output, Mapping) else output
    return read_step(text or "").forged


def _is_protocol(signature: Any) -> bool:
    return layout_of(signature).agent or is_step(signature)


def _takes_stop(lm: Any) -> bool:
    known: Collection[str] = lm.supported_params
    return lm not in _refused_stop and (not known or _STOP in known)


def _labels(names: Iterable[str]) -> dict[str, str]:
    """The label of each field: its name in words, or as it is where two would be alike."""
    labels = {name: infer_prefix(name) for name in names}
    folded = [label.casefold() for label in labels.values()]
    return {name: label if folded.count(label.casefold()) == 1 else name for name, label in labels.items()}


def _reader(signature: Any) -> Labels:
    return kept(signature, Labels, lambda asked: Labels({label: name for name, label in _labels(asked.fields).items()}))


def _written_turn(thought: Any, calls: Any) -> Iterator[str]:
    if thought:
        yield written_thought(thought)
    if calls is None:
        return
    turn = calls if isinstance(calls, ToolCalls) else ToolCalls.model_validate(calls)
    for item in turn.tool_calls:
        if item.name != SUBMIT:
            yield written_action(item.name, item.args)
        else:
            yield written_answer(next(iter(item.args.values())) if len(item.args) == 1 else item.args)


def _written_step(outputs: Mapping[str, Any], missing: str | None) -> Iterator[str]:
    yield written_thought(outputs.get(THOUGHT, missing))
    name = outputs.get(TOOL, missing)
    arguments = outputs.get(ARGUMENTS)
    yield written_action(str(name), arguments if arguments is not None else {})
