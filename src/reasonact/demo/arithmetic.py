"""A small calculator: expressions of Python, walked as a tree and never compiled.

Only what stands in the tables below can happen. Every value is bounded in size, and the
size is checked before an operation that could pass the bound, so that no expression
takes noticeable time or memory; there are no loops, no names but the tables', and no
attributes but the string methods.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

MAX_CHARACTERS: Final = 1_000
MAX_NODES: Final = 200
MAX_BITS: Final = 10_000
MAX_SIZE: Final = 10_000


class ExpressionError(ValueError):
    """The expression cannot be evaluated: not in the language, too large, or undefined."""


def evaluate_expression(expression: str) -> Any:
    """Work out an expression of numbers, strings, lists, comparisons and a few pure functions.

    Args:
        expression: One Python expression, at most 1,000 characters, e.g. ``2**10 + 5``.

    Returns:
        Its value: a number, a string, a truth value, None, or a list or tuple of these.

    Raises:
        ExpressionError: It is no such expression, would grow past the bounds, or has no value.
    """
    if len(expression) > MAX_CHARACTERS:
        raise ExpressionError(f"the expression has {len(expression)} characters; at most {MAX_CHARACTERS} are allowed")
    shown = repr(expression if len(expression) <= 80 else f"{expression[:79]}…")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error) or type(error).__name__
        raise ExpressionError(f"{shown} is no Python expression: {reason}") from None
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise ExpressionError(f"the expression has more than {MAX_NODES} parts")
    try:
        return _value(tree.body)
    except ExpressionError:
        raise
    except (ArithmeticError, TypeError, ValueError, LookupError) as error:
        raise ExpressionError(f"{shown} has no value: {type(error).__name__}: {error}") from None


def _value(node: ast.expr) -> Any:
    step = _STEPS.get(type(node))
    if step is None:
        raise ExpressionError(f"{type(node).__name__} is not allowed here: {ast.unparse(node)!r}")
    return _bounded(step(node))


def _constant(node: ast.Constant) -> Any:
    if node.value is None or isinstance(node.value, bool | int | float | str):
        return node.value
    raise ExpressionError(f"a constant of type {type(node.value).__name__} is not allowed")


def _name(node: ast.Name) -> Any:
    if node.id in CONSTANTS:
        return CONSTANTS[node.id]
    known = "it is a function; call it" if node.id in FUNCTIONS else f"known are {', '.join(CONSTANTS)}"
    raise ExpressionError(f"the name {node.id!r} has no value here: {known}")


def _sequence(node: ast.List | ast.Tuple) -> Any:
    values = [_value(part) for part in node.elts]
    return values if isinstance(node, ast.List) else tuple(values)


def _unary(node: ast.UnaryOp) -> Any:
    return _UNARY[type(node.op)](_value(node.operand))


def _binary(node: ast.BinOp) -> Any:
    operation = _BINARY.get(type(node.op))
    if operation is None:
        raise ExpressionError(f"the operator of {ast.unparse(node)!r} is not allowed")
    return operation(_value(node.left), _value(node.right))


def _logic(node: ast.BoolOp) -> Any:
    value: Any = None
    for part in node.values:
        value = _value(part)
        if bool(value) is isinstance(node.op, ast.Or):
            break
    return value


def _compare(node: ast.Compare) -> bool:
    left = _value(node.left)
    for op, part in zip(node.ops, node.comparators, strict=True):
        right = _value(part)
        if not _COMPARE[type(op)](left, right):
            return False
        left = right
    return True


def _choice(node: ast.IfExp) -> Any:
    return _value(node.body if _value(node.test) else node.orelse)


def _subscript(node: ast.Subscript) -> Any:
    whole = _value(node.value)
    if isinstance(node.slice, ast.Slice):
        lower, upper, step = (
            None if part is None else _value(part) for part in (node.slice.lower, node.slice.upper, node.slice.step)
        )
        return whole[lower:upper:step]
    return whole[_value(node.slice)]


def _call(node: ast.Call) -> Any:
    if any(isinstance(part, ast.Starred) for part in node.args) or any(word.arg is None for word in node.keywords):
        raise ExpressionError("stars in a call are not allowed")
    name, receiver = _called(node.func)
    given = [_value(part) for part in node.args]
    named = {str(word.arg): _value(word.value) for word in node.keywords}
    if receiver is not None:
        text = _value(receiver)
        if not isinstance(text, str) or name not in STRING_METHODS:
            raise ExpressionError(f"there is no method {name!r} here; strings have {', '.join(sorted(STRING_METHODS))}")
        return STRING_METHODS[name](text, *given, **named)
    if name not in FUNCTIONS:
        raise ExpressionError(f"there is no function {name!r} here; known are {', '.join(sorted(FUNCTIONS))}")
    return FUNCTIONS[name](*given, **named)


def _called(func: ast.expr) -> tuple[str, ast.expr | None]:
    if isinstance(func, ast.Name):
        return func.id, None
    if isinstance(func, ast.Attribute):
        if isinstance(func.value, ast.Name) and func.value.id == "math":
            return func.attr, None
        return func.attr, func.value
    raise ExpressionError(f"{ast.unparse(func)!r} cannot be called here")


def _size(value: Any) -> int:
    if isinstance(value, list | tuple):
        return len(value) + sum(map(_size, value))
    return len(value) if isinstance(value, str) else 1


def _bounded(value: Any) -> Any:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ExpressionError(f"a number of more than {MAX_BITS} bits came up")
    if isinstance(value, str | list | tuple):
        _room(_size(value))
    return value


def _room(size: int) -> None:
    if size > MAX_SIZE:
        raise ExpressionError(f"a text or list of {size} elements would come up; at most {MAX_SIZE} are allowed")


def _whole(value: Any, most: int) -> int:
    number = operator.index(value)
    if abs(number) > most:
        raise ExpressionError(f"{number if abs(number) < 10**12 else 'a number'} is too large here; at most {most}")
    return number


def _times(left: Any, right: Any) -> Any:
    for many, count in ((left, right), (right, left)):
        if isinstance(many, str | list | tuple) and isinstance(count, int):
            _room(_size(many) * max(0, count))
    return left * right


def _power(base: Any, exponent: Any, modulus: Any = None) -> Any:
    if isinstance(base, int) and isinstance(exponent, int):
        if modulus is not None:
            return pow(_whole(base, 2**512), _whole(exponent, 2**512), _whole(modulus, 2**512))
        if exponent > 0 and base.bit_length() * exponent > 2 * MAX_BITS and abs(base) > 1:
            raise ExpressionError(f"the power would have more than {MAX_BITS} bits")
    return pow(base, exponent, modulus)


def _shift_left(value: Any, count: Any) -> Any:
    return operator.index(value) << _whole(count, MAX_BITS)


def _remainder(left: Any, right: Any) -> Any:
    if isinstance(left, str):
        raise ExpressionError("formatting with % is not allowed")
    return left % right


def _round(number: Any, ndigits: Any = None) -> Any:
    return round(number) if ndigits is None else round(number, _whole(ndigits, 300))


def _range(*bounds: Any) -> list[int]:
    numbers = range(*bounds)
    if numbers and max(abs(numbers[0]), abs(numbers[-1])) >= 2**63:
        raise ExpressionError("the numbers of the range are too large")
    _room(len(numbers))
    return list(numbers)


def _join(separator: str, parts: Any) -> str:
    texts = list(parts)
    _room(len(separator) * len(texts) + _size(texts))
    return separator.join(texts)


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    _room(len(text) + (text.count(old) if old else len(text) + 1) * len(new))
    return text.replace(old, new, count)


CONSTANTS: Final[Mapping[str, float]] = MappingProxyType(
    {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf, "nan": math.nan}
)
_MATH_NAMES: Final = """
    ceil floor trunc sqrt isqrt gcd exp log log2 log10 fabs sin cos tan asin acos atan atan2 degrees radians hypot
