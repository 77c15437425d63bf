"""The cache of answers: in memory and on disk, shared by every LM of the process.

Values are JSON, so that no file can run code, and every look-up gives a fresh copy.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from reasonact.lm.request_key import request_key
from reasonact.lm.response import from_json, to_json
from reasonact.lm.sqlite_store import SQLiteStore
from reasonact.runtime.drive import to_thread
from reasonact.runtime.flow import Command, Flow, call

logger = logging.getLogger("reasonact.cache")

FILE_NAME: Final = "reasonact-cache.sqlite3"
_DISK_LIMIT: Final = 30_000_000_000
_MEMORY_ENTRIES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Look-ups that found something and that did not, and bytes kept in memory and on disk."""

    hits: int
    misses: int
    bytes: int
    disk_bytes: int


def default_cache_dir() -> Path:
    """Where the cache file stands: ``REASONACT_CACHEDIR``, else ``DSPY_CACHEDIR``, else a folder in the home."""
    named = os.environ.get("REASONACT_CACHEDIR") or os.environ.get("DSPY_CACHEDIR")
    return Path(named) if named else Path.home() / ".reasonact_cache"


class Cache:
    """Answers by request.

    Args:
        enable_disk_cache: Keep answers in a file, across processes and runs.
        enable_memory_cache: Keep answers in this process.
        disk_cache_dir: Folder of the file; None for the default.
        disk_size_limit_bytes: Bytes that answers on disk may take; None for no bound.
        memory_max_entries: Answers kept in memory, the least recently used going first.
        restrict_pickle: Accepted for DSPy's sake, without effect: nothing is pickled here.
        safe_types: Accepted for DSPy's sake, without effect.

    Raises:
        ValueError: A bound below zero.
    """

    def __init__(
        self,
        enable_disk_cache: bool = True,
        enable_memory_cache: bool = True,
        disk_cache_dir: str | Path | None = None,
        disk_size_limit_bytes: int | None = _DISK_LIMIT,
        memory_max_entries: int = _MEMORY_ENTRIES,
        restrict_pickle: bool = False,
        safe_types: list[type[Any]] | None = None,
    ) -> None:
        self._lock = threading.RLock()
        self._hits = 0
        self._misses = 0
        self.disk_cache: SQLiteStore | None = None
        self.configure(
            enable_disk_cache=enable_disk_cache,
            enable_memory_cache=enable_memory_cache,
            disk_cache_dir=disk_cache_dir,
            disk_size_limit_bytes=disk_size_limit_bytes,
            memory_max_entries=memory_max_entries,
        )

    def configure(
        self,
        *,
        enable_disk_cache: bool,
        enable_memory_cache: bool,
        disk_cache_dir: str | Path | None,
        disk_size_limit_bytes: int | None,
        memory_max_entries: int,
    ) -> None:
        """Set the cache up anew, with nothing in memory; arguments as at construction.

        Raises:
            ValueError: A bound below zero.
        """
        if memory_max_entries < 0 or (disk_size_limit_bytes is not None and disk_size_limit_bytes < 0):
            raise ValueError("memory_max_entries and disk_size_limit_bytes must be 0 or more")
        with self._lock:
            self.memory_max_entries = memory_max_entries
            self.enable_memory_cache = enable_memory_cache
            self.disk_cache_dir = disk_cache_dir
            self.enable_disk_cache = enable_disk_cache
            self.memory_cache: OrderedDict[str, bytes] = OrderedDict()
            self._memory_bytes = 0
            folder = Path(disk_cache_dir) if disk_cache_dir is not None else default_cache_dir()
            before = self.disk_cache
            self.disk_cache = SQLiteStore(folder / FILE_NAME, disk_size_limit_bytes) if enable_disk_cache else None
        if before is not None:
            before.close()

    def cache_key(self, request: Mapping[str, Any], ignored_args_for_cache_key: list[str] | None = None) -> str:
        """The key of a request; see `request_key`.

        Args:
            request: What is asked, by name.
            ignored_args_for_cache_key: Names that do not count.

        Returns:
            The key.

        Raises:
            TypeError: The request holds an object that has no stable description.
        """
        return request_key(request, ignored_args_for_cache_key or ())

    def get(self, request: Mapping[str, Any], ignored_args_for_cache_key: list[str] | None = None) -> Any:
        """The stored answer to a request.

        Args:
            request: What is asked, by name.
            ignored_args_for_cache_key: Names that do not count.

        Returns:
            A copy of the answer, objects as `Response`; None where there is none.
        """
        key = self._key_or_none(request, ignored_args_for_cache_key)
        return None if key is None else self.look_up(key)

    def put(
        self,
        request: Mapping[str, Any],
        value: Any,
        ignored_args_for_cache_key: list[str] | None = None,
        enable_memory_cache: bool = True,
    ) -> None:
        """Store the answer to a request; what JSON cannot hold is not stored.

        Args:
            request: What was asked, by name.
            value: The answer.
            ignored_args_for_cache_key: Names that do not count.
            enable_memory_cache: False to keep it on disk alone.
        """
        key = self._key_or_none(request, ignored_args_for_cache_key)
        if key is not None:
            self.keep(key, value, in_memory=enable_memory_cache)

    def look_up(self, key: str) -> Any:
        """The answer stored under a key, in memory or on disk.

        Args:
            key: What `cache_key` gave.

        Returns:
            A copy of the answer; None where there is none.
        """
        found = self._in_memory(key)
        disk = self.disk_cache  # looked at once: another thread may configure the cache meanwhile
        if found is None and disk is not None:
            found = disk.get(key)
            if found is not None:
                self._remember(key, found)
        answer = _decoded(found)
        self._count(answer is not None)
        return answer

    def keep(self, key: str, value: Any, *, in_memory: bool = True) -> None:
        """Store an answer under a key, in memory and on disk.

        Args:
            key: What `cache_key` gave.
            value: The answer; what JSON cannot hold is not stored.
            in_memory: False to keep it on disk alone.
        """
        try:
            text = to_json(value).encode("utf-8", "surrogatepass")
        except (TypeError, ValueError, RecursionError) as error:
            logger.debug("a %s is not cached: %s", type(value).__name__, error)
            return
        if in_memory:
            self._remember(key, text)
        disk = self.disk_cache
        if disk is not None:
            disk.put(key, text)

    def stats(self) -> CacheStats:
        """What the cache has done since it was made.

        Returns:
            Hits, misses, and the bytes of the answers kept.
        """
        disk = self.disk_cache
        disk_bytes = 0 if disk is None else disk.size()
        with self._lock:
            return CacheStats(self._hits, self._misses, self._memory_bytes, disk_bytes)

    def reset_memory_cache(self) -> None:
        """Forget what is in memory; the file stays."""
        with self._lock:
            self.memory_cache.clear()
            self._memory_bytes = 0

    def save_memory_cache(self, filepath: str) -> None:
        """Write what is in memory to a file of JSON lines.

        Args:
            filepath: The file.

        Raises:
            OSError: It cannot be written.
        """
        with self._lock:
            items = list(self.memory_cache.items())
        lines = (json.dumps([key, text.decode("utf-8", "surrogatepass")]) for key, text in items)
        Path(filepath).write_text("\n".join(lines), encoding="utf-8")

    def load_memory_cache(self, filepath: str, allow_pickle: bool = False) -> None:
        """Read back into memory what `save_memory_cache` wrote.

        Args:
            filepath: The file.
            allow_pickle: Accepted for DSPy's sake, without effect: the file is JSON.

        Raises:
            OSError: It cannot be read.
            ValueError: It is no such file.
        """
        for line in Path(filepath).read_text(encoding="utf-8").splitlines():
            pair = json.loads(line)
            if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(item, str) for item in pair)):
                raise ValueError(f"{filepath} holds no saved cache: expected pairs of key and answer")
            self._remember(pair[0], pair[1].encode("utf-8", "surrogatepass"))

    def _key_or_none(self, request: Mapping[str, Any], ignored: list[str] | None) -> str | None:
        try:
            return self.cache_key(request, ignored)
        except (TypeError, ValueError, RecursionError) as error:
            logger.debug("a request is not cached: %s", error)
            return None

    def _in_memory(self, key: str) -> bytes | None:
        with self._lock:
            found = self.memory_cache.get(key)
            if found is not None:
                self.memory_cache.move_to_end(key)
            return found

    def _remember(self, key: str, text: bytes) -> None:
        if not self.enable_memory_cache:
            return
        with self._lock:
            self._memory_bytes += len(text) - len(self.memory_cache.pop(key, b""))
            self.memory_cache[key] = text
            while len(self.memory_cache) > self.memory_max_entries:
                _, dropped = self.memory_cache.popitem(last=False)
                self._memory_bytes -= len(dropped)

    def _count(self, hit: bool) -> None:
        with self._lock:
            if hit:
                self._hits += 1
            else:
                self._misses += 1

    def holds_in_memory(self, key: str) -> bool:
        """Whether a look-up of the key needs no disk."""
        return key in self.memory_cache


