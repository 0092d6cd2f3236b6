"""Base classes: suite, instance, problem.

A suite is a distribution over problems. It draws instances: a stable id and a small spec, stored as
JSON, from which any process can build the problem again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from polarbear.errors import ProblemError
from polarbear.numerics.arrays import Floats
from polarbear.numerics.seeds import derived_seed
from polarbear.problems.feature_sources import checked_source
from polarbear.problems.weights import improper, is_weight
from polarbear.rankings.archives import MAX_OBJECTIVES
from polarbear.settings.fingerprint import MadeOf
from polarbear.settings.grid import Budget
from polarbear.settings.names import LONGEST_INSTANCE, flaw_in_name
from polarbear.settings.options import Options, nearest
from polarbear.wording import visible

Spec = Mapping[str, Any]
Trajectory = Literal["best", "last"]  # which of a run's values counts at a time
LARGEST_NUMBER = 100_000  # of a dimension or an instance id; libraries overflow far above it


def is_polarbears(adapter: type) -> bool:
    """Whether a class is part of PolarBear, and no plug-in."""
    return adapter.__module__.partition(".")[0] == "polarbear"


class Kind(StrEnum):
    """The kinds of problems that algorithms can accept."""

    CONTINUOUS = "continuous"  # an objective on a box of real numbers
    INTEGER = "integer"  # an objective on a box of whole numbers
    OBJECT = "object"  # anything that a user's Python function returned
    NAME = "name"  # a name to pass to a program
    # Files of generated or classical instances, by their paths.
    MIP = "mip"  # a mixed-integer program
    JOB_SHOP = "job-shop"
    ROUTING = "routing"  # vehicle routing with capacities
    SCORES = "scores"  # trajectories drawn from a known truth; nothing to optimise


@dataclass(frozen=True)
class Problem:
    """One objective to minimise on a box (or, with ``maximise``, to maximise).

    With constraints ``evaluate`` returns the value and a list of them, which are feasible up to 0.
    With several objectives the value is a sequence of numbers, and ``evaluate_many`` returns a row
    of them for each point.
    """

    evaluate: Callable[[Any], Any]
    lower: Floats | None = None
    upper: Floats | None = None
    maximise: bool = False
    # Seconds spent so far on building parts of the problem at their first use; they are not charged
    # on the seconds axis.
    building_seconds: Callable[[], float] | None = None
    # The value to record where ``evaluate`` is noisy; costs no evaluation and no time.
    true_value: Callable[[Any], Any] | None = None
    # The values at many points, one per row; must equal those of ``evaluate`` to the bit.
    evaluate_many: Callable[[Floats], Floats] | None = None
    # The object that the user's function returned, for the user's algorithms.
    source: object = None

    @property
    def dimension(self) -> int | None:
        return None if self.lower is None else len(self.lower)


@dataclass(frozen=True)
class Instance:
    """One problem drawn from a suite: its index in the stream, its id, and how to rebuild it."""

    index: int
    id: str
    spec: Spec


@dataclass(frozen=True)
class Setting:
    """The part of a configuration that suites and adapters may depend on."""

    seed: int
    budget: Budget
    folder: str = "."  # relative paths and modules are looked up here
    algorithms: tuple[str, ...] = ()
    trajectory: Trajectory = "best"


class Range(Options):
    """Whole numbers from one to another, all equally likely."""

    start: int = Field(alias="from", ge=1, le=LARGEST_NUMBER, description="the first")
    stop: int = Field(alias="to", ge=1, le=LARGEST_NUMBER, description="the last")

    @model_validator(mode="after")
    def _not_empty(self) -> Self:
        if self.stop < self.start:
            raise ValueError(f"nothing lies between {self.start} and {self.stop}")
        return self

    def draw(self, rng: np.random.Generator) -> int:
        return int(rng.integers(self.start, self.stop, endpoint=True))


class Suite(Options):
    """A distribution over problem instances; subclasses add options."""

    suite: str = Field(default_factory=str, description="the name of the suite")
    count: int | None = Field(
        None,
        ge=1,
        description="how many instances `polarbear run` runs: 20, or all of a finite suite",
    )
    maximise: bool = Field(False, description="larger objective values are better")
    weights: dict[str, float] = Field(
        {},
        exclude_if=lambda weights: not weights,
        description="how many instances each counts as, by its name or a pattern with * and ?; "
        "one if not named",
    )

    features: str | None = Field(
        None,
        exclude_if=lambda features: features is None,
        description="features of the instances: a table FILE.csv with a column instance, a "
        "function 'module:function' of the problem, or 'landscape' for those of a small sample",
    )

    feasibility_tolerance: float = Field(
        0.0,
        ge=0,
        allow_inf_nan=False,
        exclude_if=lambda tolerance: tolerance == 0,
        description="the violation of constraints up to which a point counts as feasible",
    )

    objectives: int = Field(
        1,
        ge=1,
        le=MAX_OBJECTIVES,
        exclude_if=lambda objectives: objectives == 1,
        description="the number of objectives; with several, the outcome of a run is its archive "
        "of non-dominated points",
    )
    archive_size: int | None = Field(
        None,
        ge=1,
        exclude_if=lambda size: size is None,
        description="the largest number of points in the archive of a run with several "
        "objectives; a full archive takes only points that dominate one in it",
    )

    named_by: ClassVar[str] = "suite"
    kind: ClassVar[Kind]
    keeps_state: ClassVar[bool] = False  # True: a problem must not serve two runs
    uses_grid: ClassVar[bool] = False  # True: trajectories depend on the grid of times
    has_own_order: ClassVar[bool] = False  # True: a finite suite is used in the order of `draw`

    @field_validator("weights", mode="before")
    @classmethod
    def _proper_weights(cls, weights: object) -> object:
        for name, weight in weights.items() if isinstance(weights, Mapping) else ():
            if not is_weight(weight):
                raise ValueError(improper(weight, str(name)))
        return weights

    @field_validator("features")
    @classmethod
    def _proper_source_of_features(cls, source: str | None) -> str | None:
        return None if source is None else checked_source(source)

    @property
    def runs_user_code(self) -> bool:
        """Whether building or evaluating its problems executes code of the user."""
        return not is_polarbears(type(self))

    @abstractmethod
    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        """The id and the spec of the instance at this index of the stream."""

    @abstractmethod
    def build(self, spec: Spec, setting: Setting) -> Any:
        """The problem of this spec: a Problem, or the object that the suite's kind stands for."""

    def made_of(self, setting: Setting) -> MadeOf:
        """The user's files on which its problems depend."""
        return MadeOf()

    def offers(self) -> Kind:
        """The kind of problem that these options give."""
        return self.kind

    def best_value(self, spec: Spec) -> float | None:
        """The best objective value of this problem; None if unknown."""
        return None

    def size(self, setting: Setting) -> int | None:
        """The number of instances; None if unlimited."""
        return None

    @property
    def bet_per_problem(self) -> float:
        """The factor with which no problem counts more than one in bets.

        It depends on the configuration alone, since bets must not depend on later problems.
        """
        return 1 / max([1.0, *self.weights.values()])

    def check_weights(self, setting: Setting) -> None:
        """Raise if a weight's name or pattern matches no instance of a finite suite."""
        size = self.size(setting) if self.weights else None
        names = [self.instance(index, setting).id for index in range(size or 0)]
        for pattern in self.weights if names else ():
            if not any(pattern == name or fnmatchcase(name, pattern) for name in names):
                guess = nearest(pattern, names)
                hint = f"did you mean '{guess}'?" if guess else f"the first is '{names[0]}'"
                raise ProblemError(
                    f"instances.weights: '{pattern}' matches none of the {len(names)} instances; "
                    f"{hint}"
                )

    def instance(self, index: int, setting: Setting) -> Instance:
        """The instance at this index of the stream; it does not depend on earlier draws.

        The seed shuffles a finite suite, unless the user has given the order: a race treats the
        first instances as a random sample.
        """
        size = None if self.has_own_order else self.size(setting)
        drawn = index if size is None or index >= size else _random_order(setting.seed, size)[index]
        rng = np.random.default_rng([derived_seed(setting.seed, "instance", self.suite), drawn])
        label, spec = self.draw(drawn, rng, setting)
        flaw = flaw_in_name(label, LONGEST_INSTANCE)
        if flaw:
            raise ProblemError(
                f"the suite '{self.suite}' has an instance with an invalid name, "
                f"'{visible(label[:60])}': {flaw}; rename it"
            )
        return Instance(index, label, spec)


@lru_cache(maxsize=8)
def _random_order(seed: int, size: int) -> tuple[int, ...]:
    """The indices of a finite suite in random order."""
    rng = np.random.default_rng(derived_seed(seed, "order"))
    return tuple(rng.permutation(size).tolist())
