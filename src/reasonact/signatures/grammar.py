"""The string form of a signature: ``"question, k: int = 3 -> answer: list[str]"``.

    signature := [fields] "->" [fields]
    fields    := field ("," field)* [","]
    field     := NAME [":" type] ["=" literal]
    type      := term ("|" term)*
    term      := (NAME | "None" | "(" type ")") ("." NAME | "[" arguments "]")*
    arguments := argument ("," argument)* [","]
    argument  := type | literal | "..." | "[" [arguments] "]" | "()"

The text is read by hand and never evaluated: a type is found by its name in the scope
that is passed in, and attributes are followed on modules and classes alone.
"""

from __future__ import annotations

import ast
import enum
import keyword
import re
import sys
import typing
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final, NoReturn

Scope = Callable[[str], Any]
"""Finds a name's value; raises LookupError where there is none."""

_TOKEN: Final = re.compile(
    r"""\s*(?:
    (?P<string>[rRbBuU]{0,2}(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))
  | (?P<name>[^\W\d]\w*)
  | (?P<number>(?:0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*)?\.?\d[\d_]*\.?(?:[eE][+-]?\d+)?))
  | (?P<mark>->|\.\.\.|[\[\](),:|.=\-])
    )""",
    re.VERBOSE,
)
_SPACE: Final = re.compile(r"\s*")
_CLOSING: Final = re.compile(r"\s*\)")
_DEPTH_LIMIT: Final = 50
_TYPE_SYSTEM: Final = ("typing", "typing_extensions", "types", "annotationlib")
_LITERAL_ARGUMENTS: Final = (str, bytes, int, float, bool, list, tuple, enum.Enum, type(None), type(...))
_NOT_TYPES_ALONE: Final = frozenset(
    {"Annotated", "ClassVar", "Concatenate", "Final", "Generic", "Literal", "NotRequired", "Optional", "Protocol",
     "ReadOnly", "Required", "Self", "TypeGuard", "TypeIs", "Union", "Unpack", "Never", "NoReturn", "LiteralString"}
)  # fmt: skip


@dataclass(frozen=True)
class FieldText:
    """One field as the string names it.

    Attributes:
        name: The field's name.
        annotation: Its type; ``str`` where none is written.
        typed: Whether a type is written.
        default: The literal after ``=``, or ``...``.
    """

    name: str
    annotation: Any
    typed: bool
    default: Any = ...


def parse_signature(text: str, scope: Scope) -> tuple[list[FieldText], list[FieldText]]:
    """Read a signature's string form.

    Args:
        text: The string.
        scope: Where the names of types are looked up.

    Returns:
        The input fields and the output fields, in their order.

    Raises:
        ValueError: The string is no signature; the message says which part, where, and what to write.
    """
    return _Reader(text, scope).signature()


