"""``reasonact migrate``: what it reads, what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasonact.cli import main
from reasonact.migration.checker import UnreadableError, check_source, rewritten
from reasonact.migration.finding import Edit, Finding, Place
from reasonact.migration.rules import RULES

CORPUS = sorted(Path(__file__).with_name("corpus").glob("*.py"))

READS = "import reasonact as dspy\nresult = dspy.ReAct('a -> b', tools=[])(a='x')\nprint(result.trajectory)\n"
PLAIN = "import dspy  # ours soon\nprint(dspy.Predict('a -> b'))\n"
CLEAN = "import reasonact as dspy\nprint(dspy.Predict('a -> b'))\n"


def found(text, target="3.5"):
    return [(finding.line, finding.column, finding.code) for finding in check_source(text, "p.py", target)]


def write(folder, **files):
    for name, text in files.items():
        folder.joinpath(name.replace("_py", ".py")).write_text(text, encoding="utf-8")
    return str(folder)


def notebook(*cells):
    kinds = [{"cell_type": kind, "source": source, "metadata": {}} for kind, source in cells]
    return json.dumps({"cells": kinds, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def test_a_clean_tree_ends_with_zero(tmp_path, capsys):
    assert 0 == main(["migrate", write(tmp_path, a_py=CLEAN, b_py="x = 1\n")])
    assert "2 files: 0 findings\n" == capsys.readouterr().out


def test_findings_end_with_one_and_say_where_what_and_what_to_write(tmp_path, capsys):
    folder = write(tmp_path, a_py=READS)
    assert 1 == main(["migrate", folder])
    line, summary = capsys.readouterr().out.splitlines()
    assert line.startswith(f"{folder}/a.py:3:7: trajectory-read: `result.trajectory` goes")
    assert "-> read `.history`" in line
    assert "1 files: 1 findings" == summary


@pytest.mark.parametrize("arguments", [["migrate"], ["migrate", "--to", "4.0", "."], ["migrate", ".", "--format", "x"]])
def test_wrong_usage_ends_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert 2 == ended.value.code


def test_a_path_with_nothing_at_it_ends_with_two(tmp_path, capsys):
    assert 2 == main(["migrate", str(tmp_path / "nowhere")])
    assert "there is nothing at" in capsys.readouterr().err


def test_fix_writes_what_is_certain_and_ends_with_zero_where_nothing_is_left(tmp_path, capsys):
    folder = write(tmp_path, a_py=PLAIN)
    assert 0 == main(["migrate", folder, "--fix"])
    assert "import reasonact as dspy  # ours soon\nprint(dspy.Predict('a -> b'))\n" == (tmp_path / "a.py").read_text()
    assert "1 files: 0 findings left, 1 settled\n" == capsys.readouterr().out
    assert 0 == main(["migrate", folder, "--fix"])


def test_fix_leaves_what_it_cannot_settle_and_ends_with_one(tmp_path, capsys):
    folder = write(tmp_path, a_py=READS.replace("reasonact as dspy", "dspy"))
    assert 1 == main(["migrate", folder, "--fix"])
    assert READS == (tmp_path / "a.py").read_text()
    assert "1 findings left, 1 settled" in capsys.readouterr().out


def test_without_fix_nothing_is_written(tmp_path, capsys):
    folder = write(tmp_path, a_py=PLAIN)
    before = (tmp_path / "a.py").stat().st_mtime_ns
    assert 1 == main(["migrate", folder, "--diff"])
    assert before == (tmp_path / "a.py").stat().st_mtime_ns
    shown = capsys.readouterr().out
    assert "-import dspy  # ours soon\n+import reasonact as dspy  # ours soon" in shown
    assert "1 of them for --fix" in shown


def test_fix_and_diff_show_what_was_written(tmp_path, capsys):
    assert 0 == main(["migrate", write(tmp_path, a_py=PLAIN), "--fix", "--diff"])
    assert "+import reasonact as dspy" in capsys.readouterr().out


def test_json_holds_the_findings_as_data(tmp_path, capsys):
    folder = write(tmp_path, a_py=PLAIN)
    assert 1 == main(["migrate", folder, "--format", "json", "--diff"])
    data = json.loads(capsys.readouterr().out)
    assert (1, []) == (data["files"], data["fixed"])
    expected = {
        "file": f"{folder}/a.py",
        "line": 1,
        "column": 8,
        "code": "import-dspy",
        "what": "`import dspy` brings in DSPy itself",
        "write": "write `import reasonact as dspy`",
        "fixable": True,
    }
    assert [expected] == data["findings"]
    assert ["+import reasonact as dspy  # ours soon"] == [
        line for line in data["diff"][f"{folder}/a.py"].splitlines() if line.startswith("+import")
    ]
    assert 0 == main(["migrate", folder, "--format", "json", "--fix"])
    data = json.loads(capsys.readouterr().out)
    assert ([], [expected]) == (data["findings"], data["fixed"])


def test_a_file_that_does_not_parse_is_reported_and_the_rest_go_on(tmp_path, capsys):
    folder = write(tmp_path, a_py="import dspy\ndef f(:\n", b_py=PLAIN, c_py="print('x'\n")
    (tmp_path / "d.py").write_bytes(b"x = '\xff'\n")
    (tmp_path / "e.py").write_bytes(b"# coding: nonsense\n")
    assert 1 == main(["migrate", folder, "--fix", "--format", "json"])
    data = json.loads(capsys.readouterr().out)
    places = [(Path(one["file"]).name, one["code"], one["line"]) for one in data["findings"]]
    assert [("a.py", 2), ("c.py", 1), ("d.py", 1), ("e.py", 1)] == [(name, line) for name, _, line in places]
    assert {"unreadable"} == {code for _, code, _ in places}
    assert ["b.py"] == [Path(one["file"]).name for one in data["fixed"]]


def test_a_file_that_cannot_be_opened_is_reported(tmp_path, capsys):
    (tmp_path / "a.py").symlink_to(tmp_path / "gone.py")
    assert 1 == main(["migrate", str(tmp_path)])
    assert "it cannot be read: No such file" in capsys.readouterr().out


def test_expressions_too_deep_for_the_parser_are_reported():
    with pytest.raises(UnreadableError, match="too deep"):
        check_source("import dspy\nx = " + "(" * 400 + "1" + ")" * 400 + "\ny = " + "-" * 5000 + "1\n", "p.py")


def test_folders_of_others_are_passed_over(tmp_path, capsys):
    for folder in (".git", ".hidden", "env", "node_modules", "__pycache__", "site-packages", "own"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text(PLAIN)
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    (tmp_path / "notes.txt").write_text(PLAIN)
    assert 1 == main(["migrate", str(tmp_path), "--format", "json"])
    data = json.loads(capsys.readouterr().out)
    assert [f"{tmp_path}/own/a.py"] == [one["file"] for one in data["findings"]]


def test_a_file_is_checked_once_and_a_named_one_whatever_its_name(tmp_path, capsys):
    (tmp_path / "script").write_text(PLAIN)
    (tmp_path / "a.py").write_text(CLEAN)
    assert 1 == main(["migrate", str(tmp_path / "script"), str(tmp_path), str(tmp_path / "a.py")])
    assert "2 files: 1 findings" in capsys.readouterr().out


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "utf-8"])
def test_encoding_line_ends_and_mode_outlive_a_fix(tmp_path, encoding):
    head = f"# -*- coding: {encoding} -*-\r\n" if encoding == "latin-1" else ""
    text = f"{head}import dspy\r\nprint('é', dspy.Example)\r\n\tif_not_last = 1\r\n".replace("\tif_not_last", "x")
    path = tmp_path / "a.py"
    path.write_bytes(text.encode(encoding))
    path.chmod(0o750)
    assert 0 == main(["migrate", str(path), "--fix"])
    assert text.replace("import dspy", "import reasonact as dspy").encode(encoding) == path.read_bytes()
    assert 0o750 == path.stat().st_mode & 0o777
    assert [path] == list(tmp_path.iterdir())


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    real, link = tmp_path / "real" / "a.py", tmp_path / "link.py"
    real.write_text(PLAIN)
    link.symlink_to(real)
    assert 0 == main(["migrate", str(link), "--fix"])
    assert link.is_symlink()
    assert "import reasonact as dspy" in real.read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_file_that_cannot_be_written_is_reported(tmp_path, capsys):
    path = tmp_path / "a.py"
    path.write_text(PLAIN)
    tmp_path.chmod(0o500)
    try:
        assert 1 == main(["migrate", str(path), "--fix"])
    finally:
        tmp_path.chmod(0o700)
    assert "it cannot be written" in capsys.readouterr().out
    assert PLAIN == path.read_text()


def test_a_notebook_is_reported_by_cell_and_never_written(tmp_path, capsys):
    text = notebook(
        ("markdown", "# import dspy"),
        ("code", ["%pip install dspy\n", "import dspy\n"]),
        ("code", "!ls\nresult = dspy.ReAct('a -> b', tools=[])(a='x')\ndspy.ReAct?"),
        ("code", "%%bash\necho import dspy"),
        ("code", "%%time\n\nprint(result.trajectory)"),
        ("code", "if broken(:"),
    )
    path = tmp_path / "n.ipynb"
    path.write_text(text)
    assert 1 == main(["migrate", str(path), "--fix", "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert [(2, 2, "import-dspy"), (5, 3, "trajectory-read"), (6, 1, "unreadable")] == [
        (one["cell"], one["line"], one["code"]) for one in findings
    ]
    assert not any(one["fixable"] for one in findings)
    assert text == path.read_text()
    assert 1 == main(["migrate", str(path)])
    assert f"{path}:cell 2:2:8: import-dspy:" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"cells": [1]}', "[" * 100_000, '{"cells": [{"cell_type": "code"}]}']
)
def test_what_is_no_notebook_is_reported(text, tmp_path, capsys):
    path = tmp_path / "n.ipynb"
    path.write_text(text)
    assert 1 == main(["migrate", str(path)])
    assert "it is no notebook" in capsys.readouterr().out


def test_without_libcst_the_command_says_what_to_install(tmp_path):
    program = """
