"""The agents of each library on the scripted model, each run checked for its answer and its tool calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from benchmarks import scripted
from benchmarks.scripted import ANSWER, QUESTION, TOOL, Dialect


class ToolBox:
    """The tool of a run, and how often it ran.

    Args:
        size: How many characters each call returns.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.calls = 0

    def tool(self) -> Callable[..., str]:
        """A plain function that the agents get as their tool."""

        def read_station(station: str) -> str:
            """Read the log of one station.

            Args:
                station: The station's name.
            """
            self.calls += 1
            return scripted.reading(self.calls, self.size)

        return read_station


def check(answer: object, wanted_calls: int, box: ToolBox) -> None:
    """See that a run did its work.

    Raises:
        AssertionError: It gave another answer, or ran its tool another number of times.
    """
    assert answer == ANSWER, f"the answer was {answer!r}"
    assert wanted_calls == box.calls, f"the tool ran {box.calls} times, not {wanted_calls}"


def scripted_lm(library: str, dialect: Dialect, turns: int, *, calls: int = 1, tool: str = TOOL) -> Any:
    """A `BaseLM` of a library that plays one run.

    Args:
        library: ``reasonact`` or ``dspy``.
        dialect: How the agent speaks with it.
        turns: How many turns call tools.
        calls: How many tools each turn calls.
        tool: Their name.
    """
    base: Any = import_module(library).BaseLM
    marked = library == "dspy"  # which keeps a text beside native calls only under its markers

    class Scripted(base):  # type: ignore[misc]
        supports_function_calling = dialect == "v2-native"
        turn = 0

        def forward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
            said = scripted.say(dialect, self.turn, turns, marked=marked, calls=calls, tool=tool)
            self.turn += 1
            return scripted.as_object(said, "scripted")

        async def aforward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
            return self.forward(prompt, messages, **kwargs)

    return Scripted("scripted", cache=False)


def agent_of(library: str, dialect: Dialect, tools: list[Any], max_iters: int, **options: Any) -> Any:
    """An agent of a library for the question of the script."""
    module = import_module(library)
    kind = module.ReAct if dialect == "react" else module.ReActV2
    return kind("question -> answer", tools=tools, max_iters=max_iters, **options)


def surroundings(library: str, dialect: Dialect, lm: Any, **settings: Any) -> AbstractContextManager[None]:
    """The settings under which an agent of this dialect runs."""
    module = import_module(library)
    native = dialect == "v2-native"  # else the adapter is that of a program that names none
    adapter = module.ChatAdapter(use_native_function_calling=True) if native else None
    context: AbstractContextManager[None] = module.context(lm=lm, adapter=adapter, **settings)
    return context


def forget(library: str) -> None:
    """Empty the library's record of all calls, which would grow from sample to sample."""
    path = {"dspy": "dspy.clients.base_lm", "reasonact": "reasonact.lm.history"}[library]
    import_module(path).GLOBAL_HISTORY.clear()


def prepared(library: str, dialect: Dialect, turns: int, size: int, **settings: Any) -> Callable[[], None]:
    """One run, made ready: calling the result runs and checks it.

    Args:
        library: ``reasonact`` or ``dspy``.
        dialect: Which agent, and how it speaks with the model.
        turns: How many turns call the tool.
        size: How many characters the tool returns.
        **settings: Settings beside the LM and the adapter.
    """
    box = ToolBox(size)
    agent = agent_of(library, dialect, [box.tool()], turns + 2)
    lm = scripted_lm(library, dialect, turns)

    def run() -> None:
        with surroundings(library, dialect, lm, **settings):
            answer = agent(question=QUESTION).answer
        check(answer, turns, box)

    return run


def prepared_smolagents(turns: int, size: int) -> Callable[[], None]:
    """The same run with the tool-calling agent of smolagents."""
    smolagents: Any = import_module("smolagents")
    models: Any = import_module("smolagents.models")
    box = ToolBox(size)

    class Scripted(models.Model):  # type: ignore[misc]
        turn = 0

        def generate(self, messages: Any, **kwargs: Any) -> Any:
            said = scripted.say("v2-native", self.turn, turns)
            self.turn += 1
            calls = [
                models.ChatMessageToolCall(
                    id=call_id,
                    type="function",
                    function=models.ChatMessageToolCallFunction(
                        name="final_answer" if name == "submit" else name, arguments=args
                    ),
                )
                for call_id, name, args in said.calls
            ]
            usage = smolagents.TokenUsage(input_tokens=900, output_tokens=60)
            return models.ChatMessage(role="assistant", content=said.text, tool_calls=calls, token_usage=usage)

    agent = smolagents.ToolCallingAgent(
        tools=[smolagents.tool(box.tool())], model=Scripted(), max_steps=turns + 2, verbosity_level=-1
    )

    def run() -> None:
        check(agent.run(QUESTION), turns, box)

    return run


def run_async(library: str, dialect: Dialect, agent: Any, lm: Any) -> Any:
    """One run by ``acall`` on an event loop of its own; its prediction."""

    async def run() -> Any:
        with surroundings(library, dialect, lm):
            return await agent.acall(question=QUESTION)

    return asyncio.run(run())
