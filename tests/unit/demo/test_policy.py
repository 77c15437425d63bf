"""The rule-based stand-in, played against the real tools in each form of request."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reasonact.demo import tools
from reasonact.demo.policy import expression_in, queries_for, reply

FIELDS = {"answer": {"type": "string"}, "qualified_name": {"type": "string"}, "confidence": {"type": "number"}}
NATIVE_TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
    for name in ("search", "read", "evaluate")
] + [{"type": "function", "function": {"name": "submit", "parameters": {"type": "object", "properties": FIELDS}}}]

# Every question is a newcomer's; the answers are what a person would accept.
QUESTIONS = {
    "which function removes common leading whitespace from every line of a text?": {"textwrap.dedent"},
    "how do I compute a sha256 hash of a file": {"hashlib.sha256", "hashlib.file_digest"},
    "which module parses command line options": {"argparse", "getopt", "optparse"},
    "what does heapq.nlargest do": {"heapq.nlargest"},
    "how can I delete a whole directory tree": {"shutil.rmtree"},
    "which function returns the n smallest elements": {"heapq.nsmallest"},
    "how do I choose a random element from a list": {"random.choice", "random.choices"},
    "how do I shuffle a list in place": {"random.shuffle"},
    "how do I pause my program for some seconds": {"time.sleep"},
    "which module reads and writes csv files": {"csv"},
    "which class counts hashable items": {"collections.Counter"},
    "how can I cache the results of a function": {"functools.lru_cache", "functools.cache"},
    "what computes the greatest common divisor": {"math.gcd"},
    "how do I join two paths": {"os.path.join"},
    "how do I split a string into lines": {"str.splitlines"},
    "how do I find the median of some data": {"statistics.median"},
    "how do I create a temporary directory": {"tempfile.TemporaryDirectory", "tempfile.mkdtemp"},
    "how do I escape HTML special characters": {"html.escape"},
    "how do I parse a URL into components": {"urllib.parse.urlparse", "urllib.parse.urlsplit"},
    "what does str.zfill do?": {"str.zfill"},
    "how do I make a random UUID": {"uuid.uuid4"},
    "how do I make a deep copy of an object": {"copy.deepcopy"},
    "how do I compress data with gzip": {"gzip.compress"},
    "how do I get the current working directory": {"os.getcwd"},
    "which function gives close matches for a misspelled word": {"difflib.get_close_matches"},
    "how do I check whether a year is a leap year": {"calendar.isleap"},
    "which function computes the square root": {"math.sqrt", "cmath.sqrt"},
    "how do I unpack binary data into values": {"struct.unpack"},
    # what rules of words do not reach; kept so that the count stays honest
    "how do I copy a file": {"shutil.copy", "shutil.copyfile", "shutil.copy2"},
    "how do I convert an object to a JSON string": {"json.dumps"},
    "how do I replace text with a regular expression": {"re.sub"},
    "how do I flatten nested iterables into one iterable": {"itertools.chain", "itertools.chain.from_iterable"},
}
HIT_RATE = 0.8


def run_tool(name: str, arguments: dict[str, Any]) -> str:
    try:
        return str(getattr(tools, name)(**arguments))
    except (ValueError, LookupError) as error:
        return f"{type(error).__name__}: {error}"


def play_native(question: str) -> tuple[dict[str, Any], list[list[str]]]:
    """Submitted fields, and the names of the tools called in each turn."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "[[ ## question ## ]]\n{question}"},
        {"role": "user", "content": f"[[ ## question ## ]]\n{question}\n"},
    ]
    turns: list[list[str]] = []
    while len(turns) < 10:
        message = reply({"messages": messages, "tools": NATIVE_TOOLS})
        messages.append(message)
        turns.append([call["function"]["name"] for call in message["tool_calls"]])
        for call in message["tool_calls"]:
            name, arguments = call["function"]["name"], json.loads(call["function"]["arguments"])
            if name == "submit":
                return arguments, turns
            content = run_tool(name, arguments)
            messages.append({"role": "tool", "tool_call_id": call["id"], "name": name, "content": content})
    raise AssertionError(f"no answer to {question!r} after {turns}")


def test_most_questions_of_a_newcomer_are_answered() -> None:
    answers = {question: play_native(question)[0]["qualified_name"] for question in QUESTIONS}
    missed = {question: answers[question] for question, right in QUESTIONS.items() if answers[question] not in right}
    assert HIT_RATE <= 1 - len(missed) / len(QUESTIONS), missed


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what is 2**10 + 5", "2**10 + 5 = 1029"),
        ("What is (17 * 3) % 7?", "(17 * 3) % 7 = 2"),
        ("sorted([3, 1, 2])[0]", "sorted([3, 1, 2])[0] = 1"),
        ("is 3 * (4 + 5) == 27?", "3 * (4 + 5) == 27 = True"),
        ("tell me what len('hello') returns", "len('hello') = 5"),
    ],
)
def test_a_calculation_is_worked_out(question: str, answer: str) -> None:
    fields, turns = play_native(question)
    assert {"answer": answer, "qualified_name": "", "confidence": 1.0} == fields
    assert [["evaluate"], ["submit"]] == turns


