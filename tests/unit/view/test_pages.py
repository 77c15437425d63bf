"""The page of a run: what stands in it, that nothing takes effect, and how it grows."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser

import pytest
from made_runs import HOSTILE, event, made_run

from reasonact.view.page import page, page_in_a_frame
from reasonact.view.plots import cost_plot, tokens_plot
from reasonact.view.record import Failure, RunRecord


class Tags(HTMLParser):
    """Every tag and attribute of a page, and the text outside its script and style."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def hostile_run():
    inputs, outputs = {"question": HOSTILE}, {"answer": HOSTILE}
    events = [
        event(HOSTILE, (HOSTILE, {HOSTILE: HOSTILE}, HOSTILE, False), ("search", {}, HOSTILE, True), **inputs),
        {"next_thought": HOSTILE, "@correction": HOSTILE},
    ]
    return made_run(events, inputs, outputs, failure=Failure(HOSTILE, HOSTILE))


def test_a_page_holds_the_run():
    text = Tags(page(made_run())).text
    for part in (
        "ReActV2",
        "ended by submit",
        "How far is it?",
        "Far.",
        "I search first.",
        "line 39",
        "$0.006",
        "small-model",
    ):
        assert part in text


@pytest.mark.parametrize("record", [made_run(), hostile_run()], ids=["ordinary", "hostile"])
def test_a_page_has_one_script_of_its_own_and_no_address_of_the_network(record):
    parsed = Tags(page(record))
    assert 1 == sum(tag == "script" for tag, _ in parsed.tags)
    assert set() == {tag for tag, _ in parsed.tags} & {"img", "iframe", "link", "object", "form"}
    for _, attributes in parsed.tags:
        assert [] == [name for name in attributes if name.startswith("on") or name in ("src", "action")]
        assert (attributes.get("href") or "#").startswith("#")
    assert "default-src 'none'" in next(a["content"] for _, a in parsed.tags if "http-equiv" in a)


def test_hostile_text_stays_text_wherever_it_stands():
    shown = HOSTILE.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    written = page(hostile_run())
    assert "<script>window" not in written
    assert "\u202e" not in written
    # inputs, outputs, the error and its class, thoughts, a call's name and arguments, results, a correction, prompts
    assert Tags(written).text.count(shown) >= 10


def test_line_feeds_at_the_start_of_a_result_are_kept():
    written = page(made_run([event(None, ("search", {}, "\n\nfirst", False))]))
    assert "<pre>\n\n\nfirst</pre>" in written


def test_a_frame_holds_the_same_page():
    parsed = Tags(page_in_a_frame(made_run()))
    ((tag, attributes),) = parsed.tags
    assert ("iframe", "allow-scripts", page(made_run())) == (tag, attributes["sandbox"], attributes["srcdoc"])


def test_a_request_says_which_messages_are_unchanged():
    written = page(made_run())
    assert ["2 messages unchanged from request 1", "4 messages unchanged from request 2"] == re.findall(
        r"\d messages unchanged from request \d", html.unescape(re.sub(r"<[^>]+>", "", written))
    )


def test_a_page_grows_with_the_run_and_not_with_its_square():
    def length(turns: int) -> int:
        return len(page(made_run([event("t", ("search", {"query": "x"}, "y" * 500, False)) for _ in range(turns)])))

    empty, ten, forty = length(1), length(10), length(40)
    assert (forty - empty) / (ten - empty) < 4.7


def test_every_turn_has_a_bar_and_unknown_prices_no_curve():
    record = made_run()
    spent = [turn.spent for turn in record.turns]
    bars = tokens_plot(["a", "b", "<c>"], spent)
    assert (3, 3, 2) == tuple(bars.count(f'class="{kind}"') for kind in ("prompt", "completion", "cached"))
    assert "<c>" not in bars
    curve = cost_plot(["a", "b", "c"], spent)
    assert curve is not None
    assert 3 == curve.count("<circle")
    assert cost_plot(["a"], [made_run(price=None).turns[0].spent]) is None
    assert cost_plot(["a"], [made_run(price=0.0).turns[0].spent]) is None
    assert cost_plot([], []) is None
    assert "svg" in tokens_plot([], [])


@pytest.mark.parametrize("price", [1e-9, 0.004, 3.0, 12_345.0])
def test_axes_stay_readable_at_any_size(price):
    spent = [turn.spent for turn in made_run(price=price).turns]
    labels = re.findall(r'text-anchor="end">([^<]+)<', cost_plot(["a", "b", "c"], spent) or "")
    assert 3 <= len(labels) <= 7
    assert len(labels) == len(set(labels))
    assert max(map(len, labels)) <= 8


def test_a_record_that_was_edited_by_hand_still_makes_a_page():
    data = json.loads(made_run().to_json())
    data["turns"][0]["requests"][0]["events"] = 99
    data["turns"][1]["requests"][0]["view"] = 5
    data["rendering"]["predictors"] = {}
    text = Tags(page(RunRecord.from_json(json.dumps(data)))).text
    assert "cannot be written again" in text
