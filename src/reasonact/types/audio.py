"""`Audio`: a sound, by its data."""

from __future__ import annotations

import array
import base64
import io
import sys
import wave
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Final

from pydantic import ConfigDict, model_validator

from reasonact.types.base import Type
from reasonact.types.loading import checked_base64, download, read_file, split_data_uri

_FORMATS: Final = {"mpeg": "mp3"}  # providers know the format by this name, and refuse the MIME type's


class Audio(Type):
    """A sound that a model is to hear.

    Args:
        source: A data URI, bytes (taken as WAV), a dict of the two fields, or another Audio.
        data: The sound in base64, by name.
        audio_format: Its format, such as ``wav`` or ``mp3``.

    Raises:
        ValueError: The source is none of these, or its data is damaged. Files are loaded
            with `from_path`, URLs with `from_url`.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    data: str
    audio_format: str

    def __init__(self, source: Any = None, /, **data: Any) -> None:
        super().__init__(**({**_encoded(source), **data} if source is not None else data))

    @model_validator(mode="before")
    @classmethod
    def validate_input(cls, values: Any) -> Any:
        """Read what the constructor reads."""
        return values if isinstance(values, cls) else _encoded(values)

    @classmethod
    def from_array(cls, array: Any, sampling_rate: int, format: str = "wav") -> Audio:
        """Take samples.

        Args:
            array: Samples between -1 and 1, in one sequence, or in one row of channels for
                each moment; or 16-bit integers. Lists and arrays of numpy.
            sampling_rate: Samples per second.
            format: ``wav`` is written without help; others need the soundfile package.

        Returns:
            The sound.

        Raises:
            ValueError: The samples are no numbers, or the format is not known.
            ImportError: Another format than ``wav`` is asked for, and soundfile is not installed.
        """
        written = io.BytesIO()
        if format.lower() == "wav":
            _write_wav(written, array, sampling_rate)
        else:
            try:
                soundfile = import_module("soundfile")
            except ImportError as error:
                raise ImportError(
                    f"writing {format!r} needs soundfile (pip install soundfile); 'wav' works without it"
                ) from error
            soundfile.write(written, array, sampling_rate, format=format.upper())
        return cls(data=_base64(written.getvalue()), audio_format=format.lower())

    @classmethod
    def from_url(cls, url: str, verify: bool = True, timeout: float | None = 30.0) -> Audio:
        """Fetch a sound.

        Args:
            url: An http or https URL.
            verify: Whether the server's certificate is checked.
            timeout: Seconds; None for no end.

        Returns:
            The sound.

        Raises:
            ValueError: It is no such URL, or names no sound.
            ConnectionError: It cannot be fetched.
            ImportError: httpx is not installed.
        """
        data, mime_type = download(url, verify=verify, timeout=timeout)
        return cls(data=_base64(data), audio_format=_format_of(mime_type, url))

    @classmethod
    def from_path(cls, file_path: str | Path) -> Audio:
        """Read a sound from a file.

        Args:
            file_path: The file; the end of its name tells the format.

        Returns:
            The sound.

        Raises:
            ValueError: There is no such file, or its name is none of a sound.
            OSError: It cannot be read.
        """
        data, mime_type = read_file(file_path)
        return cls(data=_base64(data), audio_format=_format_of(mime_type, str(file_path)))

    @classmethod
    def from_file(cls, file_path: str | Path) -> Audio:
        """The same as `from_path`, under DSPy's older name."""
        return cls.from_path(file_path)

    def format(self) -> list[dict[str, Any]]:
        """The sound as a content part."""
        return [{"type": "input_audio", "input_audio": {"data": self.data, "format": self.audio_format}}]

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(data=<AUDIO_BASE_64_ENCODED({len(self.data)})>, audio_format={self.audio_format!r})"
        )

    def __str__(self) -> str:
        return self.__repr__()


def _encoded(source: Any) -> dict[str, Any]:
    if isinstance(source, Audio):
        return {"data": source.data, "audio_format": source.audio_format}
    if isinstance(source, (bytes, bytearray)):
        return {"data": _base64(bytes(source)), "audio_format": "wav"}
    if isinstance(source, str):
        found = split_data_uri(source.strip())
        if found is None or not found[0].startswith("audio/"):
            raise ValueError(
                f"a sound given as text must be a base64 data URI of audio, found {source[:60]!r}; "
                "files are loaded with Audio.from_path(...), URLs with Audio.from_url(...)"
            )
        return {"data": found[1], "audio_format": _format_of(found[0], "the data URI")}
    if isinstance(source, Mapping):
        if isinstance(source.get("data"), str):
            return {**source, "data": checked_base64(source["data"])}
        return dict(source)
    raise ValueError(f"{type(source).__name__} is no sound; give a data URI, bytes, or data= and audio_format=")


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _format_of(mime_type: str | None, where: str) -> str:
    kind, _, name = (mime_type or "").lower().partition("/")
    if kind != "audio" or not name:
        raise ValueError(f"{where[:200]} holds no sound of a known kind (MIME type {mime_type})")
    name = name.removeprefix("x-")
    return _FORMATS.get(name, name)


def _write_wav(target: io.BytesIO, samples: Any, sampling_rate: int) -> None:
    rows = samples.tolist() if hasattr(samples, "tolist") else list(samples)
    channels = len(rows[0]) if rows and isinstance(rows[0], (list, tuple)) else 1
    flat = [sample for row in rows for sample in row] if channels > 1 or _is_nested(rows) else rows
    try:
        frames = array.array("h", _sixteen_bit(flat))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"samples must be numbers between -1 and 1, or 16-bit integers ({error})") from None
    if sys.byteorder == "big":
        frames.byteswap()
    with wave.open(target, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(sampling_rate)
        file.writeframes(frames.tobytes())


def _is_nested(rows: list[Any]) -> bool:
    return bool(rows) and isinstance(rows[0], (list, tuple))


def _sixteen_bit(samples: Iterable[Any]) -> Iterable[int]:
    for sample in samples:
        yield sample if isinstance(sample, int) else round(max(-1.0, min(1.0, sample)) * 32767)
