"""An algorithm that is a program of any kind, run without a shell.

It prints a line ``t y`` at every improvement, to standard output or, if its command names
``{output}``, into that file. Empty lines and lines that start with # are passed over.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO, Any, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from polarbear.algorithms import irace
from polarbear.algorithms.base import Algorithm, Trial
from polarbear.algorithms.listening import LastWords, lines_of
from polarbear.algorithms.signals import killed_from_outside
from polarbear.errors import (
    AlgorithmError,
    BadOutputError,
    BudgetExhausted,
    KilledFromOutsideError,
)
from polarbear.problems.base import Kind, Setting
from polarbear.settings.fingerprint import MadeOf, of_files
from polarbear.settings.grid import SECONDS
from polarbear.settings.options import unknown

PLACEHOLDERS = ("instance", "seed", "budget", "config", "output")


class Command(Algorithm):
    """Any executable; it gets its arguments by placeholders and prints its improvements."""

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
            raise ValueError("'parameter_file' goes with 'configurations', which are not given")
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
            raise ValueError("a label is one algorithm's; each of these is called by its name")
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
    def _told_budget(self) -> bool:
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
            errors = LastWords()
            begun = time.perf_counter()
            with _started(arguments, setting.folder, written is None) as process:
                deadline = begun + trial.until if trial.axis == SECONDS else float("inf")
                if self.time == "reported":
                    deadline += 1.0 + 0.05 * trial.until  # its clock may be slower than ours
                lines = lines_of(process, written, errors, deadline)
                timed = (
                    (number, time.perf_counter() - begun, line)
                    for number, line in enumerate(lines, 1)
                )
                output = irace.Output(timed) if self.protocol == "irace" else None
                for number, elapsed, line in output or timed:
                    self._take(line, number, elapsed, trial)
                code = _end_group(process)
                if killed_from_outside(code):
                    raise KilledFromOutsideError(_obituary(arguments[0], code, errors))
                if code != 0:
                    raise AlgorithmError(_obituary(arguments[0], code, errors))
        if output is not None:
            output.refuse_cost_and_time()
        if self._told_budget:
            raise BudgetExhausted  # it stopped because we told it where to

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
    """A file that a program can write to, and that is read meanwhile."""
    try:
        scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    except OSError as error:
        raise AlgorithmError(
            f"cannot make a file for {{output}} in {tempfile.gettempdir()}: {error.strerror}"
        ) from None
    with scratch as folder:
        path = Path(folder) / "output"
        path.touch()
        with path.open("rb") as file:
            yield file


@contextmanager
def _started(arguments: list[str], folder: str, prints: bool) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a process group of its own, which does not outlive the run."""
    try:
        process = subprocess.Popen(
            arguments,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if prints else subprocess.DEVNULL,
            stderr=subprocess.PIPE,  # no file: a full disk is not the program's failure
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AlgorithmError(f"cannot start {shlex.join(arguments)}: {reason}") from None
    try:
        yield process
    finally:
        _end_group(process)
        for stream in filter(None, (process.stdout, process.stderr)):
            stream.close()


def _end_group(process: subprocess.Popen[bytes]) -> int:
    """Kill what is left of a program's process group, then bury the program; its exit code.

    In this order: the number of one that is buried may be somebody else's.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def _obituary(program: str, code: int, errors: LastWords) -> str:
    """The exit code of a program that failed, and its last words."""
    how = f"ended with exit code {code}" if code > 0 else f"was killed by signal {-code}"
    return f"{program} {how}" + (f"; its last words: {errors}" if str(errors) else "")
