"""``reasonact migrate``: what it reads, what it prints, what it writes, and how it ends."""

# ruff: noqa: E501 - programs in one line each

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
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


def test_a_file_that_cannot_be_written_is_reported_and_stays_whole(tmp_path, capsys, monkeypatch):
    def refuse(source, target):
        raise OSError(28, "No space left on device")

    path = tmp_path / "a.py"
    path.write_text(PLAIN)
    monkeypatch.setattr(os, "replace", refuse)
    assert 1 == main(["migrate", str(path), "--fix"])
    assert "it cannot be written: No space left on device" in capsys.readouterr().out
    assert PLAIN == path.read_text()
    assert [path] == list(tmp_path.iterdir())


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
        "from functools import partial\npartial(dspy.ReAct('a -> b', tools=[]))(a='x').trajectory",
        "loop.run_in_executor(None, lambda: result).trajectory",
        "class A(dspy.ReAct):\n    pass\nA('a -> b', tools=[])(a='x').trajectory",
        "class A(dspy.ReAct):\n    pass\nclass B(A):\n    pass\nB('a -> b', tools=[]).batch([])[0].trajectory",
        "def f(agent: dspy.ReAct):\n    agent(a='x').trajectory",
        "from typing import Optional\ndef f(agent: Optional[dspy.ReAct] = None):\n    agent(a='x').trajectory",
        "def f(run: 'x' | dspy.Prediction | None):\n    run.trajectory",
        "class A:\n    run = result\ndef f(a: A):\n    a.run.trajectory",
        "class A:\n    run: dspy.Prediction\nA().run.trajectory",
        "def make() -> dspy.ReAct:\n    return other()\nmake()(a='x').trajectory",
        "dspy.asyncify(dspy.ReAct('a -> b', tools=[]))(a='x').trajectory",
        "def metric(example, pred, trace=None):\n    pred.trajectory\ndspy.Evaluate(devset=[], metric=metric)",
        "dspy.ReAct('a -> b', tools=[]).deepcopy()(a='x').trajectory",
        "class A:\n    def __call__(self):\n        return result\nA()().trajectory",
        "run = None\nrun = run or result\nrun.trajectory",
        "run = []\nrun += [result]\nrun[0].trajectory",
        "while True:\n    run.trajectory\n    run = result",
        "try:\n    run = result\nfinally:\n    run.trajectory",
        "def f(a, *more, run, **rest):\n    run.trajectory\nf(1, *x, run=result, **y)",
        "with result as run:\n    run.trajectory",
        "{key: run.trajectory for key, run in {'a': result}.items()}",
        "(run := result)\nrun.trajectory",
        "print(f'{result.trajectory}')",
        "result.trajectory[1:2]",
        "del result.trajectory",
        "class A(dspy.ReAct):\n    pass\nclass B(A):\n    def go(self):\n        super().forward(a='x').trajectory",
        "class A:\n    def go(self):\n        return result\nclass B(A):\n    def on(self):\n        super().go().trajectory",
        "[[last := run for run in [result]] for _ in x]\nlast.trajectory",
        "def f():\n    yield\n    return result\nf().trajectory",
        "class A:\n    def __init__(self):\n        self.runs = {}\na = A()\na.runs['x'] = result\na.runs['x'].trajectory",
        "class A:\n    def __init__(self):\n        self.runs = []\na = A()\na.runs.append(result)\na.runs[0].trajectory",
        "if x: run = result\nelif y: run = None\nelse: pass\nrun.trajectory",
        "for x in y:\n    run = result\nelse:\n    run.trajectory",
        "while x:\n    run = result\nelse:\n    run.trajectory",
        "try:\n    x()\nexcept ValueError as run:\n    run = result\nexcept:\n    pass\nrun.trajectory",
        "match x:\n    case 1 if y:\n        run = result\nrun.trajectory",
        "def f():\n    def g():\n        def h():\n            nonlocal run\n            run = result\n    run = 1\n    run.trajectory",
        "@f\ndef g():\n    return result\ng().trajectory",
        "import asyncio\nx = [r.trajectory for r in asyncio.as_completed([result])]",
        "assert result.trajectory",
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
        "def f(rows: list[dspy.ReAct], text: str, run: 'dspy.Prediction'):\n    return rows.trajectory, run.trajectory",
        "class A(dspy.ReAct):\n    def forward(self):\n        return 1\nA('a -> b', tools=[])(a='x').trajectory",
        "dspy.settings.lm.trajectory",
        "len(dspy.ReAct('a -> b', tools=[])(a='x')).trajectory",
    ],
)
def test_what_is_no_result_of_react_is_passed_over(body):
    codes = [code for _, _, code in found(f"import reasonact as dspy\n{body}\n")]
    assert [] == [code for code in codes if code != "override-forward"]


