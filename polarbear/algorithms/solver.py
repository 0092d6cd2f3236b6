"""Solvers of other packages that report every incumbent by a callback, and read instances as files.

They are timed by the recorder, not by themselves. Time begins when a solver receives the name of
the file, so that reading it counts. Each run has a process of its own: some solvers cannot be
loaded beside each other.
"""

import importlib
from abc import abstractmethod
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from polarbear.algorithms.base import Algorithm, SearchEnded, Trial
from polarbear.algorithms.solver_logs.log_format import Ending
from polarbear.errors import AlgorithmError, BudgetExhausted, MissingExtraError
from polarbear.problems.base import Setting
from polarbear.settings.grid import SECONDS

LARGEST_SEED = 2**31  # exclusive; solvers take signed 32-bit integers
# Solvers with tolerances give the value of one solution with other last digits. Nine digits are
# more than their tolerances promise, so that a difference beyond them is none.
SIGNIFICANT_DIGITS = 9
# A solver that ends at its time limit must not end before the run, on its own clock.
EXTRA_SECONDS = 0.05


class Incumbents:
    """The incumbents of one run: a solver's callback gives their values, and asks when to stop.

    Nothing is raised in a callback, since solvers do not pass exceptions on.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._error: BaseException | None = None

    def add(self, value: float) -> None:
        """Record the value of a new incumbent at this moment."""
        if self._error is not None:
            return
        try:
            self._trial.report(self._trial.elapsed(), value)
        except BaseException as error:
            self._error = error

    def add_rounded(self, value: float) -> None:
        """Record a value that is exact up to a tolerance."""
        self.add(float(f"{value:.{SIGNIFICANT_DIGITS}g}"))

    @property
    def seconds_left(self) -> float:
        """Seconds until the end of the run."""
        return max(0.0, self._trial.until - self._trial.elapsed())

    @property
    def time_limit(self) -> float:
        """The time limit for the solver, a moment after the end of the run."""
        return self.seconds_left + EXTRA_SECONDS

    @property
    def must_stop(self) -> bool:
        """Whether the run is over, by its budget or by an error."""
        return self._error is not None or self.seconds_left <= 0.0

    def raise_if_over(self) -> None:
        """Raise what a callback could not, and BudgetExhausted at the end of the budget."""
        if self._error is not None:
            raise self._error
        if self.seconds_left <= 0.0:
            raise BudgetExhausted


class Solver(Algorithm):
    """A solver of another package; subclasses are adapters."""

    options: dict[str, Any] = Field(
        {}, description="the solver's own options by their names, passed on as they are"
    )

    needs_own_process: ClassVar[bool] = True
    module: ClassVar[str]  # the module that is imported, of the package `library`
    title: ClassVar[str]  # the solver as its authors write it
    endings: ClassVar[tuple[str, ...]]  # of the files that it reads

    def prepare(self, setting: Setting) -> None:
        assert self.library is not None, "a solver is a package"
        if find_spec(self.library) is None:
            raise MissingExtraError(f"adapter '{self.use}'", self.library, "solvers")
        if setting.budget.axis != SECONDS:
            raise AlgorithmError(
                f"'{self.name}': {self.title} is timed in seconds, but the axis is "
                f"'{setting.budget.axis}': set budget.axis to '{SECONDS}'"
            )
        self.check_options()

    def load(self) -> None:
        self.package()

    def package(self, module: str = "") -> Any:
        """The solver's module, or another one that comes with it."""
        try:
            return importlib.import_module(module or self.module)
        except ImportError as error:
            raise AlgorithmError(
                f"'{self.name}': {self.title} cannot be loaded into this process ({error}); in "
                "worker processes every run has a process of its own"
            ) from error

    def refuse(self, reason: object) -> AlgorithmError:
        """The error about an option."""
        return AlgorithmError(f"'{self.name}': {self.title}: {reason}")

    def run(self, trial: Trial, setting: Setting) -> None:
        path = Path(setting.folder) / trial.problem
        if not path.is_file():
            raise AlgorithmError(f"there is no file {path}")
        if not path.name.endswith(self.endings):
            endings = ", ".join(self.endings)
            raise AlgorithmError(f"{self.title} reads files that end in {endings}, not {path.name}")
        incumbents = Incumbents(trial)
        ending = self.solve(path, trial, incumbents)
        incumbents.raise_if_over()
        raise SearchEnded(ending)

    def check_sense(self, is_maximised: bool, trial: Trial) -> None:
        """Raise if the file and the suite disagree about what is better."""
        if is_maximised != trial.maximise:
            direction = "maximised" if is_maximised else "minimised"
            value = str(is_maximised).lower()
            raise AlgorithmError(
                f"the objective of {trial.instance.id} is {direction}: set instances.maximise to "
                f"{value}"
            )

    @abstractmethod
    def check_options(self) -> None:
        """Raise if the solver does not know an option or refuses its value."""

    @abstractmethod
    def solve(self, path: Path, trial: Trial, incumbents: Incumbents) -> Ending:
        """Read the instance and solve it until it is solved or must stop; return how it ended."""


def solver_seed(trial: Trial) -> int:
    """The seed of a run as solvers take it."""
    return trial.seed % LARGEST_SEED
