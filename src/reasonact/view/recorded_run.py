"""RecordedRun: a run to look at, in the terminal, in a notebook, as a page, as a file.

Every prediction has one and few are looked at, so what shows a run is loaded at first use.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from reasonact.view.live import LiveRun

if TYPE_CHECKING:
    from typing_extensions import Self

    from reasonact.view.record import RunRecord


class RecordedRun:
    """A run that is over, or that failed, for people to look at.

    Args:
        run: The record, or what the run left behind; its record is then made at first use.
    """

    def __init__(self, run: RunRecord | LiveRun) -> None:
        self._run = run

    @property
    def record(self) -> RunRecord:
        """The run as plain data."""
        run = self._run
        if isinstance(run, LiveRun):
            made: RunRecord = _view("recording").record_of(run)
            self._run = run = made
        return run

    def show(self, file: TextIO | None = None, width: int | None = None) -> None:
        """Print the run: turns with thought, calls and results, tokens, time, cost, and how it ended.

        Args:
            file: Where to; standard output by default. A terminal gets colours.
            width: Columns to use; by default those of the terminal.
        """
        _view("terminal").show(self.record, file, width)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write the run as one page that needs no network.

        Args:
            path: The file; one that is there is replaced.

        Raises:
            OSError: The file cannot be written.
        """
        Path(path).write_text(_view("page").page(self.record), encoding="utf-8")

    def save_run(self, path: str | os.PathLike[str]) -> None:
        """Write the run as JSON, for `load_run` and ``reasonact view``.

        Args:
            path: The file; one that is there is replaced.

        Raises:
            OSError: The file cannot be written.
        """
        Path(path).write_text(self.record.to_json(), encoding="utf-8")

    def _repr_html_(self) -> str:
        """The run in a notebook: the page in a frame of its own."""
        framed: str = _view("page").page_in_a_frame(self.record)
        return framed

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._run.agent}: {_view('words').ending(self.record)}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # nothing about a run that is over can change

    def __reduce__(self) -> tuple[Any, ...]:
        # What the run left behind holds tools and models; the plain record goes along in their place.
        return type(self), (self.record,)


def load_run(path: str | os.PathLike[str]) -> RecordedRun:
    """Read a run that ``save_run`` wrote.

    Args:
        path: The file.

    Returns:
        The run; its ``record`` equals the one that was written.

    Raises:
        ValueError: The file is no run, is damaged, or was written by a newer version.
        OSError: The file cannot be read.
    """
    data = Path(path).read_bytes()
    try:
        return RecordedRun(_view("record").RunRecord.from_json(data))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def _view(name: str) -> Any:
    return import_module(f"reasonact.view.{name}")
