"""Reads the log of a run line by line, while the solver runs or afterwards."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple, Self

from polarbear.algorithms.solver_logs.log_format import Ending, LogFormat
from polarbear.numerics.decimal_numbers import decimal_number

MAX_LOG_LINE = 2**20  # characters of a line that are read; solutions are longer than their values
MILLISECONDS = 1e-3
MIN_ROUNDED_DIGITS = 6  # solvers print at least so many of a number that has more
MAX_POWER = 300  # of the unit of a last digit


class LogEntry(NamedTuple):
    """The content of a line: a value, the solver's clock, the end of its search; None if absent.

    The clock has been running since the solver began to read the instance, as far as the log tells
    how long that took. ``resolution`` is one unit of the clock's last digit. With ``is_same`` the
    value is that of the entry before, written with other digits.
    """

    y: float | None
    is_same: bool
    clock: float | None
    resolution: float
    ending: Ending | None


class LogReader:
    """Finds the entries in the log of one run."""

    def __init__(self, log_format: LogFormat) -> None:
        self._format = log_format
        self._reading = 0.0
        self._sign = 1.0
        self._last: Rounded | None = None
        self.n_values = 0  # so far
        self.n_starts = 0  # the runs that have begun in this log
        self._is_silent = False
        self.has_entries = False

    def entry(self, line: str) -> LogEntry | None:
        """The content of the next line; None if it has none."""
        text = line[:MAX_LOG_LINE]
        self._note(text)
        value = _first_match(self._format.values, text)
        time = value
        if value is None or not {"t", "ms"} & {*value.groupdict()}:
            time = _first_match(self._format.clocks, text)
        ending = next((end for pattern, end in self._format.endings if pattern.search(text)), None)
        rounded = self._value(value)
        clock = self._clock(time)
        if rounded is None and clock is None and ending is None:
            return None
        self.has_entries = True
        is_same = False
        if rounded is not None:
            self.n_values += 1
            is_same = self._last is not None and rounded.may_equal(self._last)
            self._last = rounded
        return LogEntry(
            None if rounded is None else rounded.number,
            is_same,
            None if clock is None else self._reading + clock.number,
            0.0 if clock is None else clock.unit,
            ending,
        )

    @property
    def remedy(self) -> str:
        """What to do if the solver was not told to print its values; otherwise empty."""
        if self._format.silent is None or not self._is_silent or self.n_values:
            return ""
        return self._format.silent[1]

    def _note(self, text: str) -> None:
        """Remember what a line says about the lines that follow."""
        layout = self._format
        if layout.start is not None and layout.start.search(text):
            self.n_starts += 1
            self.has_entries = True
        if layout.maximising is not None and layout.maximising.search(text):
            self._sign = -1.0
        if layout.silent is not None and layout.silent[0].search(text):
            self._is_silent = True
        if layout.reading is not None:
            match = layout.reading.search(text)
            seconds = None if match is None else _rounded(match["t"])
            if seconds is not None:
                self._reading = seconds.number

    def _value(self, match: re.Match[str] | None) -> "Rounded | None":
        groups = {} if match is None else match.groupdict()
        if groups.get("internal") is not None:
            return _rounded(groups["internal"], self._sign)
        return _rounded(groups.get("y"))

    def _clock(self, match: re.Match[str] | None) -> "Rounded | None":
        """The solver's clock."""
        groups = {} if match is None else match.groupdict()
        if groups.get("ms") is not None:
            return _rounded(groups["ms"], MILLISECONDS)
        return _rounded(groups.get("t"))


class Rounded(NamedTuple):
    """A number, one unit of the last digit that it was written with, and how many there are."""

    number: float
    unit: float
    digits: int

    @property
    def error(self) -> float:
        """The largest error of rounding; a number with few digits was not rounded."""
        return self.unit / 2 if self.digits >= MIN_ROUNDED_DIGITS else 0.0

    def may_equal(self, other: "Rounded") -> bool:
        """Whether both may be the same number with other digits."""
        return abs(self.number - other.number) <= max(self.error, other.error)


def _first_match(patterns: Iterable[re.Pattern[str]], text: str) -> re.Match[str] | None:
    matches = (pattern.search(text) for pattern in patterns)
    return next((match for match in matches if match is not None), None)


def _rounded(text: str | None, factor: float = 1.0) -> Rounded | None:
    """The number that a group matched, times a factor; None if it is none or not finite."""
    plain = (text or "").replace(",", ".")
    try:
        number = decimal_number(plain)
    except ValueError:
        return None
    if not isfinite(number):
        return None
    mantissa, _, exponent = plain.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    power = min(max(int(exponent or 0) - decimals, -MAX_POWER), MAX_POWER)
    return Rounded(factor * number, abs(factor) * 10.0**power, _count_digits(mantissa))


def _count_digits(mantissa: str) -> int:
    """The number of significant digits."""
    return len(mantissa.lstrip("+-0.").replace(".", ""))


class LoggedPoint(NamedTuple):
    """An incumbent in a log, with the number of its line."""

    t: float
    y: float
    line: int


@dataclass
class LoggedRun:
    """A run as its log tells it, by the solver's clock.

    An entry without a time counts from the next time in the log, since the solver had the value by
    then, or from the last time if the search had ended.
    """

    log_format: LogFormat
    points: list[LoggedPoint] = field(default_factory=list)
    end: float | None = None  # the last time in the log
    ending: Ending | None = None
    untimed: list[int] = field(default_factory=list)  # lines with a value whose time is unknown
    other_start: int | None = None  # the line at which another run begins
    incomplete: int | None = None  # the last line, if it was cut off and had an entry

    def __post_init__(self) -> None:
        self._reader = LogReader(self.log_format)
        self._waiting: list[tuple[float, int]] = []

    def read(self, lines: Iterable[str]) -> Self:
        """Read all lines of the log, each but the last one with its end."""
        for number, line in enumerate(lines, 1):
            entry = self._reader.entry(line)
            if self._reader.n_starts > 1 and self.other_start is None:
                self.other_start = number
            if entry is not None:
                self._take(entry, number, is_complete=line.endswith("\n"))
        if self.end is not None and self.ending is not None:
            self._place()
        self.untimed = [number for _, number in self._waiting]
        return self

    @property
    def has_entries(self) -> bool:
        """Whether any line is one of such a log."""
        return self._reader.has_entries

    @property
    def has_start(self) -> bool:
        """Whether a line says that it is such a log."""
        return self._reader.n_starts > 0

    @property
    def remedy(self) -> str:
        """What to do if the solver was not told to print its values; otherwise empty."""
        return self._reader.remedy

    def _take(self, entry: LogEntry, number: int, is_complete: bool) -> None:
        # A part of a status may look like one that is not listed.
        is_certain = is_complete or entry.ending is not Ending.ENDED
        if entry.ending is not None and self.ending is None and is_certain:
            self.ending = entry.ending
        if entry.y is None and entry.clock is None:
            return
        if not is_complete:  # the number may lack digits
            self.incomplete = number
            return
        if entry.y is not None and not entry.is_same:
            self._waiting.append((entry.y, number))
        if entry.clock is not None:
            self.end = max(self.end or 0.0, entry.clock)
            self._place()

    def _place(self) -> None:
        """Give the values that wait for a time the present one."""
        assert self.end is not None
        self.points += [LoggedPoint(self.end, y, line) for y, line in self._waiting]
        self._waiting.clear()
