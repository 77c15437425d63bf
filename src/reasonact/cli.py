"""The command ``reasonact``.

A command's code is loaded when it is chosen, so that help and a typing error cost
nothing. Exit codes: 0 done, 1 failed (or, of a check, something is left), 2 wrong usage,
130 ended by Ctrl-C.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Final

DONE: Final = 0
FAILED: Final = 1
WRONG_USAGE: Final = 2
INTERRUPTED: Final = 130


@dataclass(frozen=True)
class Command:
    """A subcommand: its name, a line of help, its arguments, and what runs it."""

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def _demo_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("question", nargs="?", metavar="QUESTION", help="about Python's standard library")
    parser.add_argument(
        "--model", metavar="M", help="any model as LiteLLM names it; without it an embedded stand-in plays"
    )
    parser.add_argument(
        "--agent", choices=("react", "v2"), help="ReAct or ReActV2 (default: v2; with --local one after the other)"
    )
    parser.add_argument("--api-base", metavar="URL", help="where the model is served (with --model)")
    parser.add_argument(
        "--local", action="store_true", help="run a small real model on this machine, without any network"
    )


def _demo(options: argparse.Namespace) -> int:
    if options.api_base is not None and options.model is None:
        return _complain("--api-base needs --model: the embedded stand-in brings its own server", WRONG_USAGE)
    if options.model is not None and not options.model.strip():
        return _complain("--model is empty; name a model as LiteLLM does, e.g. openai/gpt-4o-mini", WRONG_USAGE)
    if options.question is not None and not options.question.strip():
        return _complain("the question is empty", WRONG_USAGE)
    if options.local and options.model is not None:
        return _complain("--local brings its own model; leave --model out", WRONG_USAGE)
    run = import_module("reasonact.demo.run")
    import_module("reasonact.runtime.logs").disable_logging()  # the screen tells what is to be told
    question = options.question or run.QUESTION
    try:
        if options.local:
            return _local_demo(question, options.agent)
        run.run_demo(question, model=options.model, agent=options.agent or "v2", api_base=options.api_base)
    except (run.DSPyError, run.NoAnswerError) as error:
        return _complain(run.failure_line(error), FAILED)
    return DONE


def _local_demo(question: str, agent: str | None) -> int:
    local = import_module("reasonact.demo.local")
    try:
        local.run_local_demo(question, agents=("react", "v2") if agent is None else (agent,))
    except local.NotInstalledError as error:
        return _complain(str(error), WRONG_USAGE)
    except local.LocalServerError as error:
        return _complain(str(error), FAILED)
    return DONE


def _migrate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", type=Path, help="a Python file, a notebook or a folder")
    parser.add_argument("--to", choices=("3.4", "3.5", "3.6"), default="3.5", help="the line to move to (default: 3.5)")
    parser.add_argument("--fix", action="store_true", help="rewrite what keeps its meaning for certain")
    parser.add_argument("--diff", action="store_true", help="show what --fix rewrites, or would")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how to print (default: text)")


def _migrate(options: argparse.Namespace) -> int:
    try:
        command = import_module("reasonact.migration.command")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "libcst":
            raise
        return _complain("migrate reads programs by libcst: pip install 'reasonact[migrate]'", WRONG_USAGE)
    try:
        is_left = command.migrate(
            options.paths, target=options.to, fix=options.fix, diff=options.diff, output=options.format
        )
    except FileNotFoundError as error:
        return _complain(str(error), WRONG_USAGE)
    return FAILED if is_left else DONE


def _view_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a run that save_run(path) wrote")
    parser.add_argument("--html", metavar="OUT", help="write one HTML page instead of showing the run here")


def _view(options: argparse.Namespace) -> int:
    run = import_module("reasonact.view.recorded_run")
    try:
        found = run.load_run(options.file)
        if options.html is not None:
            found.to_html(options.html)
    except OSError as error:
        return _complain(f"{error.filename or options.file}: {error.strerror or error}", FAILED)
    except ValueError as error:
        return _complain(str(error), FAILED)
    if options.html is None:
        found.show()
    return DONE


COMMANDS: Final = (
    Command("demo", "let an agent answer a question, live in the terminal", _demo_arguments, _demo),
    Command("migrate", "tell what the move to a line of DSPy changes in programs", _migrate_arguments, _migrate),
    Command("view", "show a run that was saved, here or as an HTML page", _view_arguments, _view),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: What stands after the program's name; ``sys.argv`` by default.

    Returns:
        The exit code.

    Raises:
        SystemExit: For ``--help`` and ``--version`` (0) and for wrong usage (2), as argparse does.
    """
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character still gets the rest
    run: Callable[[argparse.Namespace], int] = options.run
    try:
        return run(options)
    except KeyboardInterrupt:
        # What the interrupt left half made (an event loop, a client) would complain of that at exit.
        sys.unraisablehook = lambda unraisable: None
        exec("pass")  # caught in a text that was being exec'd, CPython would still die of the signal at exit
        return _complain("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="reasonact", description="DSPy's ReAct and ReActV2 agents as a library of their own."
    )
    parser.add_argument("--version", action="version", version=f"reasonact {version('reasonact')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        below = commands.add_parser(command.name, help=command.help, description=command.help)
        command.add_arguments(below)
        below.set_defaults(run=command.run)
    return parser


def _complain(message: str, code: int) -> int:
    print(f"reasonact: {message}", file=sys.stderr)
    return code
