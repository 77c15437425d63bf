"""XMLAdapter: fields between tags, nested values, and XML as models write it."""

import dataclasses
from typing import Any

import pytest
from pydantic import BaseModel

from reasonact.adapters.xml_adapter import XMLAdapter
from reasonact.errors import AdapterParseError
from reasonact.signatures.fields import InputField, OutputField
from reasonact.signatures.signature import Signature


class Place(BaseModel):
    name: str
    tags: list[str] = []
    rank: int | None = None
    notes: dict[str, int] = {}


class Tree(BaseModel):
    label: str
    branches: list["Tree"] = []


@dataclasses.dataclass
class Point:
    x: int
    y: str = "a"


AB = Signature("q -> a, b: int")


def one(annotation: Any) -> Any:
    return Signature({"q": (str, InputField()), "v": (annotation, OutputField())})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("x", "<a>x</a><b>1</b>"),
        ("x", "<a>\n  x\n</a>\n\n<b>\n1\n</b>"),
        ("x", "Sure:\n```xml\n<a>x</a>\nand <b>1</b>\n```"),
        ("x", '<a kind="text" n=1>x</a><b>1</b>'),
        ("x", "<A>x</A><B>1</B>"),
        ("x", "<b>1</b><a>x</a>"),
        ("x", "<think><a>no</a></think><a>x</a><b>1</b>"),
        ("x", "<a>x</a><a>x</a><b>1</b>"),
        ("x", "<a>x</a><b>1</b><a>the next turn</a>"),
        ("x < y && z > w", "<a>x < y && z > w</a><b>1</b>"),
        ("x < y & z", "<a>x &lt; y &amp; z</a><b>1</b>"),
        ("AT&T", "<a>AT&T</a><b>1</b>"),
        ("A <", "<a>&#65; &#x3c;</a><b>1</b>"),
        ("&#xFFFFFF;", "<a>&#xFFFFFF;</a><b>1</b>"),
        ("x ]]> y", "<a>x ]]> y</a><b>1</b>"),
        ("<b>&amp;</b>", "<a><![CDATA[<b>&amp;</b>]]></a><b>1</b>"),
        ("<![CDATA[ x", "<a><![CDATA[ x</a><b>1</b>"),
        ("x</a>y", "<a>x</a>y</a><b>1</b>"),
        ("x<b>2</b>", "<a>x<b>2</b></a><b>1</b>"),
        ("<a>x</a>", "<a><a>x</a></a><b>1</b>"),
        ("write <a> here", "<a>write <a> here</a><b>1</b>"),
        ("<i>x</i>", "<a><i>x</i></a><b>1</b>"),
        ("", "<a></a><b>1</b>"),
        ("", "<a/><b>1</b>"),
        ("\x00\x07x", "<a>\x00\x07x</a><b>1</b>"),
    ],
)
def test_a_field_is_read_in_whatever_form_it_comes(value: str, text: str) -> None:
    assert {"a": value, "b": 1} == XMLAdapter().parse(AB, text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        ("<a>x</a>", "lacks `b`"),
        ("<a>x<b>1</b>", "lacks `a`"),
        ("<a>x</a><b>many</b>", "`b`"),
        ("<a>x</a><a>y</a><b>1</b>", "twice"),
        ("a: x, b: 1", "lacks `a`, `b`"),
    ],
)
def test_what_cannot_be_read_is_named(text: str, what: str) -> None:
    with pytest.raises(AdapterParseError, match=what):
        XMLAdapter().parse(AB, text)


