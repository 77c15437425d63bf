"""An HTTP service: POST a question to /ask, read the run as server-sent events.

python examples/http_service.py --port 8000
curl -N -d '{"question": "How many people live in Brest?"}' http://127.0.0.1:8000/ask

A client that goes away ends its run. Needs starlette and uvicorn, which the extra mcp brings along.
"""

from __future__ import annotations

import argparse
import json
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

import reasonact as dspy
from reasonact.demo.server import StandInServer
from reasonact.streaming import Event, OutputText, RunFinished, ThoughtText, ToolCalled, ToolReturned

SHOWN = (ThoughtText, ToolCalled, ToolReturned, OutputText, RunFinished)


def population(city: str) -> int:
    """Inhabitants of a city."""
    return {"Brest": 139_926, "Roscoff": 3_398}[city]


agent = dspy.ReActV2("question -> answer", tools=[population], max_iters=10, limits=dspy.Limits(seconds=60))


def stand_in(body: Mapping[str, Any]) -> dict[str, Any]:
    """What the model says where none is named, as an OpenAI message."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        name, args = "submit", {"answer": f"{last['content']} people live there."}
    else:
        name, args = "population", {"city": "Brest"}
    function = {"name": name, "arguments": json.dumps(args)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": name, "type": "function", "function": function}],
    }


def as_data(event: Event) -> dict[str, Any]:
    """What a browser is told of an event."""
    if isinstance(event, ThoughtText):
        return {"text": event.text}
    if isinstance(event, ToolCalled):
        return {"name": event.name, "args": dict(event.args)}
    if isinstance(event, ToolReturned):
        return {"name": event.name, "value": str(event.value), "is_error": event.is_error}
    if isinstance(event, OutputText):
        return {"field": event.field, "text": event.text}
    assert isinstance(event, RunFinished)
    result = event.prediction
    return {"answer": result.get("answer"), "ended_by": result.termination_reason}


async def events(question: str) -> AsyncIterator[str]:
    """The run in the form of server-sent events."""
    try:
        async for event in agent.astream(question=question, kinds=SHOWN):
            yield f"event: {type(event).__name__}\ndata: {json.dumps(as_data(event))}\n\n"
    except dspy.DSPyError as error:
        yield f"event: Failed\ndata: {json.dumps({'error': type(error).__name__})}\n\n"


async def ask(request: Request) -> Response:
    """Answer POST /ask."""
    try:
        question = json.loads(await request.body())["question"]
    except (ValueError, KeyError, TypeError):
        question = None
    if not isinstance(question, str) or not question.strip():
        return JSONResponse({"error": 'send JSON like {"question": "..."}'}, status_code=400)
    return StreamingResponse(events(question), media_type="text/event-stream")


app = Starlette(routes=[Route("/ask", ask, methods=["POST"])])


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve an agent over HTTP.")
    parser.add_argument("--port", type=int, default=8000, help="0 takes any that is free")
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
        listener = stack.enter_context(socket.create_server(("127.0.0.1", options.port)))
        print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/ask", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
