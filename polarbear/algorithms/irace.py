"""irace's conventions: arguments and output of target-runners, files of configurations."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from polarbear.errors import BadOutputError, BudgetExhausted

ARGUMENTS = ("{configuration_id}", "{instance_id}", "{seed}", "{instance}", "{config}")
UNSET = "NA"  # a parameter that a configuration does not use
Line = tuple[int, float, str]  # its number, when it was read, its text


def output(lines: Iterable[Line], check_exit: Callable[[], None]) -> Iterator[Line]:
    """The lines of a target-runner; the first is held back until there is a second.

    Two numbers on the only line are irace's ``cost time``, which is refused; otherwise ``t y``.
    """
    content = (line for line in lines if line[2].strip() and not line[2].strip().startswith("#"))
    for first in content:
        if len(first[2].split()) == 2:
            try:
                second = next(content, None)
            except BudgetExhausted:
                yield first
                raise
            if second is None:
                check_exit()
                raise BadOutputError(
                    f"the only line, {first[2].strip()[:200]!r}, has two numbers like irace's "
                    "'cost time'; PolarBear compares over time: print a line 't y' at every "
                    "improvement and, last, the final cost alone"
                )
            yield from (first, second)
        else:
            yield first
        yield from content


def passed(name: str, value: object, switch: str | None) -> list[str]:
    """The arguments that pass the value of a parameter to a program."""
    if switch is None:
        switch = f"--{name} "
    # A switch that ends in a blank is a separate argument.
    return [switch.strip(), str(value)] if switch[-1:] == " " else [f"{switch}{value}"]


def configurations(
    path: Path, parameter_file: Path | None = None
) -> list[tuple[str, tuple[str, ...]]]:
    """The label and the arguments of each configuration in a table with a header of names."""
    switches = {} if parameter_file is None else _switches(parameter_file)
    labelled_arguments = []
    for position, values in enumerate(table_rows(path), 1):
        arguments: list[str] = []
        for name, value in values.items():
            if is_unset(name, value):
                continue
            if parameter_file is not None and name not in switches:
                raise ValueError(f"{path}: {parameter_file} does not say how '{name}' is passed")
            arguments += passed(name, value, switches.get(name))
        labelled_arguments.append((values.get(".ID.", str(position)), tuple(arguments)))
    return labelled_arguments


def is_unset(name: str, value: str) -> bool:
    """Whether a cell is no value of a parameter, as in irace's .ID., .PARENT. and others."""
    return value == UNSET or name.startswith(".")


def table_rows(path: Path) -> list[dict[str, str]]:
    """The configurations of a table with a header of names; a ValueError says what is wrong."""
    try:
        rows = [(number, shlex.split(line)) for number, line in _lines(path)]
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if len(rows) < 2:
        raise ValueError(f"{path} has no configuration below its header of parameter names")
    _, header = rows[0]
    configurations = []
    for number, row in rows[1:]:
        if len(row) != len(header):
            raise ValueError(
                f"{path}, line {number}: {len(row)} values for {len(header)} parameters"
            )
        configurations.append(dict(zip(header, row, strict=True)))
    return configurations


def _switches(path: Path) -> dict[str, str]:
    """The switch of each parameter, from irace's parameter file."""
    switches = {}
    for number, line in _lines(path):
        if line.startswith("["):  # options of irace follow
            break
        match = re.match(r'(\S+)\s+"([^"]*)"\s+\S', line)
        if match is None:
            raise ValueError(
                f'{path}, line {number}: expected a name, its "switch", a type and values'
            )
        switches[match[1]] = match[2]
    return switches


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines with content, and their numbers."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {path}: {error}") from None
    numbered = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1)]
    return [(number, line) for number, line in numbered if line and not line.startswith("#")]
