"""Conditions on values of parameters, in the notation of R or of Python.

The result of a condition is true, false or unknown. A comparison with a parameter that has no value
is unknown, as R's NA is.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Value: TypeAlias = bool | int | float | str
Values: TypeAlias = Mapping[str, Value]
Result: TypeAlias = Value | None
Evaluate: TypeAlias = Callable[[Values], Result]

MAX_LENGTH = 2_000  # characters of a condition
MAX_DEPTH = 50  # of parentheses and signs inside each other
TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<text>"[^"]*"|'[^']*')
    | (?P<name>`[^`]+`|[A-Za-z_.][\w.]*)
    | (?P<sign>%in%|<=|>=|==|!=|&&|\|\||[<>!&|()\[\],+\-*/])
    )""",
    re.VERBOSE,
)
SPELLINGS = {"&&": "and", "&": "and", "||": "or", "|": "or", "!": "not", "%in%": "in"}
CONSTANTS: Mapping[str, bool] = {"TRUE": True, "True": True, "FALSE": False, "False": False}
WORDS = ("and", "or", "not", "in")
ORDERS: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SUMS: Mapping[str, Callable[[float, float], float]] = {"+": operator.add, "-": operator.sub}
PRODUCTS: Mapping[str, Callable[[float, float], float]] = {
    "*": operator.mul,
    "/": operator.truediv,
}


@dataclass(frozen=True)
class Condition:
    """A condition: its text, the parameters that it names, and how it is evaluated."""

    text: str
    names: frozenset[str]
    evaluate: Evaluate = field(repr=False, compare=False)

    def holds(self, values: Values) -> bool:
        """Whether the condition is true; an unknown one does not hold."""
        return self.evaluate(values) is True


def parse_condition(text: str) -> Condition:
    """Read a condition; a ValueError says what is wrong."""
    if len(text) > MAX_LENGTH:
        raise ValueError(f"the condition has {len(text)} characters, more than {MAX_LENGTH}")
    parser = _Parser(text)
    evaluate = parser.parse()
    return Condition(text.strip(), frozenset(parser.names), evaluate)


def are_equal(a: Value, b: Value) -> bool:
    """Whether two values are the same; a number equals its text, as in R."""
    if isinstance(a, str) != isinstance(b, str):
        return _as_text(a) == _as_text(b)
    return a == b


