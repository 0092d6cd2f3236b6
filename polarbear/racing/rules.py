"""Settings of a race: when to eliminate, when a pair is settled, and limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from polarbear.rankings.front_duels import DuelRule
from polarbear.settings.decision_levels import (
    DEFAULT_ALPHA,
    DEFAULT_CHOICE_REGRET,
    DEFAULT_EPSILON,
    checked_level,
)
from polarbear.settings.options import Options

Resolution = Literal["membership", "crossing", "strict"]
Guarantee = Literal["pair", "anytime", "none"]


class Batch(Options):
    """Instances per round; doubled when nothing is settled, halved when much is."""

    start: int = Field(8, ge=1, description="instances of the first round")
    min: int = Field(8, ge=1, description="never fewer than this")
    max: int = Field(64, ge=1, description="never more than this")
    share: float | None = Field(
        0.1,
        gt=0,
        description="never more than this share of the instances so far, unless that is below min; "
        "null for no such limit",
    )

    @model_validator(mode="after")
    def _ordered(self) -> Batch:
        if not self.min <= self.start <= self.max:
            raise ValueError(
                f"batch sizes must satisfy min <= start <= max, found {self.min}, {self.start}, "
                f"{self.max}"
            )
        return self

    def within(self, size: int, instances: int) -> int:
        """The nearest allowed size of a round after a number of instances."""
        largest = self.max
        if self.share is not None:
            largest = min(largest, int(self.share * instances))
        return max(min(size, largest), self.min)


class RaceLimits(Options):
    """Limits at which a race stops with open relations; its result is valid."""

    rounds: int | None = Field(None, ge=1, description="largest number of rounds")
    instances: int | None = Field(None, ge=1, description="largest number of instances")
    evaluations: int | None = Field(
        None, ge=1, description="no further round once this number of evaluations is spent"
    )
    spent: float | None = Field(
        None, gt=0, description="no further round once runs have spent this much on the axis"
    )
    hours: float | None = Field(
        None, gt=0, description="no further round once this command has taken this number of hours"
    )


def with_stored_guarantee(rules: Mapping[str, Any]) -> dict[str, Any]:
    """Stored rules with their guarantee: races whose rules name none were decided without one."""
    return {"guarantee": "none", **rules}


class Rules(Options):
    """The rules of a race."""

    elimination: Literal["auto", "pointwise", "joint"] = Field(
        "auto",
        description="an algorithm is eliminated if another one is better at each time with "
        "probability alpha (pointwise), or at all times jointly (joint); 'auto' is joint for the "
        "temporal Plackett-Luce models",
    )
    truncate: bool | None = Field(
        None,
        description="whether runs end at the last time at which a pair of their algorithm is open; "
        "if not given, yes with pointwise elimination",
    )
    resolution: Resolution = Field(
        "membership",
        description="what settles all times of a pair: one algorithm is surely better at some "
        "time, and at some time the other one is surely no worse (membership), or surely better or "
        "surely equivalent (crossing); with strict, every time must be settled by itself",
    )
    alpha: Annotated[float, AfterValidator(checked_level)] = Field(
        DEFAULT_ALPHA,
        json_schema_extra={"maximum": 1},  # pydantic's own check would have a worse message
        description="how probable a relation must be to be settled",
    )
    guarantee: Guarantee = Field(
        "pair",
        description="what bounds wrong eliminations, however often a race looks: with 'pair' each "
        "elimination also needs betting wealth 1 / (1 - alpha) on duels at every time, so that "
        "P(wrong) is at most 1 - alpha; with 'anytime' P(any wrong elimination in the whole race) "
        "is at most 1 - alpha; 'none' is without a bound",
    )
    epsilon: float = Field(
        DEFAULT_EPSILON,
        ge=0,
        lt=0.5,
        description="win probabilities this near to even count as equivalent",
    )
    regret: float | None = Field(
        DEFAULT_CHOICE_REGRET,
        gt=0,
        description="the race goes on until the choice at each time of the grid has at most this "
        "expected regret, or only equivalent rivals; null ends it as soon as pairs are settled",
    )
    batch: Batch = Field(Batch(), description="instances a round")
    limits: RaceLimits = Field(RaceLimits(), description="where to stop in any case")
    tie_tolerance: float = Field(
        0.0, ge=0, description="values that differ by no more than this are tied"
    )

    duel: DuelRule = Field(
        DuelRule.COVERAGE,
        exclude_if=lambda rule: rule is DuelRule.COVERAGE,
        description="with several objectives, which of two archives wins a duel: the one that "
        "weakly dominates the larger share of the other (coverage); the one that weakly dominates "
        "all of the other, but not vice versa (dominance); or the better one by an indicator that "
        "depends on units: hypervolume, epsilon, igd+",
    )
    reference: list[float] | None = Field(
        None,
        exclude_if=lambda reference: reference is None,
        description="the reference point of hypervolume, in the values of the problem; by default "
        "the worst values that the two runs of a duel have in their archives until the end of the "
        "grid, and 10 % of the range beyond",
    )

    def under(self, temporal: bool) -> Rules:
        """The rules with every 'auto' resolved, for a temporal Plackett-Luce model or another."""
        elimination = self.elimination
        if elimination == "auto":
            elimination = "joint" if temporal else "pointwise"
        truncate = self.truncate
        if truncate is None:
            truncate = elimination == "pointwise"
        return self.model_copy(update={"elimination": elimination, "truncate": truncate})
