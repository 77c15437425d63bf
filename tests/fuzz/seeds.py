"""Where fuzzing starts: completions as models write them, in the bytes of the targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fuzz_input import bytes_of

_TEXTS: Final = {
    "chat": [
        "[[ ## a ## ]]\nx\n\n[[ ## b ## ]]\n1\n\n[[ ## c ## ]]\n[\"x\"]\n\n[[ ## completed ## ]]",
        "<think>hm</think>[[ ## a ## ]]\n```\n[[ ## b ## ]]\n```\n[[ ## b ## ]]\n1",
        "[[ ## next_thought ## ]]\nI\n[[ ## next_tool_name ## ]]\nsearch\n[[ ## next_tool_args ## ]]\n{\"query\": 1}",
        "[[ ## next_thought ## ]]\nI\n[[ ## tool_calls ## ]]\n{\"tool_calls\": [{\"name\": \"search\", \"args\": {}}]}",
    ],
    "json": [
        '{"a": "x \\"y\\" \\u00e9\\ud83d\\ude00", "b": 1, "c": ["x"]}',
        "Well: ```json\n{'a': None, 'b': 1, // so\n c: [1, 2,]}\n```",
        '{"next_thought": "I", "next_tool_name": "search", "next_tool_args": {"query": "x"}}',
        '{"next_thought": "I", "tool_calls": [{"name": "search", "args": {"query": "x"',
    ],
    "xml": [
        "<a>\nx &lt; y\n</a>\n<b>1</b>\n<c><item>x</item></c>",
        "<A kind='t'>x <i>y</i> </a> <![CDATA[ z ]]> </A><b/>",
        "<a><item><name>x</name><tags><item>t</item></tags></item></a><b><name>x</name></b>",
        "<next_thought>I</next_thought><tool_calls><item><name>search</name><args><query>x</query></args></item></tool_calls>",
    ],
    "protocol": [
        "A: x\n```\ny\n```\nB: 1\nC: [\"x\"]",
        "Thought: I\nAction: search[{\"query\": \"x\"}]\nObservation: no\nAnswer: 3",
        "Thought: I\nAction: search\nAction Input: {\"query\": \"x\"}",
        "**A:** x\n\\B: y\n# B: 1",
    ],
    "calls": [
        '{"query": "x", "limit": 3}',
        '{"tool_calls": [{"id": "c", "name": "search", "args": {"query": "a } \\" b"}}]}',
        '[{"type": "function", "function": {"name": "look", "arguments": "{\\"place\\": {\\"name\\": \\"x\\"}}"}}]',
    ],
}  # fmt: skip


def seeds(target: str) -> Iterator[bytes]:
    """The seeds of a target: each text with each of its heads."""
    if target == "arguments":
        for shape in range(0, 256, 16):
            yield bytes([shape % 4, *range(shape, shape + 16), 2, 0, shape, 1, 255 - shape, *range(40)])
        return
    head = 5 if target == "calls" else 4  # choices before the text, see `targets`
    for text in _TEXTS[target]:
        for which in range(10):
            yield bytes([which, *[which * 31 % 256] * (head - 1), 0, *bytes_of(text)])
        yield bytes([*[0] * head, 255, *bytes_of(text)])