def _as_text(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def _as_number(value: Value) -> float | None:
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


class _Parser:
    """A recursive-descent parser; ``names`` are the parameters that it has met."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._tokenize())
        self._position = 0
        self._depth = 0
        self.names: set[str] = set()

    def parse(self) -> Evaluate:
        evaluate = self._any_of()
        if self._position < len(self._tokens):
            raise self._error(f"cannot be read from '{self._tokens[self._position][1]}' on")
        return evaluate

    def _error(self, problem: str) -> ValueError:
        return ValueError(f"the condition '{self._text.strip()[:80]}' {problem}")

    def _tokenize(self) -> list[tuple[str, str]]:
        tokens = []
        position = 0
        text = self._text.rstrip()
        while position < len(text):
            match = TOKEN.match(text, position)
            if match is None:
                raise self._error(f"cannot be read from '{text[position:][:20].strip()}' on")
            kind = str(match.lastgroup)
            token = match[kind]
            if token in SPELLINGS or (kind == "name" and token in WORDS):
                kind = "sign"
            tokens.append((kind, SPELLINGS.get(token, token)))
            position = match.end()
        return tokens

    def _next_is(self, *signs: str) -> bool:
        if self._position >= len(self._tokens):
            return False
        kind, token = self._tokens[self._position]
        return kind == "sign" and token in signs

    def _take(self) -> tuple[str, str]:
        if self._position >= len(self._tokens):
            raise self._error("ends too early")
        token = self._tokens[self._position]
        self._position += 1
        return token

    def _expect(self, sign: str) -> None:
        kind, token = self._take()
        if kind != "sign" or token != sign:
            raise self._error(f"has '{token}' where '{sign}' is expected")

    def _deeper(self, parse: Callable[[], Evaluate]) -> Evaluate:
        """Parse a part that is one level deeper."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(f"has more than {MAX_DEPTH} levels")
        evaluate = parse()
        self._depth -= 1
        return evaluate

    def _any_of(self) -> Evaluate:
        parts = [self._all_of()]
        while self._next_is("or"):
            self._take()
            parts.append(self._all_of())
        return parts[0] if len(parts) == 1 else _junction(parts, decisive=True)

    def _all_of(self) -> Evaluate:
        parts = [self._negation()]
        while self._next_is("and"):
            self._take()
            parts.append(self._negation())
        return parts[0] if len(parts) == 1 else _junction(parts, decisive=False)

    def _negation(self) -> Evaluate:
        if not self._next_is("not"):
            return self._comparison()
        self._take()
        return _negated(self._deeper(self._negation))

    def _comparison(self) -> Evaluate:
        left = self._sum()
        if self._next_is("==", "!="):
            is_negated = self._take()[1] == "!="
            equality = _equality(left, self._sum())
            return _negated(equality) if is_negated else equality
        if self._next_is(*ORDERS):
            return _order(left, ORDERS[self._take()[1]], self._sum())
        is_negated = self._next_is("not")
        if is_negated:
            self._take()
        if self._next_is("in"):
            self._take()
            membership = _membership(left, self._list())
            return _negated(membership) if is_negated else membership
        if is_negated:
            raise self._error("has 'not' where an operator is expected")
        return left

    def _sum(self) -> Evaluate:
        evaluate = self._product()
        while self._next_is(*SUMS):
            sign = self._take()[1]
            evaluate = _arithmetic(evaluate, SUMS[sign], self._product())
        return evaluate

    def _product(self) -> Evaluate:
        evaluate = self._atom()
        while self._next_is(*PRODUCTS):
            sign = self._take()[1]
            evaluate = _arithmetic(evaluate, PRODUCTS[sign], self._atom())
        return evaluate

    def _atom(self) -> Evaluate:
        kind, token = self._take()
        if kind == "number":
            return _constant(int(token) if token.isdigit() else float(token))
        if kind == "text":
            return _constant(token[1:-1])
        if kind == "name":
            return self._name(token)
        if token == "(":
            evaluate = self._deeper(self._any_of)
            self._expect(")")
            return evaluate
        if token == "-":
            return _arithmetic(_constant(0), operator.sub, self._deeper(self._atom))
        raise self._error(f"has '{token}' where a value is expected")

    def _name(self, token: str) -> Evaluate:
        if token == "is.na" and self._next_is("("):
            self._take()
            evaluate = self._deeper(self._any_of)
            self._expect(")")
            return lambda values: evaluate(values) is None
        if self._next_is("("):
            raise self._error(f"calls '{token}', which is not known; known: c, is.na")
        if token in CONSTANTS:
            return _constant(CONSTANTS[token])
        name = token.strip("`")
        self.names.add(name)
        return lambda values: values.get(name)

    def _list(self) -> list[Evaluate]:
        """The members of ``c("a", "b")``, ``("a", "b")`` or ``["a", "b"]``, or one value."""
        kind, token = self._tokens[self._position] if self._next_exists() else ("", "")
        if kind == "name" and token == "c":
            self._take()
            kind, token = self._tokens[self._position] if self._next_exists() else ("", "")
        if kind != "sign" or token not in ("(", "["):
            return [self._sum()]
        self._take()
        closing = ")" if token == "(" else "]"
        members = [self._sum()]
        while self._next_is(","):
            self._take()
            members.append(self._sum())
        self._expect(closing)
        return members

    def _next_exists(self) -> bool:
        return self._position < len(self._tokens)


def _constant(value: Value) -> Evaluate:
    return lambda values: value


def _negated(evaluate: Evaluate) -> Evaluate:
    def negation(values: Values) -> Result:
        result = evaluate(values)
        return None if result is None else not result

    return negation


def _junction(parts: list[Evaluate], decisive: bool) -> Evaluate:
    """A disjunction, which one true part decides, or a conjunction, which one false part does."""

    def junction(values: Values) -> Result:
        results = [part(values) for part in parts]
        if any(result is not None and bool(result) is decisive for result in results):
            return decisive
        return None if None in results else not decisive

    return junction


def _equality(left: Evaluate, right: Evaluate) -> Evaluate:
    def equality(values: Values) -> Result:
        a = left(values)
        b = right(values)
        return None if a is None or b is None else are_equal(a, b)

    return equality


def _membership(left: Evaluate, members: list[Evaluate]) -> Evaluate:
    def membership(values: Values) -> Result:
        value = left(values)
        if value is None:
            return None
        candidates = [member(values) for member in members]
        return any(member is not None and are_equal(value, member) for member in candidates)

    return membership


def _order(left: Evaluate, compare: Callable[[float, float], bool], right: Evaluate) -> Evaluate:
    def order(values: Values) -> Result:
        numbers = _numbers(left(values), right(values))
        return None if numbers is None else compare(*numbers)

    return order


def _arithmetic(
    left: Evaluate, combine: Callable[[float, float], float], right: Evaluate
) -> Evaluate:
    def arithmetic(values: Values) -> Result:
        numbers = _numbers(left(values), right(values))
        try:
            return None if numbers is None else combine(*numbers)
        except (ZeroDivisionError, OverflowError):
            return None

    return arithmetic


def _numbers(a: Result, b: Result) -> tuple[float, float] | None:
    """Both values as numbers, or None where one of them is none."""
    if a is None or b is None:
        return None
    first = _as_number(a)
    second = _as_number(b)
    return None if first is None or second is None else (first, second)
