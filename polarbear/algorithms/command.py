"""Algorithms that are programs, run without a shell.

A program prints a line ``t y`` at every improvement, to standard output or, if its command contains
``{output}``, to that file. Empty lines and lines that start with # are ignored.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from polarbear.algorithms import irace
from polarbear.algorithms.base import Algorithm, Trial
from polarbear.algorithms.program import Program
from polarbear.errors import AlgorithmError, BadOutputError, BudgetExhausted
from polarbear.problems.base import Kind, Setting
from polarbear.settings.fingerprint import MadeOf, of_files
from polarbear.settings.grid import SECONDS
from polarbear.settings.options import unknown

PLACEHOLDERS = ("instance", "seed", "budget", "config", "output")


class Command(Algorithm):
    """Any executable; placeholders become its arguments, and it prints its improvements."""

    command: tuple[str, ...] = Field(
        min_length=1,
        description="the program and its arguments, as a list or a line; {instance} {seed} "
        "{budget} {config} are filled in, and {output} is a file to write to instead of printing",
    )
    parameters: tuple[str, ...] = Field(
        (), description="the arguments that stand in for {config}, as a list or a line"
    )
    protocol: Literal["plain", "irace"] = Field(
        "plain",
        description="'irace' appends the arguments irace gives a target-runner: configuration id, "
        "instance id, seed, instance, parameters; a last line with only the final cost is "
        "accepted, and all algorithms get the same seed on an instance",
    )
    configurations: str | None = Field(
        None,
        description="a file of configurations as irace reads it, with a header of parameter names; "
        "each becomes an algorithm of its own, with its number after the name",
    )
    parameter_file: str | None = Field(
        None,
        description="irace's parameter file, for how each parameter of 'configurations' is passed; "
        "by default as --NAME VALUE",
    )
    time: Literal["reported", "measured"] = Field(
        "reported",
        description="on the seconds axis: t as the program prints it, or as we read its line",
    )

    accepts: ClassVar[frozenset[Kind]] = frozenset(Kind) - {Kind.SCORES}
    reports_any_axis: ClassVar[bool] = True

    @field_validator(
        "command", "parameters", mode="before", json_schema_input_type=str | list[str | int | float]
    )
    @classmethod
    def _split(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(shlex.split(value))
        if isinstance(value, list):
            return tuple(str(v) if isinstance(v, int | float) else v for v in value)
        return value

    @model_validator(mode="after")
    def _known_placeholders(self) -> Command:
        for argument in (*self.command, *self.parameters):
            for name in re.findall(r"\{(\w+)\}", argument):
                if name not in PLACEHOLDERS:
                    raise ValueError(unknown("placeholder", name, PLACEHOLDERS))
        if self.time == "measured" and self._writes_file:
            raise ValueError("time: measured needs standard output, not {output}")
        if self.parameter_file is not None and self.configurations is None:
            raise ValueError("'parameter_file' needs 'configurations', which are not given")
        return self

    @property
    def common_seed(self) -> bool:
        return self.protocol == "irace"

    def variants(self, folder: str) -> tuple[Algorithm, ...]:
        if self.configurations is None:
            return (self,)
        place = Path(folder)
        described = None if self.parameter_file is None else place / self.parameter_file
        if self.label is not None:
            raise ValueError(
                "'label' names one algorithm; 'configurations' are labelled by their names"
            )
        return tuple(
            self.model_copy(
                update={
                    "name": f"{self.name} {number}",
                    "parameters": (*self.parameters, *arguments),
                    "configurations": None,
                    "parameter_file": None,
                }
            )
            for number, arguments in irace.configurations(place / self.configurations, described)
        )

    @property
    def _writes_file(self) -> bool:
        return any("{output}" in argument for argument in (*self.command, *self.parameters))

    @property
    def _receives_budget(self) -> bool:
        return any("{budget}" in argument for argument in (*self.command, *self.parameters))

    def prepare(self, setting: Setting) -> None:
        program = self.command[0]
        path = Path(setting.folder) / program
        if os.sep in program:
            if not path.is_file():
                raise AlgorithmError(f"'{self.name}': there is no program {path}")
            if not os.access(path, os.X_OK):
                raise AlgorithmError(f"'{self.name}': {path} is not executable: chmod +x {path}")
        elif shutil.which(program) is None:
            raise AlgorithmError(
                f"'{self.name}': the program '{program}' is not on the PATH; one beside the "
                f"configuration is called './{program}'"
            )

    def made_of(self, setting: Setting) -> MadeOf:
        """The program, and the files that its command names."""
        program = self.command[0]
        where = Path(setting.folder) / program if os.sep in program else shutil.which(program)
        named = [
            Path(setting.folder) / part
            for argument in (*self.command[1:], *self.parameters)
            for part in (argument, argument.partition("=")[2])
            if part
        ]
        files = [path for path in (*([Path(where)] if where else []), *named) if path.is_file()]
        return of_files(files, setting.folder)

    def arguments(self, trial: Trial, setting: Setting, output: str) -> list[str]:
        """The command line of one run."""
        values = {
            "instance": trial.instance.id,
            "seed": str(trial.seed),
            "budget": f"{trial.budget:.15g}",
            "output": output,
            "configuration_id": str(setting.algorithms.index(self.name) + 1),
            "instance_id": str(trial.instance.index + 1),
        }
        parameters = [_filled(argument, values) for argument in self.parameters]
        values["config"] = shlex.join(parameters)
        found: list[str] = []
        for argument in (*self.command, *(irace.ARGUMENTS if self.protocol == "irace" else ())):
            found += parameters if argument == "{config}" else [_filled(argument, values)]
        if os.sep in found[0]:
            found[0] = str(Path(setting.folder) / found[0])
        return found

    def run(self, trial: Trial, setting: Setting) -> None:
        with _output_file() if self._writes_file else nullcontext() as written:
            arguments = self.arguments(trial, setting, written.name if written else "")
            begun = time.perf_counter()
            deadline = begun + trial.until if trial.axis == SECONDS else float("inf")
            if self.time == "reported":
                deadline += 1.0 + 0.05 * trial.until  # its clock may be slower than ours
            with Program(arguments, setting.folder, written) as program:
                timed = (
                    (number, time.perf_counter() - begun, line)
                    for number, line in enumerate(program.lines(deadline), 1)
                )
                output = irace.Output(timed) if self.protocol == "irace" else None
                for number, elapsed, line in output or timed:
                    self._take(line, number, elapsed, trial)
                program.check_exit()
        if output is not None:
            output.refuse_cost_and_time()
        if self._receives_budget:
            raise BudgetExhausted  # it ended because of the budget in its command

    def _take(self, line: str, number: int, elapsed: float, trial: Trial) -> None:
        words = line.split()
        if not words or words[0].startswith("#"):
            return
        try:
            numbers = [float(word) for word in words]
        except ValueError:
            numbers = []
        if self.time == "measured" and trial.axis == SECONDS and len(numbers) in (1, 2):
            trial.report(elapsed, numbers[-1])
        elif self.protocol == "irace" and len(numbers) == 1:
            trial.report(trial.budget, numbers[0])
        elif len(numbers) == 2:
            trial.report(*numbers)
        else:
            raise BadOutputError(
                f"line {number} of the output is not two numbers 't y': {line.strip()[:200]!r}"
            )


def _filled(argument: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], argument)


@contextmanager
def _output_file() -> Iterator[IO[bytes]]:
    """A file that a program writes while it is read."""
    try:
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    except OSError as error:
        raise AlgorithmError(
            f"cannot create a file for {{output}} in {tempfile.gettempdir()}: {error.strerror}"
        ) from None
    with scratch as folder:
        path = Path(folder) / "output"
        path.touch()
        with path.open("rb") as file:
            yield file