def test_a_calculation_without_a_value_is_answered_with_the_reason() -> None:
    fields, turns = play_native("what is 1/0?")
    assert "1/0 cannot be worked out: " in fields["answer"]
    assert "division by zero" in fields["answer"]
    assert [["evaluate"], ["submit"]] == turns


def test_what_the_calculator_does_not_know_is_searched_for() -> None:
    fields, turns = play_native("what is urlencode({'a': 1})")
    assert [["evaluate"], ["search"]] == turns[:2]
    assert "urllib.parse.urlencode" == fields["qualified_name"]


@pytest.mark.parametrize(
    "text", ["what does heapq.nlargest do", "why is a in b?", "print the week", "x - y", "42?", ""]
)
def test_prose_is_no_calculation(text: str) -> None:
    assert expression_in(text) is None


def test_reads_stand_side_by_side_in_one_turn() -> None:
    _, turns = play_native("which function removes common leading whitespace from every line of a text?")
    assert ["read", "read", "read"] in turns


def test_a_named_object_is_read_without_a_search() -> None:
    assert [["read"], ["submit"]] == play_native("what does heapq.nlargest do")[1]


def test_a_name_that_does_not_exist_is_made_up_for_by_a_search() -> None:
    fields, turns = play_native("what does textwrap.deindent do to leading whitespace of lines?")
    assert "read" == turns[0][0]
    assert "search" in turns[1]
    assert "textwrap.dedent" == fields["qualified_name"]


def test_where_nothing_fits_the_answer_says_so() -> None:
    fields, _ = play_native("zzzxqy?")
    assert "" == fields["qualified_name"]
    assert 0.0 == fields["confidence"]
    assert "holds nothing" in fields["answer"]


def test_a_forced_submit_is_obeyed() -> None:
    body = {
        "messages": [{"role": "user", "content": "[[ ## question ## ]]\nwhat is heapq?"}],
        "tools": NATIVE_TOOLS,
        "tool_choice": {"type": "function", "function": {"name": "submit"}},
    }
    assert ["submit"] == [call["function"]["name"] for call in reply(body)["tool_calls"]]


def test_the_last_question_of_a_conversation_counts() -> None:
    messages = [
        {"role": "user", "content": "[[ ## question ## ]]\nwhat is 1 + 1"},
        {"role": "assistant", "content": "", "tool_calls": [_call("a", "evaluate", {"expression": "1 + 1"})]},
        {"role": "tool", "tool_call_id": "a", "content": "2"},
        {"role": "user", "content": "[[ ## question ## ]]\nwhat is 2 + 3"},
    ]
    assert (
        '{"expression": "2 + 3"}'
        == reply({"messages": messages, "tools": NATIVE_TOOLS})["tool_calls"][0]["function"]["arguments"]
    )


SYSTEM_TEXT = """1. `question` (str):
[[ ## question ## ]]
{question}

[[ ## next_thought ## ]]
{next_thought}

[[ ## tool_calls ## ]]
{tool_calls}

[[ ## completed ## ]]
The tools are `search`, `read`, `evaluate`, `submit`.
"""
SUBMIT_ARGUMENTS = {"answer": {"type": "string"}, "qualified_name": {"description": "a {name}"}}
SUBMIT_LINES = [
    f"submit, which ends the {{run}}. It takes {SUBMIT_ARGUMENTS}.",
    "[[ ## tools ## ]]\n" + json.dumps(["read: reads", f"submit: ends\nthe run. {json.dumps(SUBMIT_ARGUMENTS)}"]),
]


@pytest.mark.parametrize("submit", SUBMIT_LINES)
def test_the_text_form_of_react_v2_is_played_with_markers(submit: str) -> None:
    messages = [
        {"role": "system", "content": SYSTEM_TEXT + submit},
        {"role": "user", "content": "[[ ## question ## ]]\nhow do I shuffle a list in place\n\nWrite `[[ ## x ## ]]`."},
    ]
    for _ in range(6):
        content = reply({"messages": messages})["content"]
        calls = json.loads(section(content, "tool_calls"))["tool_calls"]
        if calls[0]["name"] == "submit":
            assert {"answer", "qualified_name"} == calls[0]["args"].keys()
            assert "random.shuffle" == calls[0]["args"]["qualified_name"]
            return
        results = [
            {"call_id": "c", "name": call["name"], "value": run_tool(call["name"], call["args"]), "is_error": False}
            for call in calls
        ]
        block = f"[[ ## tool_call_results ## ]]\n{json.dumps({'tool_call_results': results})}"
        messages += [{"role": "assistant", "content": content}, {"role": "user", "content": block}]
    raise AssertionError("no answer")


