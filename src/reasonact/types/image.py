"""`Image`: a picture, by its URL or its data."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.parse import urlsplit

from pydantic import ConfigDict, model_validator

from reasonact.types.base import Type
from reasonact.types.loading import checked_data_uri, data_uri, download, is_data_uri, read_file

_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)


class Image(Type):
    """A picture that a model is to see. Making one reads no file and fetches nothing.

    Args:
        source: A URL (http, https, gs), a data URI, the bytes of a picture, an object of
            Pillow, or another Image.
        download: True to fetch an http URL now and keep its data.
        verify: Whether the server's certificate is checked then.
        url: The URL or data URI, by name.

    Raises:
        ValueError: The source is none of these. Files are loaded with `from_path`.
        ConnectionError: The download failed.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, str_strip_whitespace=True, extra="forbid", defer_build=True
    )

    url: str

    def __init__(self, source: Any = None, /, *, download: Any = False, verify: Any = True, **data: Any) -> None:
        if source is not None:
            if "url" in data:
                raise ValueError("an image has one source: give it by position or as url=, not both")
            data["url"] = encode_image(source)
        if download and isinstance(data.get("url"), str) and not is_data_uri(data["url"]):
            data["url"] = _downloaded(data["url"], verify=verify)
        super().__init__(**data)

    @model_validator(mode="before")
    @classmethod
    def _check(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "url" in data:
            return {**data, "url": encode_image(data["url"])}
        return data

    @classmethod
    def from_url(cls, url: str, verify: bool = True, timeout: float | None = 30.0) -> Image:
        """Fetch a picture and keep its data.

        Args:
            url: An http or https URL.
            verify: Whether the server's certificate is checked.
            timeout: Seconds; None for no end.

        Returns:
            The image, as a data URI.

        Raises:
            ValueError: It is no such URL, or what it names has no MIME type.
            ConnectionError: It cannot be fetched.
            ImportError: httpx is not installed.
        """
        return cls(url=_downloaded(url, verify=verify, timeout=timeout))

    @classmethod
    def from_path(cls, file_path: str | Path) -> Image:
        """Read a picture from a file and keep its data.

        Args:
            file_path: The file; the end of its name tells the kind.

        Returns:
            The image, as a data URI.

        Raises:
            ValueError: There is no such file, or its kind cannot be told.
            OSError: It cannot be read.
        """
        data, mime_type = read_file(file_path)
        mime_type = mime_type or _kind_of(data)
        if mime_type is None:
            raise ValueError(f"neither the name nor the content of {str(file_path)!r} tells what kind of picture it is")
        return cls(url=data_uri(data, mime_type))

    @classmethod
    def from_file(cls, file_path: str | Path) -> Image:
        """The same as `from_path`, under DSPy's older name."""
        return cls.from_path(file_path)

    @classmethod
    def from_PIL(cls, pil_image: Any) -> Image:
        """Take a picture that Pillow holds.

        Args:
            pil_image: A ``PIL.Image.Image``.

        Returns:
            The image, as a data URI in the picture's own format, or as PNG.

        Raises:
            ValueError: It is no object of Pillow, or cannot be written.
        """
        return cls(url=encode_image(pil_image))

    def format(self) -> list[dict[str, Any]]:
        """The image as a content part."""
        return [{"type": "image_url", "image_url": {"url": self.url}}]

    def __repr__(self) -> str:
        head, comma, data = self.url.partition(",")
        if is_data_uri(self.url) and comma and head.endswith(";base64"):
            return f"{type(self).__name__}(url={head},<IMAGE_BASE_64_ENCODED({len(data)})>)"
        return f"{type(self).__name__}(url={self.url!r})"

    def __str__(self) -> str:
        return self.__repr__()


def encode_image(image: Any) -> str:
    """The URL or data URI of a picture. Reads no file and fetches nothing.

    Args:
        image: A URL, a data URI, bytes, an object of Pillow, an `Image` or its dict.

    Returns:
        An http, https or gs URL as it is, or a data URI.

    Raises:
        ValueError: It is none of these, or its data is damaged.
    """
    if isinstance(image, str):
        return _checked_url(image.strip())
    if isinstance(image, Image):
        return image.url
    if isinstance(image, (bytes, bytearray)):
        kind = _kind_of(bytes(image))
        if kind is None:
            raise ValueError("these bytes are no picture of a known kind (PNG, JPEG, GIF, WebP, BMP, TIFF)")
        return data_uri(bytes(image), kind)
    if isinstance(image, Mapping) and isinstance(image.get("url"), str):
        return _checked_url(image["url"].strip())
    if type(image).__module__.partition(".")[0] == "PIL" and hasattr(image, "save"):
        return _encoded_pil(image)
    raise ValueError(f"{type(image).__name__} is no picture; give a URL, a data URI, bytes or an object of Pillow")


def _checked_url(text: str) -> str:
    if is_data_uri(text):
        return checked_data_uri(text)
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme in ("http", "https", "gs") and parts.netloc:
        return text
    raise ValueError(
        f"{text[:100]!r} is neither a URL (http, https, gs) nor a data URI; a file is loaded with Image.from_path(...)"
    )


def _downloaded(url: str, *, verify: bool = True, timeout: float | None = 30.0) -> str:
    data, mime_type = download(url, verify=verify, timeout=timeout)
    mime_type = mime_type or _kind_of(data)
    if mime_type is None:
        raise ValueError(f"neither the server nor the content tells what {url[:200]!r} is")
    return data_uri(data, mime_type)


def _kind_of(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _SIGNATURES if data.startswith(start)), None)


def _encoded_pil(image: Any) -> str:
    written = io.BytesIO()
    kind = str(getattr(image, "format", None) or "PNG")
    try:
        image.save(written, format=kind)
    except (OSError, KeyError, ValueError) as error:
        raise ValueError(f"the picture cannot be written as {kind}: {error}") from error
    return data_uri(written.getvalue(), f"image/{kind.lower()}")
