"""`Code`: source text in a named language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from pydantic import model_serializer, model_validator

from reasonact.types.base import Type

_FENCED: Final = re.compile(r"```[^\n`]*\n(.*?)```", re.DOTALL)
_FENCED_IN_LINE: Final = re.compile(r"```(.*?)```", re.DOTALL)


class Code(Type):
    """Source text. ``Code["java"]`` is the type for a language; bare it is Python's.

    Args:
        code: The text. Of a Markdown answer, what stands in its first fence.

    Raises:
        ValueError: It is no text.
    """

    code: str

    language: ClassVar[str] = "python"
    _languages: ClassVar[dict[str, type[Code]]] = {}

    def __class_getitem__(cls, language: Any) -> type[Code]:
        if isinstance(language, tuple) and len(language) == 1:
            language = language[0]
        if not isinstance(language, str):
            raise TypeError(f"Code[...] takes the name of a language as text, not {language!r}")
        if language not in Code._languages:
            name = f"Code_{language}"
            members = {"language": language, "__module__": __name__, "__qualname__": name}
            members["__annotations__"] = {"language": ClassVar[str]}
            Code._languages[language] = type(Code)(name, (Code,), members)
        return Code._languages[language]

    @model_validator(mode="before")
    @classmethod
    def validate_input(cls, data: Any) -> Any:
        """Read bare text, and take the code out of a Markdown fence."""
        if isinstance(data, cls):
            return data
        if isinstance(data, Code):
            return {"code": data.code}
        if isinstance(data, str):
            return {"code": _without_fence(data)}
        if isinstance(data, Mapping) and isinstance(data.get("code"), str):
            return {**data, "code": _without_fence(data["code"])}
        raise ValueError(f"code must be text or {{'code': text}}, found {data!r:.100}")

    @model_serializer()
    def serialize_model(self) -> str:
        """The text."""
        return self.code

    def format(self) -> str:
        """The text, as a model is to see it."""
        return self.code

    @classmethod
    def description(cls) -> str:
        """How a model is to write it."""
        return (
            f"Source code in {cls.language}. As an answer, put it alone into one Markdown fence:\n"
            f"```{cls.language.lower()}\n{{code}}\n```"
        )


def _without_fence(text: str) -> str:
    found = _FENCED.search(text) or _FENCED_IN_LINE.search(text)
    return found[1].strip("\n") if found else text
