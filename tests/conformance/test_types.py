"""The same values made with DSPy and with this library: texts, parts, dumps, answers to misuse."""

from __future__ import annotations

import copy
import io
import json
import pickle
import typing
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import dspy

import reasonact.types as ours
from reasonact.signatures import Signature

PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)


def outcome(make: typing.Callable[[Any], Any], library: Any) -> Any:
    """What comes out: a value's own facts, or the kind of refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make(library)
        except Exception as error:
            return next(
                kind.__name__
                for kind in (AttributeError, KeyError, IndexError, TypeError, ValueError, RuntimeError, Exception)
                if isinstance(error, kind)
            )


def same(make: typing.Callable[[Any], Any]) -> None:
    assert outcome(make, dspy) == outcome(make, ours)


def call(d: Any, name: str = "f", args: dict[str, Any] | None = None, id: str | None = "c1") -> Any:
    return d.ToolCalls.ToolCall(id=id, name=name, args={"x": 1} if args is None else args)


def calls_with_results(d: Any) -> Any:
    calls = [call(d), call(d, "g", {}, None)]
    return d.ToolCalls(
        tool_calls=calls,
        tool_call_results=d.ToolCallResults.from_tool_calls_and_values(calls, [1, "no"], [False, True]),
    )


def increment(x: int) -> int:
    return x + 1


TOOL_CALLS: dict[str, typing.Callable[[Any], Any]] = {
    "repr of a call": lambda d: (repr(call(d)), str(call(d))),
    "format of a call": lambda d: call(d).format(),
    "repr of calls": lambda d: (repr(calls_with_results(d)), str(calls_with_results(d))),
    "format of calls": lambda d: calls_with_results(d).format(),
    "results": lambda d: repr(calls_with_results(d).tool_call_results),
    "dump of results": lambda d: calls_with_results(d).tool_call_results.model_dump(),
    "json of results": lambda d: calls_with_results(d).tool_call_results.model_dump_json(),
    "results of lists": lambda d: repr(d.ToolCallResults.from_tool_calls_and_values([call(d)], [3])),
    "unequal results": lambda d: d.ToolCallResults.from_tool_calls_and_values([call(d)], []),
    "result defaults": lambda d: repr(d.ToolCallResults.ToolCallResult(name="n", value=3)),
    "results of a list": lambda d: repr(d.ToolCallResults.model_validate([{"name": "x", "value": 3}])),
    "one bare result": lambda d: repr(d.ToolCallResults.model_validate({"name": "x", "value": 3})),
    "results of text": lambda d: repr(d.ToolCallResults.model_validate("x")),
    "from_dict_list": lambda d: repr(
        d.ToolCalls.from_dict_list([{"name": "a", "args": {"q": 1}}, {"name": "b", "args": {}, "id": "i"}])
    ),
    "equal": lambda d: (
        call(d) == call(d),
        call(d) == call(d, id="c2"),
        calls_with_results(d) == calls_with_results(d),
    ),
    "positional": lambda d: d.ToolCalls([]),
    "nothing": lambda d: d.ToolCalls(),
    "a call's fields": lambda d: repr(d.ToolCalls(name="a", args={})),
    "other keys": lambda d: repr(d.ToolCalls(tool_calls=[{"name": "a", "args": {}, "id": "7", "extra": 3}], foo=3)),
    "execute in sight": lambda d: (
        lambda increment=increment: call(d, "increment").execute({"increment": increment})
    )(),
    "execute from a dict": lambda d: call(d).execute({"f": lambda x: x * 5}),
    "execute without it": lambda d: call(d, "nowhere").execute(),
    "execute not in the dict": lambda d: call(d).execute({}),
    "execute fails": lambda d: call(d).execute({"f": lambda y: y}),
    "not streamable": lambda d: (d.ToolCalls.is_streamable(), d.ToolCalls.parse_lm_response("x")),
}


@pytest.mark.parametrize("case", TOOL_CALLS)
def test_tool_calls_agree(case: str) -> None:
    same(TOOL_CALLS[case])


def test_execute_looks_in_the_frame_that_calls_it() -> None:
    def local(x: int) -> int:
        return x + 10

    assert 11 == call(dspy, "local").execute() == call(ours, "local").execute()
    assert 2 == call(dspy, "increment").execute() == call(ours, "increment").execute()


SHAPES: list[Any] = [
    [{"name": "a", "args": {}}],
    {"name": "a", "args": {"x": [1]}},
    {"tool_calls": [{"name": "a", "args": {}}]},
    {"tool_calls": []},
    [],
    [{"function": {"name": "a", "arguments": "{}"}}],
    [{"id": "i", "type": "function", "function": {"name": "a", "arguments": '{"x": 1}'}}],
    [{"name": "a", "args": None}],
    {"name": "a", "arguments": {}},
    {"name": "a", "arguments": '{"x": 2}'},
]
NO_SHAPES: list[Any] = [
    {},
    {"name": "a"},
    "x",
    None,
    3,
    {"answer": 1},
    [1],
    [{"args": {}}],
    {"tool_calls": [{"name": 3, "args": {}}]},
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_shapes_that_both_read_give_the_same_calls(shape: Any) -> None:
    assert repr(dspy.ToolCalls.model_validate(shape)) == repr(ours.ToolCalls.model_validate(shape))


@pytest.mark.parametrize("shape", NO_SHAPES, ids=str)
def test_both_refuse_what_is_no_call(shape: Any) -> None:
    for library in (dspy, ours):
        with pytest.raises(ValueError):
            library.ToolCalls.model_validate(shape)


def reasoning(d: Any) -> Any:
    return d.Reasoning(content="x y")


REASONING: dict[str, typing.Callable[[Any], Any]] = {
    "repr": lambda d: (repr(reasoning(d)), str(reasoning(d)), repr(d.Reasoning(content="a'b\n"))),
    "equality": lambda d: (
        reasoning(d) == "x y",
        "x y" == reasoning(d),
        reasoning(d) == reasoning(d),
        reasoning(d) == 3,
    ),
    "joining": lambda d: (reasoning(d) + "a", "a" + reasoning(d), type(reasoning(d) + "a").__name__),
    "joining two": lambda d: (str(reasoning(d) + reasoning(d)), type(reasoning(d) + reasoning(d)).__name__),
    "joining a number": lambda d: reasoning(d) + 3,
    "sequence": lambda d: (
        len(reasoning(d)),
        reasoning(d)[0],
        reasoning(d)[0:2],
        list(reasoning(d)),
        "x" in reasoning(d),
    ),
    "truth": lambda d: (bool(d.Reasoning(content="")), bool(reasoning(d))),
    "text methods": lambda d: (
        reasoning(d).upper(),
        reasoning(d).split(),
        reasoning(d).replace("x", "z"),
        reasoning(d).index("y"),
        reasoning(d).encode(),
        reasoning(d).strip(),
    ),
    "format": lambda d: (reasoning(d).format(), f"{reasoning(d)}"),
    "dump": lambda d: (reasoning(d).model_dump(), reasoning(d).model_dump_json()),
    "in a list": lambda d: TypeAdapter(list[d.Reasoning]).dump_python([reasoning(d)]),
    "of text": lambda d: d.Reasoning.model_validate("abc").content,
    "of a dict": lambda d: d.Reasoning.model_validate({"content": "abc"}).content,
    "of a number": lambda d: d.Reasoning.model_validate(3),
    "of another key": lambda d: d.Reasoning.model_validate({"reasoning": "q"}),
    "of None": lambda d: d.Reasoning(content=None),
    "of nothing": lambda d: d.Reasoning(),
    "positional": lambda d: d.Reasoning("x"),
    "no such attribute": lambda d: reasoning(d).nope,
    "json": lambda d: json.dumps(reasoning(d)),
    "describes nothing": lambda d: (d.Reasoning.description(), d.Reasoning.is_streamable()),
    "native": lambda d: (
        str(d.Reasoning.parse_lm_response({"text": "a", "reasoning_content": "rr"})),
        d.Reasoning.parse_lm_response("x"),
        d.Reasoning.parse_lm_response({"text": "x"}),
    ),
    "chunk": lambda d: (
        d.Reasoning.parse_stream_chunk(
            SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(reasoning_content="rc"))])
        ),
        d.Reasoning.parse_stream_chunk(SimpleNamespace(choices=[])),
        d.Reasoning.parse_stream_chunk(SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content="x"))])),
    ),
}


@pytest.mark.parametrize("case", REASONING)
def test_reasoning_agrees(case: str) -> None:
    same(REASONING[case])


@pytest.mark.parametrize("options", [{}, {"reasoning_effort": "high"}, {"reasoning_effort": None}], ids=str)
@pytest.mark.parametrize("own_options", [{}, {"reasoning_effort": "medium"}], ids=str)
@pytest.mark.parametrize("reasons", [True, False])
def test_native_reasoning_is_asked_for_alike(
    options: dict[str, Any], own_options: dict[str, Any], reasons: bool
) -> None:
    class Thinking(dspy.BaseLM):
        supports_reasoning = reasons

    lm = Thinking("m", cache=False, **own_options)
    found = []
    for library, signature in ((dspy, dspy.Signature), (ours, Signature)):
        asked = dict(options)
        left = library.Reasoning.adapt_to_native_lm_feature(signature("q -> reasoning, a"), "reasoning", lm, asked)
        found.append((list(left.fields), asked))
    assert found[0] == found[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("media")
    (folder / "a.png").write_bytes(PNG)
    (folder / "a.pdf").write_bytes(b"%PDF-1.4 x")
    (folder / "a.txt").write_text("hello")
    (folder / "plain").write_bytes(b"\0\1\2")
    for name in ("a.wav", "a.ogg", "a.flac"):
        (folder / name).write_bytes(b"x")
    return folder


JAVA = "java"
DATA = "data:image/png;base64,aGk="
MEDIA: dict[str, typing.Callable[[Any], Any]] = {
    "image url": lambda d: (repr(d.Image("http://x/y.png")), d.Image(url="http://x/y.png").format()),
    "image data": lambda d: (repr(d.Image(DATA)), d.Image(DATA).format()),
    "image gs": lambda d: d.Image("gs://b/x.png").url,
    "image upper case": lambda d: d.Image("HTTP://x/y.png").url,
    "image spaces": lambda d: d.Image("  http://x/y ").url,
    "image plain data": lambda d: d.Image("data:image/svg+xml,<svg/>").url,
    "image dict": lambda d: d.Image({"url": "http://x/y"}).url,
    "image image": lambda d: d.Image(d.Image("http://x/y")).url,
    "image validated": lambda d: d.Image.model_validate({"url": "http://x/y"}).url,
    "image text validated": lambda d: d.Image.model_validate("http://x/y"),
    "image local file": lambda d: d.Image("/etc/hostname"),
    "image local file in a dict": lambda d: d.Image.model_validate({"url": "/etc/hostname"}),
    "image word": lambda d: d.Image("hello"),
    "image empty": lambda d: d.Image(""),
    "image s3": lambda d: d.Image("s3://b/x.png"),
    "image no host": lambda d: d.Image("http://"),
    "image number": lambda d: d.Image(3),
    "image nothing": lambda d: d.Image(),
    "image equal": lambda d: (d.Image(DATA) == d.Image(DATA), hash(d.Image(DATA)) == hash(d.Image(DATA))),
    "image frozen": lambda d: setattr(d.Image(DATA), "url", "z"),
    "image missing file": lambda d: d.Image.from_path("/nowhere.png"),
    "audio": lambda d: (
        repr(d.Audio(data="aGk=", audio_format="wav")),
        d.Audio(data="aGk=", audio_format="wav").format(),
    ),
    "audio uri": lambda d: repr(d.Audio("data:audio/x-wav;base64,aGk=")),
    "audio parameters": lambda d: repr(d.Audio("data:audio/wav;codecs=1;base64,aGk=")),
    "audio bytes": lambda d: repr(d.Audio(b"hi")),
    "audio dict": lambda d: repr(d.Audio({"data": "aGk=", "audio_format": "wav"})),
    "audio audio": lambda d: repr(d.Audio(d.Audio(data="aGk=", audio_format="wav"))),
    "audio validated": lambda d: repr(d.Audio.model_validate("data:audio/wav;base64,aGk=")),
    "audio path": lambda d: d.Audio("/x.wav"),
    "audio path validated": lambda d: d.Audio.model_validate("/x.wav"),
    "audio other uri": lambda d: d.Audio("data:text/plain;base64,aGk="),
    "audio number": lambda d: d.Audio(3),
    "audio no format": lambda d: d.Audio(data="aGk="),
    "audio missing file": lambda d: d.Audio.from_path("/nowhere.wav"),
    "file": lambda d: (
        repr(d.File(file_data="data:text/plain;base64,aGk=", filename="a.txt")),
        d.File(file_data="data:text/plain;base64,aGk=", filename="a.txt").format(),
    ),
    "file id": lambda d: (
        repr(d.File.from_file_id("x", filename="n")),
        d.File.from_file_id("x", filename="n").format(),
    ),
    "file bytes": lambda d: (d.File.from_bytes(b"hi").format(), d.File.from_bytes(b"hi", filename="n.pdf").format()),
    "file positional": lambda d: (
        d.File(b"x").file_data,
        d.File({"file_id": "x"}).file_id,
        d.File(d.File(file_id="y")).file_id,
    ),
    "file plain data": lambda d: (repr(d.File(file_data="hello")), d.File(file_data="hello").format()),
    "file name": lambda d: d.File(filename="x").format(),
    "file nothing": lambda d: d.File(),
    "file path": lambda d: d.File("/x.txt"),
    "file number": lambda d: d.File(3),
    "file other keys": lambda d: d.File({"foo": 1}),
    "file extra": lambda d: d.File(file_id="x", zz=1),
    "file missing": lambda d: d.File.from_path("/nowhere"),
    "code": lambda d: (repr(d.Code(code="x=1")), str(d.Code(code="x=1")), d.Code(code="x=1").format()),
    "code dump": lambda d: (d.Code(code="x=1").model_dump(), d.Code(code="x=1").model_dump_json()),
    "code language": lambda d: (d.Code.language, d.Code["java"].language, d.Code["java"].__name__),
    "code positional": lambda d: d.Code("x"),
    "code number": lambda d: d.Code.model_validate(3),
    "base": lambda d: (
        d.Type.description(),
        d.Type.is_streamable(),
        d.Type.parse_stream_chunk("x"),
        d.Type.parse_lm_response("x"),
    ),
    "annotations": lambda d: [
        kind.__name__
        for kind in d.Type.extract_custom_type_from_annotation(list[dict[str, d.Image | None]] | d.Code[JAVA] | int)
    ],
    "annotation alone": lambda d: [kind.__name__ for kind in d.Image.extract_custom_type_from_annotation(d.Image)],
}


@pytest.mark.parametrize("case", MEDIA)
def test_media_agree(case: str) -> None:
    same(MEDIA[case])


LOADED: dict[str, typing.Callable[[Any, Path], Any]] = {
    "image": lambda d, folder: d.Image.from_path(str(folder / "a.png")).url,
    "image from_file": lambda d, folder: d.Image.from_file(str(folder / "a.png")).url,
    "image of a pdf": lambda d, folder: d.Image.from_path(str(folder / "a.pdf")).url,
    "image of no kind": lambda d, folder: d.Image.from_path(str(folder / "plain")),
    "audio": lambda d, folder: repr(d.Audio.from_path(str(folder / "a.wav"))),
    "audio ogg": lambda d, folder: repr(d.Audio.from_file(str(folder / "a.ogg"))),
    "audio flac": lambda d, folder: repr(d.Audio.from_path(str(folder / "a.flac"))),
    "audio of a text": lambda d, folder: d.Audio.from_path(str(folder / "a.txt")),
    "file": lambda d, folder: d.File.from_path(str(folder / "a.txt")).format(),
    "file of no kind": lambda d, folder: d.File.from_path(str(folder / "plain")).format(),
    "file named": lambda d, folder: d.File.from_path(str(folder / "a.pdf"), filename="q", mime_type="x/y").format(),
    "file of a folder": lambda d, folder: d.File.from_path(str(folder)),
}


@pytest.mark.parametrize("case", LOADED)
def test_loading_agrees(case: str, folder: Path) -> None:
    same(lambda library: LOADED[case](library, folder))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF"])
def test_pictures_of_pillow_agree(kind: str) -> None:
    pillow = pytest.importorskip("PIL.Image")
    written = io.BytesIO()
    pillow.new("RGB", (2, 2)).save(written, kind)
    same(lambda d: d.Image.from_PIL(pillow.open(io.BytesIO(written.getvalue()))).url)
    same(lambda d: d.Image(pillow.new("RGB", (2, 2))).url)
    same(lambda d: d.Image(written.getvalue()).url.partition(",")[0])


FENCES = [
    "```python\nx=1\n```",
    "x=1",
    "a\n```java\nx=1\n```\nb",
    "```\nx\n```",
    "```x=1```",
    "```python\nx=1",
    "```py\nx=1\n```\n\n```py\ny=2\n```",
    "",
]


@pytest.mark.parametrize("text", FENCES)
def test_code_comes_out_of_the_same_fences(text: str) -> None:
    same(lambda d: d.Code.model_validate(text).code)
    same(lambda d: d.Code(code=text).code)


def example(d: Any) -> Any:
    return d.Example(q="1", a=2).with_inputs("q")


EXAMPLES: dict[str, typing.Callable[[Any], Any]] = {
    "repr": lambda d: (repr(example(d)), str(d.Example(a=1)), repr(d.Example())),
    "views": lambda d: (
        d.Example(a=1, dspy_x=2).keys(),
        d.Example(a=1, dspy_x=2).values(),
        d.Example(a=1, dspy_x=2).items(),
    ),
    "all views": lambda d: (d.Example(a=1, dspy_x=2).keys(include_dspy=True), d.Example(a=1, dspy_x=2).items(True)),
    "sizes": lambda d: (len(d.Example(a=1, dspy_x=2)), list(d.Example(a=1, dspy_x=2)), bool(d.Example())),
    "membership": lambda d: ("a" in d.Example(a=1), "zz" in d.Example(a=1), "dspy_x" in d.Example(dspy_x=1)),
    "access": lambda d: (d.Example(a=1).a, d.Example(a=1)["a"], d.Example(a=1).get("zz"), d.Example(a=1).get("zz", 3)),
    "no attribute": lambda d: d.Example(a=1).zz,
    "no item": lambda d: d.Example(a=1)["zz"],
    "private": lambda d: d.Example(a=1)._zz,
    "method names": lambda d: (
        d.Example(keys="K")["keys"],
        d.Example(items=3)["items"],
        callable(d.Example(inputs=1).inputs),
    ),
    "inputs": lambda d: (
        repr(example(d).inputs()),
        repr(example(d).labels()),
        repr(d.Example(a=1).with_inputs("zz").inputs()),
    ),
    "no inputs": lambda d: d.Example(a=1).inputs(),
    "no labels": lambda d: d.Example(a=1).labels(),
    "without": lambda d: repr(example(d).without("q")),
    "without nothing": lambda d: example(d).without("zz"),
    "copy": lambda d: (repr(example(d).copy(b=3)), repr(example(d).copy(q=3).inputs())),
    "base": lambda d: (
        repr(d.Example({"a": 1}, b=2)),
        repr(d.Example(example(d), b=2)),
        repr(d.Example(base={"a": 1})),
        repr(d.Example(3)),
    ),
    "hidden": lambda d: repr(d.Example(a=1, dspy_u=2).with_inputs("a")),
    "equality": lambda d: (
        d.Example(a=1) == d.Example(a=1),
        d.Example(a=1) == d.Example(a=2),
        example(d) == d.Example(q="1", a=2),
        d.Example(a=1) == d.Prediction(a=1),
        d.Prediction(a=1) == d.Example(a=1),
        d.Example(a=1) == {"a": 1},
    ),
    "hash": lambda d: (hash(d.Example(a=1)) == hash(d.Example(a=1)), hash(d.Prediction(a=1)) == hash(d.Example(a=1))),
    "no hash": lambda d: hash(d.Example(a=[1])),
    "mapping": lambda d: (dict(d.Example(a=1)), dict(**d.Example(a=1))),
    "pickle": lambda d: (
        repr(pickle.loads(pickle.dumps(example(d)))),
        repr(copy.deepcopy(example(d))),
        repr(copy.copy(example(d))),
    ),
    "toDict": lambda d: d.Example(
        b=[d.Example(c=1)], h=d.History(messages=[{"a": 1}]), s={1}, t=(1, 2), m={"k": d.Example(a=1)}
    ).toDict(),
    "new copies": lambda d: example(d).with_inputs("a") is example(d),
    "prediction repr": lambda d: (
        repr(d.Prediction(a=1, b="x\ny")),
        str(d.Prediction()),
        repr(d.Prediction(a=[d.Prediction(c=1)])),
    ),
    "prediction parts": lambda d: (
        d.Prediction(a=1).keys(),
        d.Prediction(a=1).toDict(),
        d.Prediction(a=1).completions,
        d.Prediction(a=1).get_lm_usage(),
    ),
    "prediction base": lambda d: (repr(d.Prediction({"a": 1})), repr(d.Prediction(d.Prediction(a=1), c=3))),
    "prediction number": lambda d: (
        float(d.Prediction(score=0.5)),
        d.Prediction(score=1) + d.Prediction(score=2),
        d.Prediction(score=1) + 2,
        2 + d.Prediction(score=1),
        sum([d.Prediction(score=1), d.Prediction(score=2)]),
        d.Prediction(score=1) / 2,
        2 / d.Prediction(score=4),
    ),
    "prediction order": lambda d: (
        d.Prediction(score=1) < 2,
        d.Prediction(score=1) <= d.Prediction(score=1),
        d.Prediction(score=1) > 0,
        d.Prediction(score=1) >= 2,
    ),
    "prediction equality": lambda d: (d.Prediction(score=1) == 1, d.Prediction(score=1) == d.Prediction(score=1)),
    "no score": lambda d: d.Prediction(a=1) + 1,
    "no float": lambda d: float(d.Prediction(a=1)),
    "adding text": lambda d: d.Prediction(score=1) + "x",
    "comparing text": lambda d: d.Prediction(score=1) < "x",
    "subtracting": lambda d: d.Prediction(score=1) - 1,
    "no such output": lambda d: d.Prediction(a=1).zz,
    "completions": lambda d: (
        repr(many(d)),
        repr(many(d).completions),
        many(d).a,
        many(d).completions.a,
        many(d).completions["b"],
    ),
    "completions by number": lambda d: (repr(many(d).completions[1]), [repr(one) for one in many(d).completions]),
    "completions size": lambda d: (
        len(many(d).completions),
        "a" in many(d).completions,
        list(many(d).completions.items()),
    ),
    "completions of a list": lambda d: repr(d.Prediction.from_completions([{"a": 1}, {"a": 2}]).completions),
    "completions signature": lambda d: d.Prediction.from_completions([{"a": 1}], signature="S").completions.signature,
    "no such completion": lambda d: many(d).completions[9],
    "no negative completion": lambda d: many(d).completions[-1],
    "no such field": lambda d: many(d).completions["zz"],
    "no such field attribute": lambda d: many(d).completions.zz,
    "copied completions": lambda d: (
        repr(pickle.loads(pickle.dumps(many(d)))),
        repr(copy.deepcopy(many(d))),
        repr(many(d).copy()),
    ),
    "prediction copies": lambda d: (
        repr(d.Prediction(a=1, b=2).without("a")),
        repr(d.Prediction(a=1).with_inputs("a").inputs()),
        type(d.Prediction(a=1).with_inputs("a").labels()).__name__,
    ),
}


def many(d: Any) -> Any:
    return d.Prediction.from_completions({"a": [1, 2], "b": ["x", "y"]})


@pytest.mark.parametrize("case", EXAMPLES)
def test_examples_and_predictions_agree(case: str) -> None:
    same(EXAMPLES[case])


def used(d: Any) -> Any:
    prediction = d.Prediction(a=1)
    prediction.set_lm_usage({"m": 1})
    return prediction


def test_usage_travels_alike() -> None:
    same(lambda d: (used(d).get_lm_usage(), used(d).copy().get_lm_usage(), copy.deepcopy(used(d)).get_lm_usage()))


def test_changing_an_example_agrees() -> None:
    def changed(d: Any) -> str:
        row = d.Example(a=1)
        row.b = 2
        row["c"] = 3
        del row["a"]
        return repr(row)

    same(changed)


HISTORIES: dict[str, typing.Callable[[Any], Any]] = {
    "plain": lambda d: (repr(d.History(messages=[{"a": 1}])), d.History(messages=[{"a": 1}]).model_dump()),
    "calls": lambda d: repr(d.History(messages=[{"q": "x", "tool_calls": d.ToolCalls(tool_calls=[call(d)])}])),
    "empty": lambda d: (d.History(messages=[]).model_dump_json(), d.History(messages=[]) == d.History(messages=[])),
    "positional": lambda d: d.History([]),
    "number": lambda d: d.History(messages=3),
    "nothing": lambda d: d.History(),
    "extra": lambda d: d.History(messages=[], mode="x"),
    "text event": lambda d: d.History(messages=["a"]),
    "frozen": lambda d: setattr(d.History(messages=[]), "messages", []),
    "hash": lambda d: hash(d.History(messages=[])),
    "models in events": lambda d: d.History(messages=[{"m": Row(x=1), "t": (1, 2)}]).model_dump(),
}


class Row(BaseModel):
    x: int


@pytest.mark.parametrize("case", HISTORIES)
def test_histories_agree(case: str) -> None:
    same(HISTORIES[case])


def two_turns(d: Any) -> Any:
    calls = [call(d), call(d, "g", {}, "c2")]
    results = d.ToolCallResults.from_tool_calls_and_values(calls, [1, "no"], [False, True])
    acted = {
        "question": "q",
        "next_thought": "t",
        "tool_calls": d.ToolCalls(tool_calls=calls, tool_call_results=results),
    }
    return d.History(messages=[acted, {"answer": "a"}])


def test_dspy_shows_a_model_the_same_turns_from_our_dump() -> None:
    signature = dspy.Signature("question, history: dspy.History -> next_thought, tool_calls: dspy.ToolCalls, answer")
    adapter = dspy.ChatAdapter(use_native_function_calling=True)
    read = dspy.History.model_validate_json(two_turns(ours).model_dump_json())
    shown = [
        adapter.format(signature, [], {"question": "x", "history": history}) for history in (two_turns(dspy), read)
    ]
    assert shown[0] == shown[1]
    assert 2 == sum(message["role"] == "tool" for message in shown[1])


def test_we_read_dspys_dump_of_a_history_and_give_the_calls_their_ids_back() -> None:
    theirs = dspy.History(messages=[{"question": "q", "tool_calls": calls_with_results(dspy)}, {"answer": "a"}])
    for form in (theirs.model_dump_json(), theirs.model_dump(), json.loads(theirs.model_dump_json())["messages"]):
        history = ours.History.from_any(form)
        calls = history.messages[0]["tool_calls"]
        assert ["c1", "call_0_1"] == [one.id for one in calls.tool_calls]
        assert [("c1", 1, False), ("call_0_1", "no", True)] == [
            (one.call_id, one.value, one.is_error) for one in calls.tool_call_results.tool_call_results
        ]
