"""`File`: a document, by its data or by the provider's id for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ConfigDict, model_validator

from reasonact.types.base import Type
from reasonact.types.loading import checked_data_uri, data_uri, is_data_uri, read_file

_UNKNOWN = "application/octet-stream"
_FIELDS = ("file_data", "file_id", "filename")


class File(Type):
    """A document that a model is to read. At least one of the three fields is given.

    Args:
        source: A data URI, bytes, a dict of the fields, or another File.
        file_data: The document as a data URI.
        file_id: The provider's id of an uploaded document.
        filename: Its name.

    Raises:
        ValueError: Nothing is given, or the source is none of these. Files are loaded with
            `from_path`.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, str_strip_whitespace=True, extra="forbid", defer_build=True
    )

    file_data: str | None = None
    file_id: str | None = None
    filename: str | None = None

    def __init__(self, source: Any = None, /, **data: Any) -> None:
        super().__init__(**({**encode_file_to_dict(source), **data} if source is not None else data))

    @model_validator(mode="before")
    @classmethod
    def validate_input(cls, values: Any) -> Any:
        """Read what the constructor reads."""
        return values if isinstance(values, cls) else encode_file_to_dict(values)

    @classmethod
    def from_file_id(cls, file_id: str, filename: str | None = None) -> File:
        """Name a document that the provider has already.

        Args:
            file_id: The provider's id.
            filename: Its name.

        Returns:
            The document.
        """
        return cls(file_id=file_id, filename=filename)

    @classmethod
    def from_path(cls, file_path: str | Path, filename: str | None = None, mime_type: str | None = None) -> File:
        """Read a document from a file.

        Args:
            file_path: The file.
            filename: Its name for the model; None for its own.
            mime_type: Its kind; None for what the end of its name tells.

        Returns:
            The document.

        Raises:
            ValueError: There is no such file.
            OSError: It cannot be read.
        """
        data, guessed = read_file(file_path)
        return cls.from_bytes(data, filename or Path(file_path).name, mime_type or guessed or _UNKNOWN)

    @classmethod
    def from_bytes(cls, file_bytes: bytes, filename: str | None = None, mime_type: str = _UNKNOWN) -> File:
        """Take a document's bytes.

        Args:
            file_bytes: The bytes.
            filename: Its name.
            mime_type: Its kind.

        Returns:
            The document.
        """
        return cls(file_data=data_uri(file_bytes, mime_type), filename=filename)

    def format(self) -> list[dict[str, Any]]:
        """The document as a content part."""
        return [{"type": "file", "file": {name: getattr(self, name) for name in _FIELDS if getattr(self, name)}}]

    def __repr__(self) -> str:
        shown = []
        if self.file_data is not None:
            head, _, data = self.file_data.partition(",")
            is_uri = is_data_uri(self.file_data)
            what = (
                f"DATA_URI({head[5:].partition(';')[0]}, {len(data)} chars)" if is_uri else f"DATA({len(head)} chars)"
            )
            shown.append(f"file_data=<{what}>")
        shown += [f"{name}={getattr(self, name)!r}" for name in _FIELDS[1:] if getattr(self, name) is not None]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __str__(self) -> str:
        return self.__repr__()


def encode_file_to_dict(file_input: Any) -> dict[str, Any]:
    """The fields of a document. Reads no file.

    Args:
        file_input: A data URI, bytes, a `File` or the dict of its fields.

    Returns:
        Those of ``file_data``, ``file_id`` and ``filename`` that there are.

    Raises:
        ValueError: It is none of these, or its data is damaged.
    """
    if isinstance(file_input, File):
        return {name: getattr(file_input, name) for name in _FIELDS if getattr(file_input, name) is not None}
    if isinstance(file_input, (bytes, bytearray)):
        return {"file_data": data_uri(bytes(file_input), _UNKNOWN)}
    if isinstance(file_input, str):
        if not is_data_uri(file_input.strip()):
            raise ValueError(
                f"a document given as text must be a data URI, found {file_input[:60]!r}; "
                "files are loaded with File.from_path(...)"
            )
        return {"file_data": checked_data_uri(file_input.strip())}
    if isinstance(file_input, Mapping):
        given = dict(file_input)
        if all(given.get(name) is None for name in _FIELDS):
            raise ValueError(f"a document needs file_data, file_id or filename, found {sorted(map(str, given))}")
        if isinstance(given.get("file_data"), str):
            given["file_data"] = checked_data_uri(given["file_data"].strip())
        return given
    raise ValueError(f"{type(file_input).__name__} is no document; give a data URI, bytes, or the fields by name")
