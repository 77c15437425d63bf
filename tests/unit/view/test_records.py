"""Run records as JSON: what comes back, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from made_runs import event, made_run

import reasonact
from reasonact.view.record import RunRecord


def test_a_record_comes_back_equal_from_its_json():
    record = made_run()
    assert record == RunRecord.from_json(record.to_json())


def test_a_record_with_lone_surrogates_can_be_written():
    record = made_run([event("\ud83d", ("search", {"query": "\udc00"}, "\ud800", False))])
    text = record.to_json()
    assert text.encode("utf-8")
    assert record == RunRecord.from_json(text)


def test_pictures_keep_their_type():
    picture = reasonact.Image("data:image/png;base64,AAAA")
    record = made_run([event(None, ("search", {"query": "x"}, picture, False))])
    history = reasonact.History.from_any(list(RunRecord.from_json(record.to_json()).events))
    assert picture == history.messages[0]["tool_calls"].tool_call_results.tool_call_results[0].value


def changed(**changes: Any) -> str:
    return json.dumps({**json.loads(made_run().to_json()), **changes})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "'reasonact_run' is missing"),
        ('{"messages": []}', "'reasonact_run' is missing"),
        ('{"reasonact_run": "one"}', "its version is 'one'"),
        ('{"reasonact_run": true}', "its version is True"),
        ('{"reasonact_run": 0}', "its version is 0"),
        ('{"reasonact_run": 2}', "has version 2.*update reasonact"),
        ('{"reasonact_run": 1}', "damaged at agent"),
        (changed(turns=[{"number": "x"}]), "damaged at turns.0.number"),
        (changed(events=[3]), "damaged at events.0"),
        (changed(events=[{"__reasonact__": {"version": 99}}]), "version 99"),
        (changed(kind="other"), "damaged at kind"),
    ],
)
def test_what_is_no_run_is_refused_with_the_reason(text, words):
    with pytest.raises(ValueError, match=words):
        RunRecord.from_json(text)


def test_load_run_names_the_file_that_is_no_run(tmp_path):
    path = tmp_path / "other.json"
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"other\.json: this is no run"):
        reasonact.load_run(path)
    with pytest.raises(FileNotFoundError):
        reasonact.load_run(tmp_path / "none.json")


def test_bytes_that_are_no_text_are_no_run(tmp_path):
    path = tmp_path / "run.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="this is no run"):
        reasonact.load_run(path)


def test_a_loaded_run_is_saved_again_as_it_was(tmp_path):
    first, second = tmp_path / "1.json", tmp_path / "2.json"
    first.write_text(made_run().to_json(), encoding="utf-8")
    run = reasonact.load_run(first)
    run.save_run(second)
    assert first.read_text(encoding="utf-8") == second.read_text(encoding="utf-8")
    assert "<RecordedRun of ReActV2: ended by submit>" == repr(run)
