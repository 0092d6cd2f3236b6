"""What an adapter is, and what one run looks like from inside it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field, field_validator

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Instance, Kind, Setting
from polarbear.settings.names import checked_name
from polarbear.settings.options import Options


@dataclass(frozen=True)
class Trial:
    """One run as the algorithm sees it.

    Calling it evaluates the objective, always to be minimised; the call that would exceed the
    budget raises BudgetExhausted instead, which the algorithm lets pass. An algorithm that does not
    evaluate through us (a program, or one on an axis of its own) reports improvements instead.
    """

    evaluate: Callable[[Any], float]
    report: Callable[[float, float], None]  # t on the axis, and the objective value as observed
    instance: Instance
    seed: int
    axis: str
    budget: float
    problem: Any  # what the suite built; evaluating it directly would go unrecorded
    lower: Floats | None = None
    upper: Floats | None = None
    kind: Kind = Kind.CONTINUOUS

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

    name: str = Field(description="how tables and figures call it")
    use: str = Field(description="the adapter that runs it")

    accepts: ClassVar[frozenset[Kind]]
    reports_any_axis: ClassVar[bool] = False  # True: can report t on an axis of its own

    @field_validator("name")
    @classmethod
    def _printable(cls, name: str) -> str:
        return checked_name(name)

    def prepare(self, setting: Setting) -> None:
        """Raise, before anything is run, what would make every run fail."""

    @abstractmethod
    def run(self, trial: Trial, setting: Setting) -> None:
        """Optimise until the budget ends the run; returning means the algorithm ended by itself."""
