"""Reads irace's parameter file: names, switches, types, values, conditions, forbidden clauses."""

import re
from collections.abc import Iterator
from pathlib import Path

from polarbear.spaces.expressions import Condition, Value, parse_condition
from polarbear.spaces.space import Parameter, ParameterKind, Space

LINE = re.compile(
    r"""(?P<name>[^\s"]+)\s+
    "(?P<switch>[^"]*)"\s+
    (?P<type>[A-Za-z]+)\s*(?P<scale>,\s*log)?\s*
    \((?P<values>(?:"[^"]*"|'[^']*'|[^()"'])*)\)\s*
    (?:\|\s*(?P<condition>.+))?$""",
    re.VERBOSE,
)
VALUE = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^,"']*?))\s*(?:,|$)""")
KINDS = {
    "i": ParameterKind.INTEGER,
    "r": ParameterKind.REAL,
    "c": ParameterKind.CATEGORICAL,
    "o": ParameterKind.ORDERED,
}
FORBIDDEN = "forbidden"
GLOBAL = "global"
DIGITS = re.compile(r"digits\s*=\s*(\d+)$")


def read_irace_parameters(path: Path) -> Space:
    """The space in a parameter file; a ValueError says what is wrong."""
    parameters: list[tuple[int, str]] = []
    forbidden: list[Condition] = []
    decimals = None
    section = ""
    for number, line in _lines(path):
        if line.startswith("["):
            section = line.strip("[] ")
            if section not in (FORBIDDEN, GLOBAL):
                raise ValueError(
                    f"{path}, line {number}: the section '{line}' is not known; known: "
                    f"[{FORBIDDEN}], [{GLOBAL}]"
                )
        elif not section:
            parameters.append((number, line))
        elif section == FORBIDDEN:
            forbidden.append(_condition(line, path, number))
        elif (digits := DIGITS.match(line)) is not None:
            decimals = int(digits[1])
    try:
        return Space.of(
            [_parameter(line, path, number, decimals) for number, line in parameters], forbidden
        )
    except ValueError as error:
        text = str(error)
        raise ValueError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def value_of_text(text: str) -> Value:
    """A number where it is written as Python would write it, so that it stays the same text."""
    for convert in (int, float):
        try:
            number = convert(text)
        except ValueError:
            continue
        if str(number) == text:
            return number
    return text


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines with content, without comments, and their numbers."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text file in UTF-8"
        raise ValueError(f"cannot read {path}: {reason}") from None
    for number, line in enumerate(text.splitlines(), 1):
        content = _without_comment(line).strip()
        if content:
            yield number, content


def _without_comment(line: str) -> str:
    """The part of a line before a # that is not quoted."""
    return re.match(r"""(?:"[^"]*"|'[^']*'|[^#"']|["'](?=[^"']*$))*""", line)[0]  # type: ignore[index]


def _condition(text: str, path: Path, number: int) -> Condition:
    try:
        return parse_condition(text)
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: {error}") from None


def _parameter(line: str, path: Path, number: int, decimals: int | None) -> Parameter:
    """The parameter that one line describes."""
    origin = f"{path}, line {number}"
    match = LINE.match(line)
    if match is None:
        raise ValueError(
            f'{origin}: expected NAME "SWITCH" TYPE (VALUES), and perhaps | CONDITION; found '
            f"'{line[:60]}'"
        )
    if match["type"] not in KINDS:
        raise ValueError(f"{origin}: the type is one of i, r, c, o, found '{match['type']}'")
    kind = KINDS[match["type"]]
    texts = _values(match["values"])
    condition = None
    if match["condition"] is not None and match["condition"].strip() != "TRUE":
        condition = _condition(match["condition"], path, number)
    low = 0.0
    high = 0.0
    values: tuple[Value, ...] = ()
    try:
        if kind in (ParameterKind.INTEGER, ParameterKind.REAL):
            low, high = checked_bounds(texts, kind, is_log=match["scale"] is not None)
        else:
            values = checked_values([value_of_text(text) for text in texts], match["scale"])
    except ValueError as error:
        raise ValueError(f"{origin}: '{match['name']}': {error}") from None
    return Parameter(
        name=match["name"],
        kind=kind,
        low=low,
        high=high,
        values=values,
        is_log=match["scale"] is not None,
        condition=condition,
        switch=match["switch"],
        decimals=decimals if kind is ParameterKind.REAL else None,
    )


def _values(text: str) -> list[str]:
    """The values between parentheses, without quotes."""
    values = []
    position = 0
    while position < len(text):
        match = VALUE.match(text, position)
        if match is None:
            return [text]  # which is no number and will be refused with this text
        values.append(next(group for group in match.groups() if group is not None))
        position = match.end()
    return values


def checked_bounds(
    bounds: list[str] | list[float], kind: ParameterKind, is_log: bool
) -> tuple[float, float]:
    """The lowest and the highest value; a ValueError says what is wrong."""
    if len(bounds) != 2:
        raise ValueError(f"expected two bounds, the lowest and the highest, found {len(bounds)}")
    try:
        low = float(bounds[0])
        high = float(bounds[1])
    except ValueError:
        raise ValueError(
            f"bounds are numbers, found ({bounds[0]}, {bounds[1]}); bounds that depend on other "
            "parameters are not supported: use a forbidden clause"
        ) from None
    if not -1e300 <= low < high <= 1e300:
        raise ValueError(f"the lowest value must be below the highest, found ({low:g}, {high:g})")
    if kind is ParameterKind.INTEGER and not (low.is_integer() and high.is_integer()):
        raise ValueError(f"bounds of an integer are integers, found ({low:g}, {high:g})")
    if is_log and low <= 0:
        raise ValueError(f"a logarithmic scale needs positive bounds, found ({low:g}, {high:g})")
    return low, high


def checked_values(values: list[Value], scale: object = None) -> tuple[Value, ...]:
    """The values of a categorical or ordered parameter; a ValueError says what is wrong."""
    if scale:
        raise ValueError("only numbers have a logarithmic scale")
    if not values:
        raise ValueError("it has no values")
    texts = [str(value) for value in values]
    for text in texts:
        if texts.count(text) > 1:
            raise ValueError(f"the value '{text}' occurs twice")
    return tuple(values)
