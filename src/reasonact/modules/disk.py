"""Writing files that survive: whole or not at all, and on the disk when the call returns."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import IO


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that at any moment the old content stands there or the new one.

    Args:
        path: The file. Where it is a link, what it leads to is replaced.
        content: All of it.

    Raises:
        OSError: It cannot be written; what was there is still there.
    """
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            to_disk(file)
        if target.exists():
            os.chmod(draft, target.stat().st_mode & 0o7777)
        os.replace(draft, target)
        folder_to_disk(target.parent)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def to_disk(file: IO[bytes]) -> None:
    """Wait until what was written to a file is on the disk.

    Raises:
        OSError: It cannot be written.
    """
    file.flush()
    os.fsync(file.fileno())


def folder_to_disk(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can say so."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders, and needs no such call
        return
    try:
        os.fsync(descriptor)
    except OSError:  # some network file systems refuse it; the file itself is written
        pass
    finally:
        os.close(descriptor)
