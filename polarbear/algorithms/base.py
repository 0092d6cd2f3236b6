"""Base classes: an algorithm, and one run as its adapter sees it; a check of options."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar, Self, cast

import numpy as np
from pydantic import Field, field_validator

from polarbear.algorithms.solver_logs.log_format import Ending
from polarbear.errors import AlgorithmError, BudgetExhausted
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Instance, Kind, Setting, is_polarbears
from polarbear.settings.contract import OptionalContract
from polarbear.settings.fingerprint import MadeOf, of_packages
from polarbear.settings.names import LONGEST_LABEL, checked_name
from polarbear.settings.options import Options, Source, key_names, unknown, validate
from polarbear.spaces import Space, Values

EvaluateAll = Callable[[Any], list[float]]
Search = Callable[[EvaluateAll, Floats, Floats, int], None]
TRIED_EVALUATIONS = 50  # of a search that tries options


class SearchEnded(BaseException):
    """Raised by an algorithm that knows how its search has ended, which ends its run.

    ``t`` is the time of the end on the axis; by default that of the last value. A BaseException, so
    that ``except Exception`` around a callback does not catch it.
    """

    def __init__(self, ending: Ending | str, t: float | None = None) -> None:
        super().__init__(str(ending))
        self.ending = Ending(ending)
        self.t = t


@dataclass(frozen=True)
class Trial:
    """One run as an adapter sees it.

    Calling it evaluates the objective, always to be minimised. The call that would exceed the
    budget raises BudgetExhausted, which the algorithm must not catch. Algorithms that evaluate
    elsewhere (programs, or on another axis) report improvements.
    """

    evaluate: Callable[[Any], float]
    # Takes t on the axis and the objective value; ``violation`` is that of constraints.
    report: Callable[..., None]
    instance: Instance
    seed: int
    axis: str
    # The whole budget, even if this run ends earlier; of a contract algorithm that of this run.
    budget: float
    problem: Any  # as built by the suite; evaluating it directly is not recorded
    lower: Floats | None = None
    upper: Floats | None = None
    kind: Kind = Kind.CONTINUOUS
    maximise: bool = False  # if so, ``evaluate`` returns negated values
    until: float = inf  # this run ends at this time
    # Evaluates a population in one call, if the problem can and the axis is not seconds.
    at_once: Callable[[Any], list[float]] | None = None
    # The time since the start of the run by the recorder's clock, for algorithms that report
    # improvements as they happen.
    elapsed: Callable[[], float] = lambda: 0.0
    # The constraints at the point that was evaluated last; None if the problem gave none.
    constraints: Callable[[], list[float] | None] = lambda: None
    n_objectives: int = 1  # with several, ``evaluate`` returns a list of values

    def in_own_sign(self) -> Self:
        """The same run with values in the sign of the problem; NaN is still the worst value."""
        if not self.maximise:
            return self
        evaluate = self.evaluate
        if self.n_objectives == 1:
            return replace(self, evaluate=lambda x: -evaluate(x), at_once=None)
        objectives = self.objectives
        in_own_sign = cast(Callable[[Any], float], lambda x: [-y for y in objectives(x)])
        return replace(self, evaluate=in_own_sign, at_once=None)

    def objectives(self, x: object) -> list[float]:
        """The value of each of several objectives at x."""
        return cast(list[float], self.evaluate(x))

    def evaluate_all(self, points: Sequence[Any] | Floats) -> list[float]:
        """The values of a population; recorded as if they were evaluated one by one."""
        if self.at_once is not None:
            return self.at_once(points)
        return [self.evaluate(x) for x in points]

    def __call__(self, x: object) -> float | tuple[float, list[float]]:
        """The value at x; with constraints the value and the constraints, feasible up to 0."""
        value = self.evaluate(x)
        constraints = self.constraints()
        return value if constraints is None else (value, constraints)

    def evaluate_with_constraints(self, x: object) -> tuple[float, list[float]]:
        """The value and the constraints at x, of which there are none without constraints."""
        value = self.evaluate(x)
        return value, self.constraints() or []

    @property
    def box(self) -> tuple[Floats, Floats]:
        """The smallest and the largest value of each variable."""
        if self.lower is None or self.upper is None:
            raise TypeError(f"instance {self.instance.id} has no box, so no dimension")
        return self.lower, self.upper

    @property
    def dimension(self) -> int:
        return len(self.box[0])


class Algorithm(Options):
    """A named, configured anytime optimiser; subclasses are adapters and add options."""

    name: str = Field(description="its name")
    use: str = Field(default_factory=str, description="the adapter that runs it")
    label: str | None = Field(
        None,
        exclude_if=lambda label: label is None,
        description=f"its name in figures and on the page, at most {LONGEST_LABEL} characters; by "
        "default its name, or the part of it that differs from others if it is longer",
    )
    contract: OptionalContract = Field(
        None,
        exclude_if=lambda contract: contract is None,
        description="true or {points: K}, if it plans for its budget: its value at a time is the "
        "final value of a run that was given this budget, at 8 (or K) times of the grid",
    )

    space: str | dict[str, Any] | None = Field(
        None,
        exclude=True,  # No run depends on it: a configuration of the space has its values.
        description="the space of its configurations for `polarbear design`: a file (irace's "
        "parameters, JSON or PCS of ConfigSpace, YAML), or a mapping of parameters",
    )
    given: str | list[dict[str, Any]] | None = Field(
        None,
        exclude=True,
        description="configurations of its space to begin with, each a separate algorithm with its "
        "number after the name: a list of mappings, or a file with a header of parameter names",
    )

    named_by: ClassVar[str] = "use"
    accepts: ClassVar[frozenset[Kind]]
    reports_any_axis: ClassVar[bool] = False  # True: can report t on any axis
    accepts_objectives: ClassVar[bool] = False  # True: can run on problems with several objectives
    needs_own_process: ClassVar[bool] = False  # True: a run's process serves no other run
    library: ClassVar[str | None] = None  # the package whose version matters

    @field_validator("name")
    @classmethod
    def _printable(cls, name: str) -> str:
        return checked_name(name)

    @field_validator("label")
    @classmethod
    def _fits_beside_a_curve(cls, label: str | None) -> str | None:
        return None if label is None else checked_name(label, LONGEST_LABEL)

    @property
    def common_seed(self) -> bool:
        """Whether its seed depends on the instance only, not on its name."""
        return False

    @property
    def runs_user_code(self) -> bool:
        """Whether its runs execute code of the user in the process of a run."""
        return not is_polarbears(type(self))

    @property
    def receives_budget(self) -> bool:
        """Whether its command line tells it the budget, so that it may plan for it."""
        return False

    def population(self, dimension: int) -> int | None:
        """The number of points before the first update, to warn about small budgets; or None."""
        return None

    def variants(self, folder: str) -> tuple[Self, ...]:
        """The algorithms that this entry of a configuration stands for."""
        return (self,)

    def own_values(self, space: Space) -> dict[str, Any]:
        """The values of a space's parameters among its options."""
        plain = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        values = {}
        for parameter in space.parameters:
            *groups, key = self._path_of(parameter.name)
            options: Any = plain
            for group in groups:
                options = options.get(group) if isinstance(options, dict) else None
            if isinstance(options, dict) and options.get(key) is not None:
                values[parameter.name] = options[key]
        return values

    def configured(self, name: str, values: Values, space: Space) -> Self:
        """The same algorithm with the values of a configuration of its space, and another name.

        A parameter that the configuration does not use is left out, also if it is written among
        the options.
        """
        plain = self._without_values()
        for parameter in space.parameters:
            *groups, key = self._path_of(parameter.name)
            options = plain
            for group in groups:
                options = options.setdefault(group, {})
            options.pop(key, None)
            if parameter.name in values:
                options[key] = values[parameter.name]
        return validate(type(self), {**plain, "name": name}, Source(f"'{name}'"))

    def _without_values(self) -> dict[str, Any]:
        """The options that were given, without the name and all that belongs to its space."""
        excluded = {"name", "label", "space", "given"}
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=excluded)

    def _path_of(self, parameter: str) -> list[str]:
        """The keys that lead to the option of a parameter: its own, or one under ``options``.

        A dot in the name of a parameter leads into a group.
        """
        path = parameter.split(".")
        keys = key_names(type(self))
        if path[0] in keys and path[0] not in Algorithm.model_fields:
            return path
        if "options" in keys:
            return ["options", *path]
        own_keys = [key for key in keys if key not in Algorithm.model_fields]
        raise ValueError(f"'{self.use}': {unknown('option', parameter, own_keys)}")

    def prepare(self, setting: Setting) -> None:
        """Raise, before any run, errors that would make every run fail."""

    def load(self) -> None:
        """Import its packages in the worker before the clock of a run starts."""

    def made_of(self, setting: Setting) -> MadeOf:
        """The files and packages that its runs depend on."""
        return of_packages(self.library) if self.library else MadeOf()

    @abstractmethod
    def run(self, trial: Trial, setting: Setting) -> None:
        """Optimise until the budget ends the run; a return means the algorithm ended itself."""


def check_options(search: Search, optimiser: str) -> None:
    """Run a short search on the sphere: most packages check options only when they use them."""
    n_evaluated = 0

    def sphere(x: Floats) -> float:
        nonlocal n_evaluated
        n_evaluated += 1
        if n_evaluated > TRIED_EVALUATIONS:
            raise BudgetExhausted
        return float(x @ x)

    try:
        search(lambda points: [sphere(x) for x in points], np.full(2, -1.0), np.ones(2), 1)
    except BudgetExhausted:
        pass
    except Exception as error:  # whatever the package raises, its options are the cause
        raise AlgorithmError(f"{optimiser} fails with its options: {error}") from error