"""
_STRING_NAMES: Final = """
    upper lower title capitalize swapcase strip lstrip rstrip split splitlines startswith endswith find rfind index
    count isdigit isalpha isalnum isspace isupper islower removeprefix removesuffix partition rpartition
"""
_PLAIN: Final[tuple[Callable[..., Any], ...]] = (
    abs, all, any, bin, bool, chr, divmod, float, hex, int, len, list, max, min, oct, ord, repr, sorted, str, sum, tuple
)  # fmt: skip
FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        **{func.__name__: func for func in _PLAIN},
        **{name: getattr(math, name) for name in _MATH_NAMES.split()},
        "reversed": lambda values: values[::-1],
        "pow": _power,
        "round": _round,
        "range": _range,
        "factorial": lambda n: math.factorial(_whole(n, 1_000)),
        "comb": lambda n, k: math.comb(_whole(n, 1_000), _whole(k, 1_000)),
    }
)
STRING_METHODS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {**{name: getattr(str, name) for name in _STRING_NAMES.split()}, "join": _join, "replace": _replace}
)
_UNARY: Final[dict[type[ast.unaryop], Callable[[Any], Any]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_BINARY: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _times,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: _remainder,
    ast.Pow: _power,
    ast.LShift: _shift_left,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
_COMPARE: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_STEPS: Final[dict[type[ast.expr], Callable[[Any], Any]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _logic,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.Subscript: _subscript,
    ast.Call: _call,
}
