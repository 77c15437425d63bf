"""A chat on the terminal that shows thoughts, calls and answers while the model writes them.

python examples/streaming_chat.py                                  type a line, end with Ctrl-D
echo "What is the weather in Brest?" | python examples/streaming_chat.py --model openai/gpt-4o-mini
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import reasonact as dspy
from reasonact.demo.server import StandInServer
from reasonact.streaming import Event, OutputText, RunFinished, TextWithdrawn, ThoughtText, ToolCalled, ToolReturned

SHOWN = (ThoughtText, ToolCalled, ToolReturned, OutputText, TextWithdrawn, RunFinished)


def weather(city: str) -> str:
    """The weather in a city."""
    return f"rain over {city}, 14 degrees"


def stand_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the model says where none is named, as an OpenAI message: it looks at the weather, then tells it."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        text, name, args = "That is clear.", "submit", {"reply": f"There is {last['content']}. Take a coat."}
    else:
        text, name, args = "I look out of the window.", "weather", {"city": "Brest"}
    function = {"name": name, "arguments": json.dumps(args)}
    call = {"id": f"call_{len(body['messages'])}", "type": "function", "function": function}
    return {"role": "assistant", "content": text, "tool_calls": [call]}


def tell(agent: dspy.ReActV2, message: str, history: dspy.History) -> dspy.History:
    """Stream one reply to the terminal; the conversation after it."""
    before: type[Event] | None = None
    for event in agent.stream(message=message, history=history, kinds=SHOWN):
        if isinstance(event, ToolCalled | ToolReturned) and event.name == "submit":
            continue  # its arguments have been shown, as the reply
        if before is not None and type(event) is not before:
            print()
        before = type(event)
        if isinstance(event, ThoughtText | OutputText):
            print(event.text, end="", flush=True)
        elif isinstance(event, ToolCalled):
            print(f"  {event.name} {dict(event.args)}", end="")
        elif isinstance(event, ToolReturned):
            print(f"  -> {event.value}", end="")
        elif isinstance(event, TextWithdrawn):
            print("(that does not hold)", end="")
        elif isinstance(event, RunFinished):
            history = event.prediction.history
    return history


def main() -> None:
    parser = argparse.ArgumentParser(description="Chat with an agent that looks at the weather.")
    parser.add_argument("--model", help="any model as LiteLLM names it; without it rules play")
    options = parser.parse_args()

    with ExitStack() as stack:
        if options.model:
            lm = dspy.LM(options.model)
        else:
            server = stack.enter_context(StandInServer(stand_in))
            known = {"function_calling": True}
            lm = dspy.LM("openai/stand-in", api_base=server.url, api_key="none", cache=False, supports=known)
        dspy.configure(lm=lm, adapter=dspy.ChatAdapter(use_native_function_calling=True))
        agent = dspy.ReActV2("message -> reply", tools=[weather], max_iters=5)
        history = dspy.History(messages=[])
        for line in sys.stdin:
            if line.strip():
                history = tell(agent, line.strip(), history)


if __name__ == "__main__":
    main()
