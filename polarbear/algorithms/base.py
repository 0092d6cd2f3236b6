"""What an adapter is, and what one run looks like from inside it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, ClassVar

from pydantic import Field, field_validator

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Instance, Kind, Setting
from polarbear.settings.fingerprint import MadeOf, of_packages
from polarbear.settings.names import LONGEST_LABEL, checked_name
from polarbear.settings.options import Options


@dataclass(frozen=True)
class Trial:
    """One run as an adapter sees it.

    Calling it evaluates the objective, always to be minimised; the call that would exceed the
    budget raises BudgetExhausted instead, which the algorithm lets pass. An algorithm that does not
    evaluate through us (a program, or one on an axis of its own) reports improvements instead.
    Code of the user's own gets it ``in_own_sign``.
    """

    evaluate: Callable[[Any], float]
    report: Callable[[float, float], None]  # t on the axis, and the objective value as observed
    instance: Instance
    seed: int
    axis: str
    budget: float  # the whole one, in every run of the algorithm
    problem: Any  # what the suite built; evaluating it directly would go unrecorded
    lower: Floats | None = None
    upper: Floats | None = None
    kind: Kind = Kind.CONTINUOUS
    maximise: bool = False  # larger values are better, so those of ``evaluate`` are negated
    until: float = inf  # where this run is stopped, at the budget or before
    # Evaluates a whole population at once, where the problem can and time does not matter.
    at_once: Callable[[Any], list[float]] | None = None

    def in_own_sign(self) -> Trial:
        """The same run with values as the problem returns them, to be maximised where it says so.

        Instead of a value that is not a number there is still the worst.
        """
        if not self.maximise:
            return self
        evaluate = self.evaluate
        return replace(self, evaluate=lambda x: -evaluate(x), at_once=None)

    def evaluate_all(self, points: Sequence[Any] | Floats) -> list[float]:
        """The values of points that are all known before the first is evaluated.

        What is recorded, and where a budget ends the run, is as if they came one by one.
        """
        if self.at_once is not None:
            return self.at_once(points)
        return [self.evaluate(x) for x in points]

    def __call__(self, x: Any) -> float:
        return self.evaluate(x)

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
    """A named, configured anytime optimiser; a subclass is an adapter and adds its options."""

    name: str = Field(description="how everything calls it")
    use: str = Field(description="the adapter that runs it")
    label: str | None = Field(
        None,
        description=f"how figures and the page call it, in at most {LONGEST_LABEL} characters; by "
        "default its name, or what sets that apart from others if it is longer",
    )

    accepts: ClassVar[frozenset[Kind]]
    reports_any_axis: ClassVar[bool] = False  # True: can report t on an axis of its own
    library: ClassVar[str | None] = None  # the package whose code it runs, as it is installed

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
        """Whether it gets the seed of the instance, as others that say so do."""
        return False

    def population(self, dimension: int) -> int | None:
        """How many points it evaluates before it learns from any; None if there is no such number.

        It is what a budget is held against before anything is run.
        """
        return None

    def variants(self, folder: str) -> tuple[Algorithm, ...]:
        """The algorithms that this entry of a configuration stands for; ValueError if none."""
        return (self,)

    def prepare(self, setting: Setting) -> None:
        """Raise, before anything is run, what would make every run fail."""

    def load(self) -> None:
        """Load what its runs need, in the process that will make them; none is charged for it."""

    def made_of(self, setting: Setting) -> MadeOf:
        """The files and packages beside PolarBear that its runs depend on."""
        return of_packages(self.library) if self.library else MadeOf()

    @abstractmethod
    def run(self, trial: Trial, setting: Setting) -> None:
        """Optimise until the budget ends the run; returning means the algorithm ended by itself."""