def _decoded(text: bytes | None) -> Any:
    if text is None:
        return None
    try:
        return from_json(text)
    except ValueError:  # not ours; a miss, and written anew
        return None


@dataclass(frozen=True, slots=True)
class LookUp(Command[Any]):
    """Look a key up; on the async side the disk is read in a thread."""

    cache: Cache
    key: str

    def run(self) -> Any:
        return self.cache.look_up(self.key)

    async def arun(self) -> Any:
        if self.cache.disk_cache is None or self.cache.holds_in_memory(self.key):
            return self.run()
        return await to_thread(self.run)


@dataclass(frozen=True, slots=True)
class Keep(Command[None]):
    """Store an answer; on the async side the disk is written in a thread."""

    cache: Cache
    key: str
    value: Any
    in_memory: bool = True

    def run(self) -> None:
        self.cache.keep(self.key, self.value, in_memory=self.in_memory)

    async def arun(self) -> None:
        if self.cache.disk_cache is None:
            self.run()
        else:
            await to_thread(self.run)


def cached(key: str | None, answer: Callable[[], Flow[Any]], *, in_memory: bool = True) -> Flow[Any]:
    """Take an answer out of the cache, or get it and store it.

    Args:
        key: The request's key; None to pass the cache by.
        answer: Makes the flow that gets it.
        in_memory: False to keep it on disk alone.

    Returns:
        The flow. A stored answer that is a `Response` says ``cache_hit=True``.
    """
    if key is None:
        return (yield from answer())
    found = yield from call(LookUp(cache, key))
    if found is not None:
        if isinstance(found, dict):
            found["cache_hit"] = True
        return found
    value = yield from answer()
    yield from call(Keep(cache, key, value, in_memory))
    return value


cache: Final = Cache()


def configure_cache(
    enable_disk_cache: bool | None = True,
    enable_memory_cache: bool | None = True,
    disk_cache_dir: str | Path | None = None,
    disk_size_limit_bytes: int | None = _DISK_LIMIT,
    memory_max_entries: int = _MEMORY_ENTRIES,
    restrict_pickle: bool = False,
    safe_types: list[type[Any]] | None = None,
) -> None:
    """Set up the process's cache anew; arguments as for `Cache`.

    Raises:
        ValueError: A bound below zero.
    """
    cache.configure(
        enable_disk_cache=bool(enable_disk_cache),
        enable_memory_cache=bool(enable_memory_cache),
        disk_cache_dir=disk_cache_dir,
        disk_size_limit_bytes=disk_size_limit_bytes,
        memory_max_entries=memory_max_entries,
    )
