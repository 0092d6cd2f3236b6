"""The number of further instances until a race ends, as a range."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from polarbear.racing.rules import Batch, RaceLimits
    from polarbear.racing.state import State

MIN_ROUNDS = 3  # before a forecast is made


class Forecast(NamedTuple):
    """Further instances until a race ends: the range and its median.

    ``high`` and ``likely`` are None beyond the horizon of the forecast. ``an_instance`` is the
    highest cost of one on the axis, as pairs stand.
    """

    low: int
    likely: int | None
    high: int | None
    an_instance: float

    @property
    def spent_at_most(self) -> float | None:
        """The highest cost of all of them on the axis."""
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
    """The forecast for a race that ends at its limits."""
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
    """The largest number of instances that these rounds draw."""
    drawn, size = 0, state.batch
    for _ in range(rounds):
        drawn += size
        size = batch.within(2 * size, state.instances + drawn)
    return drawn