SYSTEM_REACT = """[[ ## question ## ]]
{question}

[[ ## trajectory ## ]]
{trajectory}

[[ ## next_thought ## ]]
{next_thought}

[[ ## next_tool_name ## ]]
{next_tool_name}

[[ ## next_tool_args ## ]]
{next_tool_args}

[[ ## completed ## ]]
(1) search, for searching.
(2) read, for reading.
(3) evaluate, for numbers.
(4) finish, to end."""
SYSTEM_EXTRACT = """1. `reasoning` (str):
2. `answer` (str):
3. `confidence` (float):

[[ ## question ## ]]
{question}

[[ ## trajectory ## ]]
{trajectory}

[[ ## reasoning ## ]]
{reasoning}

[[ ## answer ## ]]
{answer}

[[ ## confidence ## ]]
{confidence}

[[ ## completed ## ]]"""


def test_react_is_played_step_by_step_and_then_extracted() -> None:
    trajectory = ""
    for turn in range(8):
        content = reply({"messages": react_messages(SYSTEM_REACT, trajectory)})["content"]
        name, arguments = section(content, "next_tool_name"), json.loads(section(content, "next_tool_args"))
        observation = "Completed." if name == "finish" else run_tool(name, arguments)
        for field, value in (
            ("thought", section(content, "next_thought")),
            ("tool_name", name),
            ("tool_args", json.dumps(arguments)),
            ("observation", observation),
        ):
            trajectory += f"[[ ## {field}_{turn} ## ]]\n{value}\n\n"
        if name == "finish":
            break
    content = reply({"messages": react_messages(SYSTEM_EXTRACT, trajectory)})["content"]
    assert section(content, "answer").startswith("statistics.median(data)")
    assert 0 < json.loads(section(content, "confidence")) <= 1
    assert "statistics.median is nearest" in section(content, "reasoning")
    assert content.endswith("[[ ## completed ## ]]")


def test_a_request_of_no_agent_is_answered_in_plain_words() -> None:
    message = reply({"messages": [{"role": "user", "content": "hello"}]})
    assert "stand-in" in message["content"]
    assert "tool_calls" not in message


def test_a_search_is_repeated_in_the_words_of_documentation() -> None:
    assert ["size folder", "size folder directory"] == queries_for("what is the size of a folder?")
    assert [] == queries_for("how do I do it?")


@given(st.text(max_size=200))
def test_any_question_gets_a_move(question: str) -> None:
    message = reply(
        {"messages": [{"role": "user", "content": f"[[ ## question ## ]]\n{question}"}], "tools": NATIVE_TOOLS}
    )
    assert message["tool_calls"]


def react_messages(system: str, trajectory: str) -> list[dict[str, Any]]:
    user = (
        f"[[ ## question ## ]]\nhow do I find the median of some data\n\n[[ ## trajectory ## ]]\n{trajectory}\n\n"
        "Answer with the field `[[ ## next_thought ## ]]` first."
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def section(content: str, name: str) -> str:
    found = re.search(rf"\[\[ ## {name} ## \]\]\n(.*?)\n\n\[\[ ##", content, re.DOTALL)
    assert found, content
    return found.group(1)


def _call(id_: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def test_every_kind_of_output_is_filled() -> None:
    kinds = {
        "text": "string",
        "module_name": "string",
        "sure": "boolean",
        "found": "array",
        "best": "object",
    }
    fields = {name: {"type": kind} for name, kind in kinds.items()}
    submit = {"type": "object", "properties": fields}
    offered = [*NATIVE_TOOLS[:-1], {"type": "function", "function": {"name": "submit", "parameters": submit}}]
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "[[ ## question ## ]]\nwhat does heapq.nlargest do\n"}
    ]
    for _ in range(5):
        message = reply({"messages": messages, "tools": offered})
        calls = [
            (call["id"], call["function"]["name"], call["function"]["arguments"]) for call in message["tool_calls"]
        ]
        answers = [json.loads(arguments) for _, name, arguments in calls if name == "submit"]
        if answers:
            break
        messages.append(message)
        for call_id, name, arguments in calls:
            content = run_tool(name, json.loads(arguments))
            messages.append({"role": "tool", "tool_call_id": call_id, "name": name, "content": content})
    (answer,) = answers
    assert answer["text"].startswith("heapq.nlargest(")
    assert ("heapq", True, ["heapq.nlargest"]) == tuple(answer[name] for name in ("module_name", "sure", "found"))
    assert "heapq.nlargest" == answer["best"]["name"]
