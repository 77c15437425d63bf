"""Bytes from files and the network, and data URIs. Only what a program asks for by name is loaded."""

from __future__ import annotations

import base64
import binascii
import mimetypes
import re
from pathlib import Path
from typing import Final

_BASE64_URI: Final = r"(?i)data:([^;,]*)(?:;[^;,]*)*;base64,"  # compiled at first use, for the sake of import time


def read_file(path: str | Path) -> tuple[bytes, str | None]:
    """Read a file.

    Args:
        path: The file.

    Returns:
        Its bytes, and the MIME type that its name stands for, where it does.

    Raises:
        ValueError: There is no such file.
        OSError: It cannot be read.
    """
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"there is no file {str(path)!r}")
    return file.read_bytes(), mimetypes.guess_type(file.name)[0]


def download(url: str, *, verify: bool = True, timeout: float | None = 30.0) -> tuple[bytes, str | None]:
    """Fetch what a URL names, following redirects.

    Args:
        url: An http or https URL.
        verify: Whether the server's certificate is checked.
        timeout: Seconds to wait for the connection and for each piece; None for no end.

    Returns:
        The bytes, and the MIME type that the server names, else that of the URL's path.

    Raises:
        ValueError: It is no http or https URL.
        ConnectionError: The server cannot be reached, or answers with an error status.
        ImportError: httpx is not installed.
    """
    if not url.lower().startswith(("http://", "https://")):
        raise ValueError(f"only http and https URLs are fetched, not {url[:100]!r}")
    import httpx

    try:
        response = httpx.get(url, verify=verify, timeout=timeout, follow_redirects=True)
        response.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise ConnectionError(f"{url[:200]} could not be fetched: {error}") from error
    named = response.headers.get("content-type", "").partition(";")[0].strip()
    return response.content, named or mimetypes.guess_type(response.url.path)[0]


def data_uri(data: bytes, mime_type: str) -> str:
    """Bytes as a data URI in base64."""
    return f"data:{mime_type};base64,{base64.b64encode(data).decode('ascii')}"


def is_data_uri(text: str) -> bool:
    """Whether a text is a data URI, of any encoding."""
    return text[:5].lower() == "data:" and "," in text


def checked_data_uri(text: str) -> str:
    """A data URI as it may be sent.

    Args:
        text: The URI.

    Returns:
        The same; white space within base64 is taken out.

    Raises:
        ValueError: Its base64 is no base64.
    """
    head = re.match(_BASE64_URI, text)
    return head[0] + checked_base64(text[head.end() :]) if head else text


def split_data_uri(text: str) -> tuple[str, str] | None:
    """The MIME type and the base64 of a data URI; None where it is no base64 data URI.

    Raises:
        ValueError: Its base64 is no base64.
    """
    head = re.match(_BASE64_URI, text)
    return (head[1].lower(), checked_base64(text[head.end() :])) if head else None


def checked_base64(text: str) -> str:
    """Base64 without white space.

    Raises:
        ValueError: It is no base64.
    """
    packed = "".join(text.split())
    try:
        base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"this is no base64 ({error}): {packed[:40]!r}") from None
    return packed
