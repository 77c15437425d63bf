"""`Code`: source text in a named language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from pydantic import create_model, model_serializer, model_validator

from reasonact.types.base import Type

# Compiled at first use, for the sake of import time.
_FENCED: Final = r"(?s)```[^\n`]*\n(.*?)```"
_FENCED_IN_LINE: Final = r"(?s)```(.*?)```"


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
            Code._languages[language] = create_model(f"Code_{language}", __base__=Code, __module__=__name__)
            Code._languages[language].language = language
        return Code._languages[language]

    @classmethod
    def for_language(cls, language: str) -> type[Code]:
        """The type for a language, the same class each time; ``Code["java"]`` says the same.

        Args:
            language: Its name, as it stands behind a Markdown fence.

        Returns:
            The class.
        """
        found: type[Code] = Code.__class_getitem__(language)
        return found

    def __reduce__(self) -> Any:
        if type(self) is Code._languages.get(self.language):  # a class that no module names
            return _code_in, (self.language, self.code)
        return super().__reduce__()

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
    found = re.search(_FENCED, text) or re.search(_FENCED_IN_LINE, text)
    return found[1].strip("\n") if found else text


def _code_in(language: str, code: str) -> Code:
    return Code.for_language(language).model_construct(code=code)
