"""The file from which a batch goes on after its process died: one JSON line for each finished example.

A line is on the disk before its example counts as done. A process that is killed while it
writes leaves half a line at the end, which is cut off when the file is opened again; so
every example is recorded once, and only those that were under way at a kill run twice.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final

from reasonact.modules.disk import folder_to_disk, to_disk
from reasonact.modules.stored_output import from_stored, to_stored
from reasonact.types.json_form import json_form

logger = logging.getLogger("reasonact.batch")

_FORM: Final = 1


def key_of(position: int, inputs: Any) -> str:
    """What an example is known by: its position in the batch and a digest of its inputs.

    Args:
        position: From 0.
        inputs: What the program is called with.

    Returns:
        A short text, the same in every process.
    """
    text = json.dumps([position, json_form(inputs)], sort_keys=True)
    return f"{position}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


class ResumeFile:
    """The record of a batch; safe for threads.

    Args:
        path: The file; it is made at the first record.

    Raises:
        ValueError: The file is no such record, or one of a newer version.
        OSError: It cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = None
        self._end = 0
        self._records: dict[str, Any] = {}
        if self._path.exists():
            for number, record in self._read():
                self._take(number, record)

    def find(self, key: str) -> tuple[bool, Any]:
        """What is recorded for an example.

        Args:
            key: From `key_of`.

        Returns:
            Whether there is anything, and the program's output.
        """
        with self._lock:
            if key not in self._records:
                return False, None
            data = self._records[key]
        try:
            return True, from_stored(data)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            logger.warning("%s: the output of %s cannot be read (%s); it runs again", self._path, key, error)
            return False, None

    def write(self, key: str, output: Any) -> None:
        """Record an example as finished; the record is on the disk when this returns.

        Args:
            key: From `key_of`.
            output: What the program returned.

        Raises:
            OSError: It cannot be written.
        """
        line = json.dumps({"form": _FORM, "key": key, "output": to_stored(output)}).encode("ascii") + b"\n"
        with self._lock:
            if self._file is None:
                self._file = open(self._path, "ab")  # noqa: SIM115 - open for as long as the batch runs
                self._file.truncate(self._end)  # what a killed process left half written
                folder_to_disk(self._path.parent)
            self._file.write(line)
            to_disk(self._file)

    def close(self) -> None:
        """Close the file; it is complete as it stands."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None
                self._end = self._path.stat().st_size

    def _read(self) -> Iterator[tuple[int, Any]]:
        content = self._path.read_bytes()
        self._end = content.rfind(b"\n") + 1
        if content and not self._end and not _may_begin_a_line(content):
            raise ValueError(f"{self._path} is no record of a batch; name another resume_file")
        for number, line in enumerate(content[: self._end].splitlines(), start=1):
            try:
                yield number, json.loads(line)
            except ValueError:
                if number == 1:
                    raise ValueError(f"{self._path} is no record of a batch; name another resume_file") from None
                logger.warning("%s:%d cannot be read; its example runs again", self._path, number)

    def _take(self, number: int, record: Any) -> None:
        if not isinstance(record, dict) or not isinstance(record.get("key"), str) or "output" not in record:
            raise ValueError(f"{self._path}:{number} is no record of a batch; name another resume_file")
        if record.get("form") != _FORM:
            raise ValueError(f"{self._path}:{number} was written by a newer version of reasonact; use that one")
        self._records[record["key"]] = record["output"]  # the last: one that could not be read has run again


def _may_begin_a_line(content: bytes) -> bool:
    start = json.dumps({"form": _FORM, "key": ""}).encode("ascii")[:-2]
    return content.startswith(start) or start.startswith(content)