@pytest.mark.parametrize(
    ("text", "code", "new"),
    [
        ("import dspy\n", "import-dspy", "import reasonact as dspy\n"),
        ("import dspy as d, os\n", "import-dspy", "import reasonact as d, os\n"),
        ("from  dspy  import  LM\n", "import-dspy", "from  reasonact  import  LM\n"),
        ("from dspy import utils, LM\n", "import-dspy", "from reasonact import utils, LM\n"),
        (
            "from dspy.streaming import StreamListener\n",
            "import-dspy",
            "from reasonact.streaming import StreamListener\n",
        ),
        ("from dspy.clients.lm import LM as L\n", "deep-path", "from reasonact import LM as L\n"),
        ("from dspy.utils.callback import BaseCallback\n", "deep-path", "from reasonact.utils import BaseCallback\n"),
        ("import dspy.adapters as a\na.ChatAdapter\n", "deep-path", None),
        ("from dspy import adapters\n", "deep-path", None),
        ("from dspy.adapters import types\n", "deep-path", None),
        ("import dspy.nowhere\n", "not-ours", None),
        ("from dspy import nowhere\n", "not-ours", None),
        ("from dspy.adapters import nowhere\n", "not-ours", None),
        ("import dspy\ndspy.adapters.nowhere\n", "not-ours", None),
        ("import dspy\nprint(dspy.__version__)\n", "import-dspy", None),
        ("import dspy\nf(dspy)\n", "import-dspy", None),
        ("import reasonact\nreasonact.v35.ReActV2\n", "react-v2-name", "import reasonact\nreasonact.v35.ReAct\n"),
        (
            "import reasonact.v35\nreasonact.v35.ReActV2\n",
            "react-v2-name",
            "import reasonact.v35\nreasonact.v35.ReAct\n",
        ),
        ("from reasonact import v35\nv35.ReActV2\n", "react-v2-name", "from reasonact import v35\nv35.ReAct\n"),
        ("import reasonact\nreasonact.ReActV2\n", "react-v2-name", None),
        ("import reasonact as dspy\ndspy.ReActV2\n", "react-v2-name", "import reasonact.v35 as dspy\ndspy.ReAct\n"),
        ("from reasonact import ReActV2\n", "react-v2-name", "from reasonact.v35 import ReAct as ReActV2\n"),
        ("from dspy.predict import ReActV2\n", "react-v2-name", "from reasonact import ReActV2\n"),
    ],
)
def test_a_name_of_the_library_is_found_and_rewritten_where_that_is_certain(text, code, new):
    findings = check_source(text, "p.py")
    assert code in [finding.code for finding in findings]
    assert (text if new is None else new) == rewritten(text, findings)


@pytest.mark.parametrize(
    "text",
    [
        "import reasonact.as_dspy\nimport dspy\nfrom dspy.clients.lm import LM\ndspy.adapters.ChatAdapter\n",
        "from reasonact import as_dspy\nimport dspy\n",
        "import reasonact\nreasonact.testing.ScriptedLM\nreasonact.lm.base.BaseLM\n",
        "from reasonact.testing import ScriptedLM\nfrom reasonact import testing\n",
        "from reasonact.v34 import ReAct\nfrom . import dspy\nfrom .dspy import x\nimport os.path\n",
    ],
)
def test_what_is_served_already_needs_no_change(text):
    assert () == check_source(text, "p.py")


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
        ("x = {q: agent(q=q, history=h) for q in 'ab'}", True),
        ("match x:\n    case 1:\n        agent(q='a', history=h)\n    case 2:\n        agent(q='b', history=h)", False),
        ("(k := agent(q='a', history=h))\n(h := k.history)\nprint(h)", False),
        ("h2: dspy.History = h\nagent(q='a', history=h2)\nh2: object\nprint(h2)", True),
        ("box = {}\nbox['h'] = h\nagent(q='a', history=box['h'])\nprint(box['h'])", True),
        ("box = {}\nbox['h'] = h\nagent(q='a', history=box['h'])\nbox['h'] = None\nprint(box['h'])", False),
        ("from m import h\nagent(q='a', history=h)\nprint(h)", False),
        ("agent(q='a', history=dspy.History.from_any([]))", False),
        ("agent(q='a', history=h)\ndef f():\n    return h", False),
        ("ask = lambda q: agent(q=q, history=h)", True),
        (
            "class C:\n  def ask(self, q):\n    self.h = dspy.History(messages=[])\n    return agent(q=q, history=self.h)",
            False,
        ),
        ("dspy.configure(grow_history_in_place=True)\nagent(q='a', history=h)\nprint(h)", False),
        ("dspy.configure(grow_history_in_place=False)\nagent(q='a', history=h)\nprint(h)", True),
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


@examples(60)
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
