"""Options of the classical view: algorithms, targets and their scale, bootstrap."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

from pydantic import Field, NonNegativeFloat, ValidationError, field_validator, model_validator

from polarbear.errors import ReportError
from polarbear.settings.defaults import RESAMPLES
from polarbear.settings.enumerations import TargetScale
from polarbear.settings.options import Options

AUTO: Literal["auto"] = "auto"
SEEN: Literal["seen"] = "seen"
USUAL: Literal["usual"] = "usual"
ALL_ALGORITHMS = "all"  # This includes algorithms that a race has eliminated.
ERT_TARGETS = (10.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-5, 1e-7)  # those of COCO's tables


class TargetRange(Options):
    """Targets from the easiest to the hardest, as distances from the best possible value."""

    easiest: float = Field(gt=0, description="the distance that is reached first")
    hardest: float = Field(ge=0, description="the distance that is reached last")
    count: int | None = Field(
        None, ge=2, le=100_000, description="how many targets; by default all in the range count"
    )

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.hardest >= self.easiest:
            raise ValueError(
                "targets go from the easiest, which is the largest, to the hardest: "
                f"{self.hardest:g}:{self.easiest:g}, not {self.easiest:g}:{self.hardest:g}"
            )
        return self


USUAL_TARGETS = TargetRange(easiest=1e2, hardest=1e-8)


class ViewOptions(Options):
    """Options of the scale that makes instances comparable, and of the bootstrap of means."""

    targets: Literal["auto", "seen"] | TargetRange = Field(
        AUTO,
        description="EASIEST:HARDEST[:COUNT] as distances from the optimum; or 'seen': on each "
        "instance from the worst to the best value seen there",
    )
    optimum: float | None = Field(
        None, description="the best possible value of every instance; by default the suite's"
    )
    scale: TargetScale = Field(
        TargetScale.AUTO, description="how targets are spaced: evenly in log y, or in y"
    )
    bootstrap: int = Field(
        RESAMPLES, ge=100, le=100_000, description="how often instances are resampled"
    )
    seed: int = Field(0, ge=0, description="draws the resamples")
    ert: tuple[NonNegativeFloat, ...] | None = Field(
        None,
        min_length=1,
        description="distances from the optimum to give expected running times for, or 'usual'",
    )
    per_dimension: bool = Field(
        False, description="divide evaluations by the number of variables, as COCO does"
    )

    @field_validator("ert", mode="before")
    @classmethod
    def _parse_ert(cls, ert: object) -> object:
        if not isinstance(ert, str):
            return ert
        try:
            return ERT_TARGETS if ert == USUAL else tuple(map(float, ert.split(",")))
        except ValueError:
            raise ValueError(
                f"expected distances separated by commas, as 10,0.1,1e-8, or '{USUAL}', "
                f"found '{ert}'"
            ) from None

    @field_validator("targets", mode="before")
    @classmethod
    def _parse_targets(cls, targets: object) -> object:
        if not isinstance(targets, str) or targets in (AUTO, SEEN):
            return targets
        keys = ("easiest", "hardest", "count", "rest")
        try:
            return TargetRange.model_validate(dict(zip(keys, targets.split(":"), strict=False)))
        except ValidationError as error:
            reason = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise ValueError(
                f"expected EASIEST:HARDEST or EASIEST:HARDEST:COUNT, as 1e2:1e-8, or '{SEEN}', "
                f"found '{targets}': {reason}"
            ) from None


@dataclass(frozen=True)
class Comparison:
    """A request for the classical view.

    Without ``algorithms``, the Pareto set of a race is compared if it has more instances in common
    than all algorithms, unless ``include_eliminated``. Without ``pair``, figures choose pairs.
    """

    algorithms: tuple[str, ...] | None = None
    pair: tuple[str, str] | None = None
    include_eliminated: bool = False
    options: ViewOptions = field(default_factory=ViewOptions)


def checked_pair(names: Sequence[str]) -> tuple[str, str]:
    """The names of two algorithms; an error unless there are two that differ."""
    if len(names) != 2 or names[0] == names[1] or not all(names):
        raise ReportError(
            f"a pair is two different algorithms, as in --pair A,B; found '{','.join(names)}'"
        )
    return names[0], names[1]
