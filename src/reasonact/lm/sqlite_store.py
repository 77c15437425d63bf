"""Texts by key in one SQLite file that many threads and processes share.

The file is in write-ahead mode: readers never wait, a writer that is killed leaves what
was committed before. Every failure (a corrupt, locked, read-only or full disk) is a
warning and a miss. Old entries go when the file's content outgrows its bound.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

logger = logging.getLogger("reasonact.cache")

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS answers (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value BLOB NOT NULL, crc INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS total (one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL);
INSERT OR IGNORE INTO total VALUES (1, 0);
CREATE TRIGGER IF NOT EXISTS answer_in AFTER INSERT ON answers
    BEGIN UPDATE total SET bytes = bytes + length(new.value); END;
CREATE TRIGGER IF NOT EXISTS answer_out AFTER DELETE ON answers
    BEGIN UPDATE total SET bytes = bytes - length(old.value); END;
"""
_WAIT_SECONDS: Final = 5.0
_EVICTED_AT_ONCE: Final = 64


class SQLiteStore:
    """A bounded table of texts on disk.

    Args:
        path: The file; its folder is made when something is first stored or looked for.
        size_limit: Bytes that the values may take; None for no bound.
    """

    def __init__(self, path: Path, size_limit: int | None) -> None:
        self._path = path
        self._size_limit = size_limit
        self._begin()
        self._warned: set[str] = set()
        self._broken = False

    def get(self, key: str) -> bytes | None:
        """The value of a key, or None.

        Args:
            key: Any text.

        Returns:
            The bytes that were put; None where there are none, or where they are damaged.
        """

        def read(connection: sqlite3.Connection) -> bytes | None:
            row = connection.execute("SELECT value, crc FROM answers WHERE key = ?", (key,)).fetchone()
            if row is None or not isinstance(row[0], bytes) or zlib.crc32(row[0]) != row[1]:
                return None
            return row[0]

        return self._do("read", read)

    def put(self, key: str, value: bytes) -> None:
        """Store a value, and let the oldest go where the bound is met.

        Args:
            key: Any text.
            value: Its value; one that is larger than the bound is not stored.
        """
        limit = self._size_limit
        if limit is not None and len(value) > limit:
            return

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("BEGIN IMMEDIATE")
            try:
                connection.execute("DELETE FROM answers WHERE key = ?", (key,))
                connection.execute(
                    "INSERT INTO answers (key, value, crc) VALUES (?, ?, ?)", (key, value, zlib.crc32(value))
                )
                if limit is not None:
                    _evict(connection, limit)
                connection.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):  # the first failure is the one to tell
                    connection.execute("ROLLBACK")
                raise

        self._mind_forks()
        with self._writing:
            self._do("write", write)

    def size(self) -> int:
        """Bytes of all values, 0 where the file cannot be read."""
        if not self._path.exists():
            return 0
        row = self._do("read", lambda connection: connection.execute("SELECT bytes FROM total").fetchone())
        return row[0] if row is not None and isinstance(row[0], int) else 0

    def close(self) -> None:
        """Close this process's idle connections; the store stays usable."""
        self._mind_forks()
        _close(self._idle, self._owner)

    def _do(self, what: str, work: Callable[[sqlite3.Connection], T]) -> T | None:
        if self._broken:
            return None
        self._mind_forks()
        try:
            with self._connection() as connection:
                return work(connection)
        except sqlite3.OperationalError as error:  # locked, read-only, full, no such folder: it may pass
            self._warn(what, error)
        except (sqlite3.Error, UnicodeError, OSError) as error:
            self._broken = not isinstance(error, OSError)  # the file's content is damaged, and stays so
            self._warn(what, error)
        return None

    def _mind_forks(self) -> None:
        """Start anew in a forked process: neither a connection nor a held lock may cross a fork."""
        if self._owner != os.getpid():
            self._begin()

    def _begin(self) -> None:
        self._idle: list[sqlite3.Connection] = []
        self._owner = os.getpid()
        self._writing = threading.Lock()  # SQLite's own lock is unfair; queue up at home first
        # A connection that is dropped open warns from Python 3.13 on.
        weakref.finalize(self, _close, self._idle, self._owner)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._open()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    def _open(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(
            self._path, timeout=_WAIT_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=8
        )
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            deadline = time.monotonic() + _WAIT_SECONDS
            while not _is_set_up(connection):
                try:
                    connection.execute("PRAGMA journal_mode = WAL")  # kept in the file; does not wait for locks itself
                    connection.executescript(_SCHEMA)
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error) or time.monotonic() > deadline:
                        raise
                    time.sleep(0.01)  # another process sets the file up
        except BaseException:
            connection.close()
            raise
        return connection

    def _warn(self, what: str, error: Exception) -> None:
        if what not in self._warned:
            self._warned.add(what)
            logger.warning(
                "the cache file %s could not be used to %s, calls go on without: %s", self._path, what, error
            )


def _close(idle: list[sqlite3.Connection], owner: int) -> None:
    if owner != os.getpid():
        return  # after a fork they are the parent's
    with contextlib.suppress(IndexError):  # popped, not looked at first: other threads take from it too
        while True:
            idle.pop().close()


def _is_set_up(connection: sqlite3.Connection) -> bool:
    found = connection.execute(
        "SELECT count(*) FROM sqlite_master WHERE name IN ('answers', 'total', 'answer_in', 'answer_out')"
    )
    return bool(found.fetchone()[0] == 4)


def _evict(connection: sqlite3.Connection, limit: int) -> None:
    """Let the oldest go until the rest fits; where a damaged count never does, until none is left."""
    gone = 1
    while gone and connection.execute("SELECT bytes > ? FROM total", (limit,)).fetchone() == (1,):
        gone = connection.execute(
            "DELETE FROM answers WHERE id IN (SELECT id FROM answers ORDER BY id LIMIT ?)", (_EVICTED_AT_ONCE,)
        ).rowcount