@pytest.mark.parametrize(
    ("value", "annotation", "text"),
    [
        (["x", "y"], list[str], "<v><item>x</item><item>y</item></v>"),
        (["x", "y"], list[str], "<v><one>x</one><two>y</two></v>"),
        (["x"], list[str], '<v>["x"]</v>'),
        ([], list[str], "<v />"),
        ([["a"], ["b"]], list[list[str]], "<v><item><item>a</item></item><item><item>b</item></item></v>"),
        ({"k": 1}, dict[str, int], "<v><k>1</k></v>"),
        ({"k 1": 1}, dict[str, int], '<v><entry key="k 1">1</entry></v>'),
        ({"k": 1}, dict[str, int], '<v>{"k": 1}</v>'),
        (Place(name="n", tags=["t"]), Place, "<v><name>n</name><tags><item>t</item></tags></v>"),
        (Place(name="n", tags=["t", "u"]), Place, "<v><name>n</name><tags>t</tags><tags>u</tags></v>"),
        (Place(name="n"), Place, "<v>\n  <name>n</name>\n  <tags/>\n  <rank/>\n</v>"),
        (Place(name="a <i>b</i>"), Place, "<v><name>a <i>b</i></name></v>"),
        (Place(name="a <br> b"), Place, "<v><name>a <br> b</name></v>"),
        (Place(name="n"), Place | None, "<v><name>n</name></v>"),
        (None, Place | None, "<v>None</v>"),
        (None, Place | None, "<v />"),
        ([Place(name="n")], list[Place], "<v><name>n</name></v>"),
        ([Place(name="n")], list[Place], "<v><item><name>n</name></item></v>"),
        ([Point(1)], list[Point], "<v><item><x>1</x><y>a</y></item></v>"),
        (Point(1, "b"), Point, '<v>{"x": 1, "y": "b"}</v>'),
        (Point(1, "b"), Point, "<v><x>1</x><y>b</y></v>"),
        ({"k": ["x"]}, Any, "<v><k><item>x</item></k></v>"),
        ((1, "a"), tuple[int, str], '<v>[1, "a"]</v>'),
    ],
)
def test_a_nested_value_is_read(value: Any, annotation: Any, text: str) -> None:
    assert {"v": value} == XMLAdapter().parse(one(annotation), text)


@pytest.mark.parametrize(
    ("text", "value", "annotation"),
    [
        ("<v>\nx\n</v>", "x", str),
        ("<v>\na&lt;/v> &amp; b\n</v>", "a</v> & b", str),
        ("<v>\n&#32;x&#10;\n</v>", " x\n", str),
        ("<v><item>a&lt;</item><item>b</item></v>", ["a<", "b"], list[str]),
        ("<v />", [], list[str]),
        ('<v>\n{"k": 1}\n</v>', {"k": 1}, dict),
        ('<v><entry key="k 1">1</entry><b>2</b></v>', {"k 1": 1, "b": 2}, dict[str, int]),
        (
            "<v><name>n</name><tags><item>t</item><item></item></tags><rank /><notes /></v>",
            Place(name="n", tags=["t", ""]),
            Place,
        ),
        ("<v>\nNone\n</v>", None, Place | None),
    ],
)
def test_a_value_is_written_nested_and_read_back(text: str, value: Any, annotation: Any) -> None:
    signature = one(annotation)
    assert text == XMLAdapter().format_assistant_message_content(signature, {"v": value})
    assert {"v": value} == XMLAdapter().parse(signature, text)


def test_a_prompt_shows_the_tags_and_how_values_nest() -> None:
    signature = Signature("q, xs: list[str] -> p: Place, t: Tree, n: int", custom_types={"Place": Place, "Tree": Tree})
    system, user = XMLAdapter().format(signature, [], {"q": "<why>", "xs": ["a"]})
    nested = "<p><name>...</name><tags><item>...</item></tags><rank>...</rank><notes>...</notes></p>"
    assert f"<xs>\n{{xs}}\n</xs>\n\n{nested}\n\n<t><label>...</label>" in system["content"]
    assert user["content"].startswith('<q>\n<why>\n</q>\n\n<xs>\n["a"]\n</xs>\n\n')
    assert nested in user["content"] and "`<p>`, then `<t>`, then `<n>`" in user["content"]


def test_a_tree_of_any_depth_is_written_and_read_back() -> None:
    signature = one(Tree)
    tree = Tree(label="0", branches=[Tree(label="</label>", branches=[Tree(label=" 2 ")])])
    assert {"v": tree} == XMLAdapter().parse(
        signature, XMLAdapter().format_assistant_message_content(signature, {"v": tree})
    )


def test_elements_that_are_nested_beyond_reason_are_an_error() -> None:
    deep = "<branches><item>" * 3000 + "</item></branches>" * 3000
    with pytest.raises(AdapterParseError):
        XMLAdapter().parse(one(Tree), f"<v><label>x</label>{deep}</v>")