class _Reader:
    """A cursor over the tokens. ``kind`` and ``value`` are the token ahead; ``start`` is its place."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.end = 0
        self.depth = 0
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self.text, self.end)
        if found is None:
            self.start = _SPACE.match(self.text, self.end).end()  # type: ignore[union-attr]  # matches at any place
            if self.start < len(self.text):
                self.fail(f"{self.text[self.start]!r} has no meaning here")
            self.end, self.kind, self.value = self.start, "end", ""
        else:
            self.kind = found.lastgroup or ""
            self.value = found[self.kind]
            self.start, self.end = found.span(self.kind)

    def fail(self, problem: str) -> NoReturn:
        before, after = self.text[max(0, self.start - 40) : self.start], self.text[self.start : self.start + 40]
        raise ValueError(
            f"The signature string cannot be read at position {self.start}: {problem}. "
            f"In: {before!r} <here> {after!r}. Write it like 'question, k: int -> answer: list[str]'."
        )

    def at(self, mark: str) -> bool:
        return self.kind == "mark" and self.value == mark

    def take(self, mark: str, purpose: str) -> None:
        if not self.at(mark):
            found = repr(self.value) if self.value else "the end of the string"
            self.fail(f"expected {mark!r} {purpose}, found {found}")
        self.advance()

    def signature(self) -> tuple[list[FieldText], list[FieldText]]:
        inputs = self.fields()
        self.take("->", "between inputs and outputs")
        outputs = self.fields()
        if self.at("->"):
            self.fail("a second '->': inputs and outputs are parted by exactly one")
        if self.kind != "end":
            self.fail(f"expected ',' or the end after a field, found {self.value!r}")
        return inputs, outputs

    def fields(self) -> list[FieldText]:
        found: dict[str, FieldText] = {}
        while self.kind == "name":
            if self.value in found:
                self.fail(f"the field {self.value!r} is named twice on this side of the arrow")
            field = self.field()
            found[field.name] = field
            if not self.at(","):
                return list(found.values())
            self.advance()
        if self.kind != "end" and not self.at("->"):
            self.fail(f"expected the name of a field, found {self.value!r}")
        return list(found.values())

    def field(self) -> FieldText:
        name = self.value
        if keyword.iskeyword(name) or not name.isidentifier():
            self.fail(f"{name!r} is no name that Python takes for a variable")
        self.advance()
        annotation: Any = str
        typed = self.at(":")
        if typed:
            self.advance()
            place, annotation = self.start, self.type()
            if not is_type(annotation):
                self.start = place
                self.fail(f"the field {name!r} needs a type, found {annotation!r}")
        default: Any = ...
        if self.at("="):
            self.advance()
            default = self.literal(f"the default of {name!r}")
        return FieldText(name, annotation, typed, default)

    def type(self) -> Any:
        self.depth += 1
        if self.depth > _DEPTH_LIMIT:
            self.fail(f"the type is nested more than {_DEPTH_LIMIT} levels deep")
        members = [self.term()]
        while self.at("|"):
            self.advance()
            members.append(self.term())
        self.depth -= 1
        if len(members) == 1:
            return members[0]
        return self.subscript(typing.Union, tuple(members))

    def term(self) -> Any:
        if self.at("("):
            self.advance()
            found = self.type()
            self.take(")", "to close the bracket")
        elif self.kind == "name":
            found = self.named()
        else:
            self.fail(f"expected a type, found {repr(self.value) if self.value else 'the end of the string'}")
        while True:
            if self.at("."):
                self.advance()
                found = self.attribute(found)
            elif self.at("["):
                self.advance()
                arguments = self.arguments("]")
                if not arguments:
                    self.fail("the square brackets of a type are empty")
                found = self.subscript(found, arguments[0] if len(arguments) == 1 else tuple(arguments))
                self.take("]", "to close the type's arguments")
            else:
                return found

    def named(self) -> Any:
        name = self.value
        if name == "None":
            self.advance()
            return type(None)
        try:
            found = self.scope(name)
        except LookupError:
            self.fail(
                f"there is no type {name!r} in sight; define or import it where the signature is made, "
                f"or pass custom_types={{{name!r}: ...}}"
            )
        self.advance()
        return found

    def attribute(self, owner: Any) -> Any:
        if self.kind != "name":
            self.fail("expected a name after '.'")
        # Only modules and classes: an attribute of any other object may run code of its own.
        if not isinstance(owner, (ModuleType, type)):
            self.fail(f"{owner!r} is no module and no class, so it has no types to offer")
        try:
            found = getattr(owner, self.value)
        except (AttributeError, ImportError):
            found = sys.modules.get(f"{owner.__name__}.{self.value}") if isinstance(owner, ModuleType) else None
            if found is None:
                self.fail(f"{owner.__name__} has no attribute {self.value!r}")
        self.advance()
        return found

    def arguments(self, close: str) -> list[Any]:
        found: list[Any] = []
        while not self.at(close):
            found.append(self.argument())
            if not self.at(","):
                break
            self.advance()
        return found

    def argument(self) -> Any:
        if self.at("..."):
            self.advance()
            return ...
        if self.at("["):
            self.advance()
            self.depth += 1
            if self.depth > _DEPTH_LIMIT:
                self.fail(f"the type is nested more than {_DEPTH_LIMIT} levels deep")
            inner = self.arguments("]")
            self.depth -= 1
            self.take("]", "to close the list")
            return inner
        if self.at("(") and _CLOSING.match(self.text, self.end):
            self.advance()
            self.take(")", "to close the empty tuple")
            return ()
        if self.kind in ("string", "number") or self.at("-") or self.value in ("True", "False"):
            return self.literal("the argument of a type")
        found = self.type()
        return None if found is type(None) else found  # Literal[None] holds None itself

    def literal(self, purpose: str) -> Any:
        sign = "-" if self.at("-") else ""
        if sign:
            self.advance()
        plain = self.kind == "string" or self.value in ("True", "False", "None")
        if not (self.kind == "number" or (plain and not sign)):
            self.fail(
                f"expected a number, a quoted text, True, False or None as {purpose}, found {self.value!r}; "
                "anything else is declared in a signature class"
            )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # "\d" in a Literal is what its author means
                value = ast.literal_eval(self.value)  # one token, a plain number or text
        except (SyntaxError, ValueError) as error:
            self.fail(f"{self.value[:40]!r} is no valid literal ({error.args[0]})")
        self.advance()
        return -value if sign else value

    def subscript(self, owner: Any, arguments: Any) -> Any:
        """``owner[arguments]``, where the owner is something of the type system."""
        if not isinstance(owner, type) and type(owner).__module__ not in _TYPE_SYSTEM:
            self.fail(f"{owner!r} takes no type arguments")
        if owner is not typing.Annotated:  # its metadata may be anything
            for argument in arguments if isinstance(arguments, tuple) else (arguments,):
                if not (is_type(argument) or isinstance(argument, _LITERAL_ARGUMENTS)):
                    self.fail(f"{argument!r} is no type")
        try:
            subscriptable: Any = owner
            return subscriptable[arguments]
        except Exception as error:  # a class decides itself which arguments it takes, and how it says so
            self.fail(f"{getattr(owner, '__name__', owner)} does not take these type arguments ({error})")


def is_type(value: Any) -> bool:
    """Tell whether a value can stand as a field's type.

    Args:
        value: Anything.

    Returns:
        True for classes, generic aliases, unions, type variables and ``Any``; False for
        functions, instances, text, and special forms that mean nothing alone.
    """
    if isinstance(value, type):
        return True
    if type(value).__module__ not in _TYPE_SYSTEM or isinstance(value, typing.ForwardRef):
        return False
    return typing.get_origin(value) is not None or getattr(value, "_name", None) not in _NOT_TYPES_ALONE
