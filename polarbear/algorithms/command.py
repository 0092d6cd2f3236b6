"""Algorithms that are programs, run without a shell.

A program prints a line ``t y``, or ``t y violation`` with constraints, at every improvement, to
standard output or, if its command contains ``{output}``, to that file. With several objectives a
line is ``t y1 y2``, or ``t y1 y2 violation``. Empty lines and lines that start with # are ignored.
With ``read`` its output is the log of a solver.
"""

import os
import re
import shlex
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from polarbear.algorithms import irace
from polarbear.algorithms.base import Algorithm, SearchEnded, Trial
from polarbear.algorithms.program import Program
from polarbear.algorithms.solver_logs.log_format import (
    EXPRESSION,
    Ending,
    LogFormat,
    named_log,
)
from polarbear.algorithms.solver_logs.running_log import LogClock, RunningLog
from polarbear.errors import AlgorithmError, BadOutputError, BudgetExhausted
from polarbear.numerics.decimal_numbers import decimal_number
from polarbear.numerics.processor_time import ProcessorClock
from polarbear.problems.base import Kind, Setting
from polarbear.settings.fingerprint import MadeOf, of_files
from polarbear.settings.grid import CPU_SECONDS, SECONDS, TIMED_AXES
from polarbear.settings.options import unknown
from polarbear.spaces import Space, Values

