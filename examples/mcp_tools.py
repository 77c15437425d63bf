"""An agent with the tools of an MCP server, which runs as a process of its own for as long as the block lasts.

python examples/mcp_tools.py
python examples/mcp_tools.py --model openai/gpt-4o-mini "What do all the lamps together cost?"

Needs the extra mcp: pip install 'reasonact[mcp]'
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

import reasonact as dspy
from reasonact.testing import ScriptedLM

SERVER = Path(__file__).with_name("mcp_server.py")

SCRIPT = [  # what the model says where none is named
    (None, [("a", "in_stock", {"item": "lamp"})]),
    (None, [("b", "price", {"item": "lamp", "pieces": 4})]),
    (None, [("c", "submit", {"answer": "There are 4 lamps, for 80 EUR together."})]),
]


async def ask(question: str) -> None:
    async with dspy.MCPTools(sys.executable, [str(SERVER)], timeout=30) as tools:
        for tool in tools:
            print(f"tool {tool.name}: {tool.desc}")
        agent = dspy.ReActV2("question -> answer", tools=tools, max_iters=10)
        result = await agent.acall(question=question)
    for event in result.history.messages:
        calls = event["tool_calls"]
        for call, done in zip(calls.tool_calls, calls.tool_call_results.tool_call_results, strict=True):
            print(f"{call.name} {call.args} -> {done.value}")
    print("answer:", result.get("answer", f"none ({result.termination_reason})"))


def main() -> None:
    parser = argparse.ArgumentParser(description="Ask an agent about the stock that an MCP server keeps.")
    parser.add_argument("question", nargs="?", default="How many lamps are there, and what do they cost?")
    parser.add_argument("--model", help="any model as LiteLLM names it; without it a script plays")
    options = parser.parse_args()

    dspy.configure(
        lm=dspy.LM(options.model) if options.model else ScriptedLM(SCRIPT, function_calling=True),
        adapter=dspy.ChatAdapter(use_native_function_calling=True),
    )
    asyncio.run(ask(options.question))


if __name__ == "__main__":
    main()