import sys
sys.modules["libcst"] = None
from reasonact.cli import main
print(main(["migrate", "."]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "2\n" == done.stdout
    assert "pip install 'reasonact[migrate]'" in done.stderr


def test_help_loads_no_parser():
    program = """
import sys
from reasonact.cli import main
try: main(["migrate", "--help"])
except SystemExit: pass
print([name for name in ("libcst", "pydantic") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


def test_every_kind_of_finding_is_found_in_the_corpus():
    expected = {path: json.loads(path.with_suffix(".json").read_text()) for path in CORPUS}
    codes = {code for data in expected.values() for _, code, _ in data["findings"]}
    assert set(RULES) - {"unreadable"} == codes


def test_the_target_decides_what_counts():
    text = "import dspy\nresult = dspy.ReAct('a -> b', tools=[])(a='x')\nprint(result.trajectory)\n"
    assert [(1, 8, "import-dspy")] == found(text, "3.4")
    assert [(1, 8, "import-dspy"), (3, 7, "trajectory-read")] == found(text, "3.6")


def test_a_value_that_was_replaced_is_not_followed():
    text = READS.replace("print", "result = object()\nprint")
    assert [] == found(text)


@pytest.mark.parametrize(
    "body",
    [
        "def f():\n    return result\nprint(f().trajectory)",
        "f = lambda: result\nprint(f().trajectory)",
        "def f():\n    yield result\nfor one in f():\n    one.trajectory",
        "def f():\n    yield from [result]\nfor one in f():\n    one.trajectory",
        "class A:\n    @property\n    def last(self):\n        return result\nA().last.trajectory",
        "class A:\n    last = result\nA.last.trajectory",
        "class A:\n    def __init__(self, run):\n        self.run = run\nA(result).run.trajectory",
        "class A:\n    def go(self):\n        return result\nclass B(A):\n    pass\nB().go().trajectory",
        "class A:\n    @staticmethod\n    def go(run):\n        run.trajectory\nA.go(result)",
        "def f(*, run=None):\n    run.trajectory\nf(run=result)",
        "state.last = result\nprint(state.last.trajectory)",
        "runs = []\nruns.append(result)\nruns[0].trajectory",
        "runs = {}\nruns['a'] = result\nruns['a'].trajectory",
        "runs = {'a': result}\nfor key, run in runs.items():\n    run.trajectory",
        "a, *rest = result, result\nrest[0].trajectory",
        "(result if x else None).trajectory",
        "(x or result).trajectory",
        "(lambda run: run.trajectory)(result)",
        "[run.trajectory for _, run in enumerate([result])]",
        "def f():\n    global last\n    last = result\ndef g():\n    last.trajectory",
        "def f():\n    last = None\n    def g():\n        nonlocal last\n        last = result\n    last.trajectory",
        "import copy\ncopy.deepcopy(result).trajectory",
        "with pool() as p:\n    p.submit(lambda: result).result().trajectory",
        "list(map(lambda q: result, [1]))[0].trajectory",
    ],
)
def test_a_result_is_followed_through(body):
    text = f"import reasonact as dspy\nresult = dspy.ReAct('a -> b', tools=[])(a='x')\n{body}\n"
    assert ["trajectory-read"] == [code for _, _, code in found(text)]


@pytest.mark.parametrize(
    "body",
    [
        "dspy.TrajectoryReAct('a -> b', tools=[])(a='x').trajectory",
        "dspy.Predict('a -> trajectory')(a='x').trajectory",
        "def f(run):\n    return run.trajectory",
        "class A:\n    def go(self):\n        return 1\nA().go().trajectory",
    ],
)
def test_what_is_no_result_of_react_is_passed_over(body):
    assert [] == found(f"import reasonact as dspy\n{body}\n")


@pytest.mark.parametrize(
    ("body", "used_again"),
    [
        ("agent(q='a', history=h)\nagent(q='b', history=h)", True),
        ("h = agent(q='a', history=h).history\nagent(q='b', history=h)", False),
        ("for q in 'ab':\n    agent(q=q, history=h)", True),
        ("for q in 'ab':\n    h = agent(q=q, history=h).history", False),
        ("for q in 'ab':\n    h = dspy.History(messages=[])\n    agent(q=q, history=h)", False),
        ("[agent(q=q, history=h) for q in 'ab']", True),
        ("if x:\n    agent(q='a', history=h)\nelse:\n    agent(q='b', history=h)", False),
        ("y = agent(q='a', history=h) if x else agent(q='b', history=h)", False),
        ("agent(q='a', history=h)\nh, other = 1, 2\nprint(h)", False),
        ("agent(q=len(h.messages), history=h)", False),
        ("def f():\n    return agent(q='a', history=h)", True),
        ("def f():\n    h = dspy.History(messages=[])\n    return agent(q='a', history=h)", False),
        ("def f(h):\n    return agent(q='a', history=h)\nf(h)\nprint(h)", True),
        ("def f(h):\n    return agent(q='a', history=h)\nf(h)", False),
        ("r = agent(q='a')\nr = agent(q='b', history=r.history)\nr = agent(q='c', history=r.history)", False),
        ("r = agent(q='a')\nagent(q='b', history=r.history)\nagent(q='c', history=r.history)", True),
    ],
)
def test_a_history_that_is_used_again(body, used_again):
    head = "import reasonact.v35 as dspy\nagent = dspy.ReAct('q -> a', tools=[])\nh = dspy.History(messages=[])\n"
    assert used_again == any(code == "history-growth" for _, _, code in found(head + body + "\n"))


def test_edits_that_do_not_fit_the_text_leave_it_as_it_is():
    def finding(*edits):
        return Finding("p.py", 1, 1, "import-dspy", "", "", True, edits=edits)

    fits = Edit(Place(1, 8), Place(1, 12), "dspy", "x")
    assert "import x\n" == rewritten("import dspy\n", [finding(fits), finding(fits)])
    assert "import dspx\n" == rewritten("import dspx\n", [finding(fits)])
    other = Edit(Place(1, 1), Place(1, 9), "import d", "y")
    assert "import dspy\n" == rewritten("import dspy\n", [finding(fits, other)])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_part_of_a_program_is_checked_or_said_to_be_no_python(data):
    lines = data.draw(st.sampled_from(CORPUS)).read_text(encoding="utf-8").splitlines(keepends=True)
    kept = data.draw(st.lists(st.sampled_from(lines), max_size=30)) if lines else []
    text = "".join(kept)
    try:
        findings = check_source(text, "p.py")
    except UnreadableError:
        return
    assert not any(finding.fixable for finding in check_source(rewritten(text, findings), "p.py"))
