"""irace's conventions: arguments and output of target-runners, files of configurations."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from polarbear.errors import BadOutputError, BudgetExhausted

ARGUMENTS = ("{configuration_id}", "{instance_id}", "{seed}", "{instance}", "{config}")
UNSET = "NA"  # a parameter that a configuration does not use
Line = tuple[int, float, str]  # its number, when it was read, its text


class Output:
    """The lines of a target-runner; the first is held back until there is a second.

    Two numbers on the only line are irace's ``cost time``, otherwise the first ``t y``.
    """

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = lines
        self._held: Line | None = None

    def __iter__(self) -> Iterator[Line]:
        is_first = True
        try:
            for line in self._lines:
                words = line[2].split()
                if not words or words[0].startswith("#"):
                    continue
                if is_first and len(words) == 2:
                    self._held, is_first = line, False
                    continue
                is_first = False
                yield from self._released()
                yield line
        except BudgetExhausted:
            yield from self._released()
            raise

    def _released(self) -> Iterator[Line]:
        if self._held is not None:
            held, self._held = self._held, None
            yield held

    def refuse_cost_and_time(self) -> None:
        """Raise if the only line has two numbers."""
        if self._held is not None:
            raise BadOutputError(
                f"the only line, {self._held[2].strip()[:200]!r}, has two numbers like irace's "
                "'cost time'; PolarBear compares over time: print a line 't y' at every "
                "improvement and, last, the final cost alone"
            )


def configurations(
    path: Path, parameter_file: Path | None = None
) -> list[tuple[str, tuple[str, ...]]]:
    """The label and the arguments of each configuration in a table with a header of names."""
    rows = _table(path)
    if len(rows) < 2:
        raise ValueError(f"{path} has no configuration below its header of parameter names")
    (_, header), *below = rows
    switches = {} if parameter_file is None else _switches(parameter_file)
    found = []
    for position, (number, row) in enumerate(below, 1):
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {number}: {len(row)} values for {len(header)} parameters"
            )
        values = dict(zip(header, row, strict=True))
        label = values.get(".ID.", str(position))
        arguments: list[str] = []
        for name, value in values.items():
            if value == UNSET or name.startswith("."):  # irace's .ID., .PARENT. and others
                continue
            if parameter_file is not None and name not in switches:
                raise ValueError(f"{path}: {parameter_file} does not say how '{name}' is passed")
            arguments += _passed(switches.get(name, f"--{name} "), value)
        found.append((label, tuple(arguments)))
    return found


def _passed(switch: str, value: str) -> list[str]:
    """The arguments for a value; a switch that ends in a blank is a separate argument."""
    return [switch.strip(), value] if switch != switch.rstrip() else [f"{switch}{value}"]


def _switches(path: Path) -> dict[str, str]:
    """The switch of each parameter, from irace's parameter file."""
    found = {}
    for number, line in _lines(path):
        if line.startswith("["):  # options of irace follow
            break
        match = re.match(r'(\S+)\s+"([^"]*)"\s+\S', line)
        if match is None:
            raise ValueError(
                f'{path}, line {number}: expected a name, its "switch", a type and values'
            )
        found[match[1]] = match[2]
    return found


def _table(path: Path) -> list[tuple[int, list[str]]]:
    """Rows of words, each with its line number."""
    rows = []
    for number, line in _lines(path):
        try:
            rows.append((number, shlex.split(line)))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    return rows


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines with content, and their numbers."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    lines = ((n, line.strip()) for n, line in enumerate(text.splitlines(), 1))
    return [(n, line) for n, line in lines if line and not line.startswith("#")]
