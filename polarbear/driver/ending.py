"""When a race is over, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from polarbear import racing as race
from polarbear.config import Config
from polarbear.inference import Posterior
from polarbear.racing import State
from polarbear.wording import counted, timed, typed_time

SETTLED = "every relation is settled"


@dataclass(frozen=True)
class Ended:
    """How a race ended: why, and whether a limit was the reason."""

    because: str
    at_limit: bool


class Purpose(Protocol):
    """What a race may be run for other than to settle everything."""

    def reached(self, state: State, posterior: Posterior) -> str | None:
        """Why the race has served its purpose, if it has."""

    def horizon(self, times: Sequence[float]) -> float:
        """The last time that matters for it."""


@dataclass(frozen=True)
class Spent:
    """What a race has taken so far: evaluations, how far runs got on the axis, and hours."""

    evaluations: int
    on_axis: float
    hours: float


def at_limit(config: Config, state: State, spent: Spent, size: int | None) -> str | None:
    """Which limit a race has reached, in words, if it has; ``size`` is that of a finite suite."""
    limits = config.race.limits
    if state.untrusted >= race.MAX_UNTRUSTED_ROUNDS:
        return f"the posterior failed its checks in {counted(state.untrusted, 'round')} in a row"
    if limits.rounds is not None and state.round >= limits.rounds:
        return f"the limit of {counted(limits.rounds, 'round')} is reached"
    if limits.evaluations is not None and spent.evaluations >= limits.evaluations:
        return f"the limit of {counted(limits.evaluations, 'evaluation')} is reached"
    if limits.spent is not None and spent.on_axis >= limits.spent:
        return f"the limit of {timed(limits.spent, config.budget.axis)} is reached"
    if limits.hours is not None and spent.hours >= limits.hours:
        return f"the limit of {typed_time(limits.hours, 'hours')} is reached"
    if state.joining:
        return None
    if limits.instances is not None and state.instances >= limits.instances:
        return f"the limit of {counted(limits.instances, 'instance')} is reached"
    if size is not None and state.instances >= size:
        return f"the suite has no further instance: all {size} are used"
    return None
