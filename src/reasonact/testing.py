"""Models without a model: scripted replies for tests of programs built on this library.

`ScriptedLM` plays replies in order, raises what it is told to raise, and keeps every
request as data. `DummyLM` is DSPy's: answers as fields, put into an adapter's form.
"""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Final

from reasonact.adapters.chat import ChatAdapter
from reasonact.adapters.fields import FieldInfoWithName
from reasonact.lm.base import BaseLM
from reasonact.lm.outputs import member
from reasonact.signatures.fields import OutputField

Reply = Any  # str, dict, tuple, exception, list of completions, OpenAI-shaped object, or callable(messages, options)

_EMPTY: Final = "No more responses"


class ScriptExhaustedError(AssertionError):
    """A `ScriptedLM` was asked more often than it has replies for."""


@dataclass(frozen=True)
class Request:
    """One request as a `ScriptedLM` got it: copies of the messages and the options, as plain data."""

    messages: list[dict[str, Any]]
    options: dict[str, Any]


class _Script:
    """The replies and how far they have been played; copies of an LM play on in the same one."""

    def __init__(self, replies: Iterable[Reply] | Callable[[list[Any], dict[str, Any]], Reply]) -> None:
        self.answer = replies if callable(replies) else None
        self.replies: list[Reply] = [] if callable(replies) else list(replies)
        self.requests: list[Request] = []
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> _Script:
        return self

    def turn(self, request: Request) -> Reply:
        with self._lock:
            number = len(self.requests)
            self.requests.append(request)
        if self.answer is not None:
            return self.answer(request.messages, request.options)
        if number < len(self.replies):
            return self.replies[number]
        raise ScriptExhaustedError(
            f"request {number + 1} came, but the script has {len(self.replies)} replies; "
            f"its last message was: {_last_text(request.messages)[:500]!r}"
        )


