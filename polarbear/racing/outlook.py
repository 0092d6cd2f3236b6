"""Between how many more instances a race ends: as a round keeps it, and as limits cut it short."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from polarbear.racing.rules import Batch, RaceLimits
    from polarbear.racing.state import State

TELLING = 3  # rounds before which nobody can tell


class Forecast(NamedTuple):
    """So many more instances until a race ends: in a range, and in the middle of it.

    ``high`` and ``likely`` are None where that is farther than can be seen. ``an_instance`` is what
    one costs on the axis at most, as things stand.
    """

    low: int
    likely: int | None
    high: int | None
    an_instance: float

    @property
    def spent_at_most(self) -> float | None:
        """What all of them cost at most, in what the axis counts."""
        return None if self.high is None else self.high * self.an_instance

    def to_plain(self) -> dict[str, Any]:
        return {**self._asdict(), "spent_at_most": self.spent_at_most}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any] | None) -> Forecast | None:
        if plain is None:
            return None
        return cls(plain["low"], plain["likely"], plain["high"], plain["an_instance"])


def within(
    ahead: Forecast, state: State, batch: Batch, limits: RaceLimits, spent: float
) -> Forecast:
    """The same forecast for a race that ends at its limits; those that are reached are past."""
    ends = []
    if limits.instances is not None:
        ends.append(limits.instances - state.instances)
    if limits.rounds is not None:
        ends.append(_instances_of(limits.rounds - state.round, state, batch))
    if limits.spent is not None and ahead.an_instance:
        rest = (limits.spent - spent) / ahead.an_instance
        ends.append(math.ceil(rest) + state.batch if rest > 0 else 0)  # a round is finished
    most = min((end for end in ends if end > 0), default=None)
    if most is None:
        return ahead
    low, likely, high = (
        most if value is None else min(value, most)
        for value in (ahead.low, ahead.likely, ahead.high)
    )
    return Forecast(low, likely, high, ahead.an_instance)


def _instances_of(rounds: int, state: State, batch: Batch) -> int:
    """How many instances so many rounds draw at most."""
    drawn, size = 0, state.batch
    for _ in range(rounds):
        drawn += size
        size = batch.within(2 * size, state.instances + drawn)
    return drawn
