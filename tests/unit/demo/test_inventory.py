"""The inventory of the standard library, and the search over it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from reasonact.demo.index import Index, describe, standard_library
from reasonact.demo.inventory import Entry
from reasonact.demo.words import first_sentence


@pytest.fixture(scope="module")
def index() -> Index:
    return standard_library()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("textwrap.dedent", "function"),
        ("textwrap", "module"),
        ("math.sqrt", "function"),
        ("str.split", "method"),
        ("sorted", "function"),
        ("collections.Counter.most_common", "method"),
        ("hashlib.sha256", "function"),
        ("os.path.join", "function"),
    ],
)
def test_objects_of_every_kind_are_found_by_name(index: Index, name: str, kind: str) -> None:
    assert (name, kind) == (index.find(name).name, index.find(name).kind)


@pytest.mark.parametrize(
    "name",
    [
        "asyncio.run",  # defined in asyncio/runners.py
        "os.listdir",  # from a star import of a compiled module
        "random.choice",  # a bound method of a hidden instance
        "pickle.dumps",  # from an accelerator, inside try
        "heapq.nlargest",
    ],
)
def test_an_object_goes_by_its_shortest_public_name(index: Index, name: str) -> None:
    assert name == index.find(name).name
    assert index.find(name).doc


def test_a_signature_is_shown_without_its_receiver(index: Index) -> None:
    assert "(text)" == index.find("textwrap.dedent").signature
    assert "(self" not in index.find("collections.Counter.most_common").signature
    assert "$" not in index.find("str.split").signature


def test_a_name_may_leave_out_the_file_that_defines_the_object(index: Index) -> None:
    assert index.find("concurrent.futures.ThreadPoolExecutor").name.endswith("ThreadPoolExecutor")
    assert "len" == index.find("builtins.len").name
    assert "len" == index.find("`len()`").name


def test_an_unknown_name_is_answered_with_near_ones(index: Index) -> None:
    with pytest.raises(LookupError, match=r"no 'textwrap.dedant'; there is .*textwrap.dedent"):
        index.find("textwrap.dedant")
    with pytest.raises(LookupError, match=r"datetime.date.strftime"):
        index.find("datetime.datetime.strftimes".removesuffix("s"))


def test_building_imports_no_module_that_does_something() -> None:
    code = (
        "import sys; from reasonact.demo.inventory import inventory; inventory(); "
        "print([m for m in ('antigravity', 'this', 'turtle', 'tkinter', 'idlelib', 'webbrowser') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[]\n" == done.stdout
    assert "" == done.stderr


def test_a_rare_word_in_the_name_beats_a_common_one_in_the_text() -> None:
    index = Index(
        [
            Entry("m.dedent", "function", "m", "()", "Shift text."),
            Entry("m.other", "function", "m", "()", "Like dedent, but text is kept. Text, text."),
            Entry("m.third", "function", "m", "()", "Text."),
        ]
    )
    assert ["m.dedent", "m.other"] == [hit.entry.name for hit in index.search("dedent")]


def test_naming_a_kind_lifts_that_kind(index: Index) -> None:
    assert "module" == index.search("module for csv files")[0].entry.kind


def test_a_query_without_a_word_of_its_own_finds_nothing(index: Index) -> None:
    assert [] == index.search("what does it do?")
    assert [] == index.search("")


def test_a_long_documentation_is_cut_with_its_size() -> None:
    text = describe(Entry("m.f", "function", "m", "()", "word " * 2_000))
    assert "[cut: 10000 characters in all]" in text
    assert 3_200 > len(text)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Do it. Then rest.", "Do it."),
        ("Use e.g. this one. Then rest", "Use e.g. this one."),
        ("sleep(seconds)\n\nDelay execution.  More.", "Delay execution."),
        ("max(a) -> value\nmax(a, b,\n    c) -> value\n\nReturn the biggest.", "Return the biggest."),
        ("only(a call)", "only(a call)"),
        ("No stop\nat all\n\nnext", "No stop at all"),
        ("", ""),
        ("w" * 300, "w" * 239 + "…"),
    ],
)
def test_the_first_sentence_is_the_first_prose(text: str, sentence: str) -> None:
    assert sentence == first_sentence(text)