class ScriptedLM(BaseLM):
    """A model that plays replies in order.

    A reply is one of:

    - a text;
    - a dict with ``text`` and what else there is of ``tool_calls``, ``reasoning_content``,
      ``usage`` (token counts of this reply), ``finish_reason``; a tool call is a dict with
      ``id``, ``name``, ``args``, or one of OpenAI's shape;
    - a tuple of a text (or None) and a list of ``(id, name, args)``;
    - a list of the above: several completions of one request;
    - an OpenAI-shaped response with ``choices``, taken as it is;
    - an exception, or exception class, to raise;
    - a callable that gets the messages and the options and returns one of these.

    A copy of a ScriptedLM (a deep one too) plays on in the same script.

    Args:
        replies: The replies in order, or one callable that answers every request.
        model: The model's name.
        function_calling: What ``supports_function_calling`` says.
        reasoning: What ``supports_reasoning`` says.
        response_schema: What ``supports_response_schema`` says.
        params: What ``supported_params`` holds.
        usage: Token counts of every reply that brings none of its own.
        **kwargs: As for `BaseLM`.

    Raises:
        TypeError: ``replies`` is a single text or mapping, not a list of replies.
    """

    def __init__(
        self,
        replies: Iterable[Reply] | Callable[[list[Any], dict[str, Any]], Reply],
        *,
        model: str = "scripted",
        function_calling: bool = False,
        reasoning: bool = False,
        response_schema: bool = False,
        params: Iterable[str] = (),
        usage: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if isinstance(replies, str | Mapping):
            raise TypeError(f"ScriptedLM(replies) takes a list of replies, not one {type(replies).__name__}")
        super().__init__(model, cache=False, **kwargs)
        self._script = _Script(replies)
        self._capabilities = (function_calling, reasoning, response_schema)
        self._params = frozenset(params)
        self._usage = dict(usage or {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0})

    @property
    def requests(self) -> list[Request]:
        """Every request so far, in order; copies of this LM add theirs."""
        return self._script.requests

    @property
    def supports_function_calling(self) -> bool:
        """As the constructor was told."""
        return self._capabilities[0]

    @property
    def supports_reasoning(self) -> bool:
        """As the constructor was told."""
        return self._capabilities[1]

    @property
    def supports_response_schema(self) -> bool:
        """As the constructor was told."""
        return self._capabilities[2]

    @property
    def supported_params(self) -> set[str]:
        """As the constructor was told."""
        return set(self._params)

    def forward(self, prompt: str | None = None, messages: list[Any] | None = None, **kwargs: Any) -> Any:
        """Play the next reply.

        Args:
            prompt: A text that stands for one user message.
            messages: A conversation.
            **kwargs: Options of the request.

        Returns:
            An OpenAI-shaped response.

        Raises:
            ScriptExhaustedError: Every reply has been played.
            BaseException: What the reply says.
        """
        sent = messages if messages is not None else [{"role": "user", "content": prompt}]
        request = Request([_data(message) for message in sent], _data(kwargs))
        return self._response(self._script.turn(request), request)

    async def aforward(self, prompt: str | None = None, messages: list[Any] | None = None, **kwargs: Any) -> Any:
        """Play the next reply; as ``forward``."""
        return self.forward(prompt, messages, **kwargs)

    def _response(self, reply: Reply, request: Request) -> Any:
        if isinstance(reply, BaseException) or (isinstance(reply, type) and issubclass(reply, BaseException)):
            raise reply
        if callable(reply):
            return self._response(reply(request.messages, request.options), request)
        if member(reply, "choices") is not None:
            return reply
        completions = reply if isinstance(reply, list) else [reply]
        usage = next((c["usage"] for c in completions if isinstance(c, Mapping) and "usage" in c), self._usage)
        choices = [_choice(index, completion) for index, completion in enumerate(completions)]
        return SimpleNamespace(choices=choices, usage=dict(usage), model=self.model)

    def assert_complete(self) -> None:
        """Check that every reply was played.

        Raises:
            AssertionError: Some were not; the text shows them.
        """
        played, replies = len(self.requests), self._script.replies
        unused = replies[played:]
        if unused:
            shown = "\n".join(f"  {number}. {repr(reply)[:300]}" for number, reply in enumerate(unused, played + 1))
            raise AssertionError(f"{len(unused)} of {len(replies)} replies were not played:\n{shown}")


def _choice(index: int, completion: Reply) -> SimpleNamespace:
    extra: dict[str, Any] = {}
    finish = None
    if isinstance(completion, str) or completion is None:
        text, calls = completion, None
    elif isinstance(completion, tuple):
        text, calls = completion
    elif isinstance(completion, Mapping):
        extra = {k: v for k, v in completion.items() if k not in ("text", "tool_calls", "usage", "finish_reason")}
        text, calls, finish = completion.get("text"), completion.get("tool_calls"), completion.get("finish_reason")
    else:
        raise TypeError(f"a ScriptedLM cannot play a {type(completion).__name__}: {completion!r:.200}")
    tool_calls = [_tool_call(called) for called in calls] if calls else None
    logprobs = extra.pop("logprobs", None)
    message = SimpleNamespace(role="assistant", content=text, tool_calls=tool_calls, **extra)
    finish = finish or ("tool_calls" if tool_calls else "stop")
    return SimpleNamespace(index=index, message=message, finish_reason=finish, logprobs=logprobs)


def _tool_call(called: Any) -> Any:
    if isinstance(called, tuple):
        call_id, name, args = called
    elif isinstance(called, Mapping) and "function" not in called:
        call_id, name, args = called.get("id"), called["name"], called.get("args", called.get("arguments", {}))
    else:
        return called
    arguments = args if isinstance(args, str) else json.dumps(args)
    return SimpleNamespace(id=call_id, type="function", function=SimpleNamespace(name=name, arguments=arguments))


def _data(value: Any) -> Any:
    """A deep copy of dicts and lists; other objects are kept as they are."""
    if isinstance(value, Mapping):
        return {key: _data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_data(item) for item in value]
    return value


def _last_text(messages: Sequence[Any]) -> str:
    content = member(messages[-1], "content") if messages else ""
    if isinstance(content, list):
        return "\n".join(str(member(part, "text", "")) for part in content)
    return str(content)


class DummyLM(BaseLM):
    """DSPy's stand-in: answers are given as fields and come out in an adapter's form.

    Args:
        answers: A list of answers, each a dict of field values, played in order; or a dict
            from a text to an answer, used when the last message holds the text.
        follow_examples: Answer with the demonstration whose inputs are those of the last
            message, where there is one.
        reasoning: Give a reasoning text beside each answer.
        adapter: The adapter whose form is used; the marker form of `ChatAdapter` by default.
    """

    def __init__(
        self,
        answers: list[dict[str, Any]] | dict[str, dict[str, Any]],
        follow_examples: bool = False,
        reasoning: bool = False,
        adapter: Any = None,
    ) -> None:
        super().__init__("dummy", "chat", 0.0, 1000, True)
        self.answers = answers if isinstance(answers, dict) else iter(list(answers))
        self.follow_examples = follow_examples
        self.reasoning = reasoning
        self.adapter = ChatAdapter() if adapter is None else adapter

    def forward(self, prompt: str | None = None, messages: list[Any] | None = None, **kwargs: Any) -> Any:
        """Give the next answer, or the one that fits.

        Args:
            prompt: A text that stands for one user message.
            messages: A conversation.
            **kwargs: Options of the request; ``n`` asks for so many answers.

        Returns:
            An OpenAI-shaped response.
        """
        sent = messages or [{"role": "user", "content": prompt}]
        extra = {"reasoning_content": "Some reasoning"} if self.reasoning else {}
        texts = [self._text(sent) for _ in range(kwargs.get("n") or 1)]
        choices = [_choice(index, {"text": text, **extra}) for index, text in enumerate(texts)]
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        return SimpleNamespace(choices=choices, usage=usage, model=self.model)

    async def aforward(self, prompt: str | None = None, messages: list[Any] | None = None, **kwargs: Any) -> Any:
        """Give the next answer, or the one that fits; as ``forward``."""
        return self.forward(prompt, messages, **kwargs)

    def _text(self, messages: Sequence[Any]) -> str:
        if self.follow_examples:
            return _answer_of_example(messages) or ""
        if isinstance(self.answers, dict):
            asked = _last_text(messages)
            found = next((answer for text, answer in self.answers.items() if text in asked), None)
            return _EMPTY if found is None else self._formatted(found)
        return self._formatted(next(self.answers, {"answer": _EMPTY}))

    def _formatted(self, answer: Mapping[str, Any]) -> str:
        fields = {FieldInfoWithName(name, OutputField()): value for name, value in answer.items()}
        form = self.adapter.format_field_with_value
        # JSONAdapter's form depends on who speaks; other adapters know one form.
        role = {"role": "assistant"} if "role" in inspect.signature(form).parameters else {}
        return str(form(fields, **role))


def _answer_of_example(messages: Sequence[Any]) -> str | None:
    """The assistant's text after the last user message that begins as the final one does."""
    asked = _last_text(messages)
    for before, after in zip(reversed(messages[:-2]), reversed(messages[1:-1]), strict=True):
        if member(before, "role") != "user" or member(after, "role") != "assistant":
            continue
        inputs = _last_text([before]).strip()
        if asked == inputs or asked.startswith(inputs + "\n"):
            return _last_text([after])
    return None
