"""What a user can set about the classical view: targets, their scale, the bootstrap."""

from __future__ import annotations

from math import inf
from typing import Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from polarbear.settings.options import Options

AUTO: Literal["auto"] = "auto"
SEEN: Literal["seen"] = "seen"
USUAL: Literal["usual"] = "usual"
BOOTSTRAP = 1000
ERT_TARGETS = (10.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-5, 1e-7)  # those of COCO's tables


class TargetRange(Options):
    """Targets from the easiest to the hardest, as distances from the best possible value."""

    easiest: float = Field(gt=0, description="the distance that is reached first")
    hardest: float = Field(ge=0, description="the distance that is reached last")
    count: int | None = Field(
        None, ge=2, le=100_000, description="how many targets; by default all in the range count"
    )

    @model_validator(mode="after")
    def _getting_harder(self) -> TargetRange:
        if self.hardest >= self.easiest:
            raise ValueError(
                "targets go from the easiest, which is the largest, to the hardest: "
                f"{self.hardest:g}:{self.easiest:g}, not {self.easiest:g}:{self.hardest:g}"
            )
        return self


USUAL_TARGETS = TargetRange(easiest=1e2, hardest=1e-8)


class ViewOptions(Options):
    """How values of different instances are made comparable, and how sure the means are."""

    targets: Literal["auto", "seen"] | TargetRange = Field(
        AUTO,
        description="EASIEST:HARDEST[:COUNT] as distances from the optimum; or 'seen': on each "
        "instance from the worst to the best value seen there",
    )
    optimum: float | None = Field(
        None, description="the best possible value of every instance; by default the suite's"
    )
    scale: Literal["auto", "log", "linear"] = Field(
        "auto", description="how targets are spaced: evenly in log y, or in y"
    )
    bootstrap: int = Field(
        BOOTSTRAP, ge=100, le=100_000, description="how often instances are resampled"
    )
    seed: int = Field(0, ge=0, description="draws the resamples")
    ert: tuple[float, ...] | None = Field(
        None,
        description="distances from the optimum to give expected running times for, or 'usual'",
    )
    per_dimension: bool = Field(
        False, description="divide evaluations by the number of variables, as COCO does"
    )

    @field_validator("ert", mode="before")
    @classmethod
    def _distances(cls, ert: Any) -> Any:
        if ert == USUAL:
            return ERT_TARGETS
        if not isinstance(ert, str):
            return ert
        try:
            return tuple(float(part) for part in ert.split(","))
        except ValueError:
            raise ValueError(
                f"expected distances separated by commas, as 10,0.1,1e-8, or '{USUAL}', "
                f"found '{ert}'"
            ) from None

    @field_validator("ert")
    @classmethod
    def _positive(cls, ert: tuple[float, ...] | None) -> tuple[float, ...] | None:
        if ert is not None and (not ert or not all(0 <= one < inf for one in ert)):
            raise ValueError(
                f"distances are finite and not negative, and there is at least one; found {ert}"
            )
        return ert

    @field_validator("targets", mode="before")
    @classmethod
    def _written(cls, targets: Any) -> Any:
        if not isinstance(targets, str) or targets in (AUTO, SEEN):
            return targets
        parts = targets.split(":")
        try:
            if len(parts) not in (2, 3):
                raise ValueError
            count = int(parts[2]) if len(parts) == 3 else None
            easiest, hardest = float(parts[0]), float(parts[1])
        except ValueError:
            raise ValueError(
                f"expected EASIEST:HARDEST or EASIEST:HARDEST:COUNT, as 1e2:1e-8, or '{SEEN}', "
                f"found '{targets}'"
            ) from None
        try:
            return TargetRange(easiest=easiest, hardest=hardest, count=count)
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None