PLACEHOLDERS = ("instance", "seed", "budget", "config", "output")
# A program that reports seconds is killed some time after its budget, as its clock starts later.
MAX_LATE_SECONDS = 0.1
MAX_LATE_SHARE = 0.05  # of the budget


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
        "each becomes a separate algorithm, with its number after the name",
    )
    parameter_file: str | None = Field(
        None,
        description="irace's parameter file, for how each parameter of 'configurations' is passed; "
        "by default as --NAME VALUE",
    )
    read: str | None = Field(
        None,
        description="its output is the log of a solver: o-lines, highs, scip, cbc, gurobi, cplex, "
        "cp-sat, minizinc, or a regular expression with the groups t and y; null for lines 't y'",
    )
    time: Literal["reported", "measured"] = Field(
        "reported",
        description="in seconds or cpu-seconds: t as the program prints it, or as we read its line",
    )

    accepts: ClassVar[frozenset[Kind]] = frozenset(Kind) - {Kind.SCORES}
    reports_any_axis: ClassVar[bool] = True
    accepts_objectives: ClassVar[bool] = True

    @field_validator(
        "command", "parameters", mode="before", json_schema_input_type=str | list[str | int | float]
    )
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(shlex.split(value))
        if isinstance(value, list):
            return tuple(str(v) if isinstance(v, int | float) else v for v in value)
        return value

    @field_validator("read")
    @classmethod
    def _known_log(cls, read: str | None) -> str | None:
        if read is not None:
            named_log(read)
        return read

    @model_validator(mode="after")
    def _known_placeholders(self) -> Self:
        for argument in (*self.command, *self.parameters):
            for name in re.findall(r"\{(\w+)\}", argument):
                if name not in PLACEHOLDERS:
                    raise ValueError(unknown("placeholder", name, PLACEHOLDERS))
        if self.time == "measured" and self._receives("{output}"):
            raise ValueError("time: measured needs standard output, not {output}")
        if self.parameter_file is not None and self.configurations is None:
            raise ValueError("'parameter_file' needs 'configurations', which are not given")
        if self.space is not None and self.configurations is not None:
            raise ValueError(
                "configurations of a 'space' are 'given'; 'configurations' are algorithms without "
                "one: choose one"
            )
        if self.protocol == "irace" and self.read is not None:
            raise ValueError("a target-runner of irace prints no log: leave out 'read'")
        return self

    @property
    def common_seed(self) -> bool:
        return self.protocol == "irace"

    @property
    def receives_budget(self) -> bool:
        return self._receives("{budget}")

    def variants(self, folder: str) -> tuple[Self, ...]:
        if self.configurations is None:
            return (self,)
        if self.label is not None:
            raise ValueError(
                "'label' names one algorithm; 'configurations' are labelled by their names"
            )
        table = Path(folder) / self.configurations
        parameter_file = None
        if self.parameter_file is not None:
            parameter_file = Path(folder) / self.parameter_file
        return tuple(
            self.model_copy(
                update={
                    "name": f"{self.name} {number}",
                    "parameters": (*self.parameters, *arguments),
                    "configurations": None,
                    "parameter_file": None,
                }
            )
            for number, arguments in irace.configurations(table, parameter_file)
        )

    def own_values(self, space: Space) -> dict[str, Any]:
        """None: arguments of a program are not taken apart."""
        return {}

    def configured(self, name: str, values: Values, space: Space) -> Self:
        """The same program with the values of a configuration after its other parameters."""
        if self.protocol != "irace" and not self._receives("{config}"):
            raise ValueError(
                "the values of its space stand in for {config}, which its command lacks"
            )
        arguments: list[str] = []
        for parameter in space.parameters:
            if parameter.name in values:
                value = values[parameter.name]
                arguments += irace.passed(parameter.name, value, parameter.switch)
        return self.model_copy(
            update={
                "name": name,
                "label": None,
                "parameters": (*self.parameters, *arguments),
                "space": None,
                "given": None,
            }
        )

    def _receives(self, placeholder: str) -> bool:
        return any(placeholder in argument for argument in (*self.command, *self.parameters))

    def prepare(self, setting: Setting) -> None:
        if self.read is not None:
            self._check_axis(named_log(self.read), setting.budget.axis)
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

    def _check_axis(self, log_format: LogFormat, axis: str) -> None:
        """Refuse an axis whose times are not in the log."""
        tells_times = log_format.name == EXPRESSION and log_format.has_times
        if axis not in TIMED_AXES and not tells_times:
            raise AlgorithmError(
                f"'{self.name}': the log that 'read: {self.read}' reads has no times in {axis}: "
                f"use 'axis: {SECONDS}', or a regular expression with a group t"
            )

    def made_of(self, setting: Setting) -> MadeOf:
        """The program, and the files that its command names."""
        folder = Path(setting.folder)
        program = self.command[0]
        paths: list[Path] = []
        if os.sep in program:
            paths.append(folder / program)
        elif (on_path := shutil.which(program)) is not None:
            paths.append(Path(on_path))
        for argument in (*self.command[1:], *self.parameters):
            value = argument.partition("=")[2]
            paths += [folder / part for part in (argument, value) if part]
        return of_files([path for path in paths if path.is_file()], setting.folder)

    def arguments(self, trial: Trial, setting: Setting, output: str) -> list[str]:
        """The command line of one run."""
        values = {
            # The path of its file, or its name.
            "instance": trial.problem if isinstance(trial.problem, str) else trial.instance.id,
            "seed": str(trial.seed),
            "budget": f"{trial.budget:.15g}",
            "output": output,
            "configuration_id": str(setting.algorithms.index(self.name) + 1),
            "instance_id": str(trial.instance.index + 1),
        }
        parameters = [_filled(argument, values) for argument in self.parameters]
        values["config"] = shlex.join(parameters)
        templates = list(self.command)
        if self.protocol == "irace":
            templates += irace.ARGUMENTS
        arguments: list[str] = []
        for template in templates:
            arguments += parameters if template == "{config}" else [_filled(template, values)]
        if os.sep in arguments[0]:
            arguments[0] = str(Path(setting.folder) / arguments[0])
        return arguments

    def run(self, trial: Trial, setting: Setting) -> None:
        with ExitStack() as stack:
            written = None
            if self._receives("{output}"):
                temporary = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
                path = Path(stack.enter_context(temporary)) / "output"
                path.touch()
                written = stack.enter_context(path.open("rb"))
            arguments = self.arguments(trial, setting, written.name if written else "")
            clock = time.perf_counter
            if trial.axis == CPU_SECONDS:
                clock = ProcessorClock(includes_this_process=False).now
            cuts_long_lines = self.read is not None
            program = stack.enter_context(
                Program(arguments, setting.folder, written, cuts_long_lines, clock)
            )
            if self.read is None:
                self._take_lines(program, trial)
            else:
                self._take_log(named_log(self.read), program, trial)
        if self.receives_budget:
            raise BudgetExhausted  # it ended because of the budget in its command

    def _take_lines(self, program: Program, trial: Trial) -> None:
        """Report the improvements that a program prints as lines 't y'."""

        def read_lines() -> Iterator[irace.Line]:
            number = 0
            for lines in program.lines(self._limit(trial)):
                for line in lines:
                    number += 1
                    yield number, program.seconds(), line

        lines = read_lines()
        if self.protocol == "irace":
            lines = irace.output(lines, program.check_exit)
        for number, elapsed, line in lines:
            self._take(line, number, elapsed, trial)
        program.check_exit()

    def _take_log(self, log_format: LogFormat, program: Program, trial: Trial) -> None:
        """Report the incumbents in a solver's log, and how the solver ended its search."""
        log = RunningLog(log_format, self._clock_of_log(trial.axis))
        try:
            for lines in program.lines(self._limit(trial)):
                for t, y in log.values(lines, program.seconds()):
                    trial.report(t, y)
            program.check_exit(log_format.exit_codes)
        except BudgetExhausted:
            if not log.has_proof:
                raise
        if log.flaw:
            raise BadOutputError(f"'read: {self.read}' cannot use the output: {log.flaw}")
        has_used_budget = log.ending is Ending.LIMIT and self.receives_budget
        if log.ending is not None and not has_used_budget:
            raise SearchEnded(log.ending, log.end)

    def _clock_of_log(self, axis: str) -> LogClock:
        """The clock that tells the times of values in a log, which counts seconds."""
        if axis not in TIMED_AXES:
            return LogClock.LOG
        if axis == SECONDS and self.time == "reported":
            return LogClock.BOTH
        return LogClock.ARRIVAL

    def _limit(self, trial: Trial) -> float:
        """The time at which the program is killed, by the clock of the axis."""
        if trial.axis not in TIMED_AXES:
            return float("inf")
        if self.time == "measured":
            return trial.until
        return trial.until + MAX_LATE_SECONDS + MAX_LATE_SHARE * trial.until

    def _take(self, line: str, number: int, elapsed: float, trial: Trial) -> None:
        """Report the improvement that a line of output describes, if any."""
        words = line.split()
        if not words or words[0].startswith("#"):
            return
        try:
            numbers = [decimal_number(word) for word in words]
        except ValueError:
            numbers = []
        n_objectives = trial.n_objectives
        is_measured = self.time == "measured" and trial.axis in TIMED_AXES
        if is_measured and len(numbers) == n_objectives:
            _report(elapsed, numbers, trial)
        elif self.protocol == "irace" and len(numbers) == n_objectives == 1:
            trial.report(trial.budget, numbers[0])
        elif len(numbers) in (n_objectives + 1, n_objectives + 2):
            _report(elapsed if is_measured else numbers[0], numbers[1:], trial)
        else:
            raise BadOutputError(
                f"line {number} of the output is not {_form_of_line(n_objectives)}: "
                f"{line.strip()[:200]!r}"
            )


def _report(t: float, numbers: list[float], trial: Trial) -> None:
    """Report the values at a time, which may be followed by a violation."""
    n_objectives = trial.n_objectives
    values = numbers[0] if n_objectives == 1 else numbers[:n_objectives]
    trial.report(t, values, *numbers[n_objectives:])


def _form_of_line(n_objectives: int) -> str:
    """The form of a line of output, in words."""
    if n_objectives == 1:
        return "two numbers 't y', or three 't y violation'"
    values = " ".join(f"y{k}" for k in range(1, n_objectives + 1))
    return (
        f"{n_objectives + 1} numbers 't {values}', or {n_objectives + 2} with a violation after "
        "these"
    )


def _filled(argument: str, values: dict[str, str]) -> str:
    """An argument whose placeholders are replaced by their values."""
    return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], argument)
