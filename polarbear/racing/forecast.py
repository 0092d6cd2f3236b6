"""A forecast of when a race ends, as a range: its future is simulated many times."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy  # loads `scipy.special` at its first use

from polarbear.racing.state import ABOVE, ALIKE, BELOW, OPEN, State, horizons

if TYPE_CHECKING:
    from polarbear.inference.relations import DecisionTables
    from polarbear.racing.rules import Batch, RaceLimits, Rules

MIN_ROUNDS = 3  # before a forecast is made
FUTURES = 200  # simulated
LOW, HIGH = 0.05, 0.95  # quantiles of the range
MAX_GROWTH = 40  # of the number of instances, within a forecast
FAR = 3.0  # a score beyond which the other end of the ROPE changes nothing (1e-9)
MIN_TAIL = 1e-6  # probabilities are clipped to this distance from 0 and 1


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


def forecast(
    state: State, rules: Rules, tables: DecisionTables, most: int | None, seed: int
) -> Forecast | None:
    """A range of further instances until a race ends; None where it is unknown.

    ``most`` is the number of instances left in a finite suite. Each open pair is taken as a normal
    posterior. In each of many futures its true difference is drawn from that posterior, the
    evidence of further rounds is drawn given the difference, and the race's rules are followed.
    """
    if state.round < MIN_ROUNDS or state.joining or not state.open_pairs:
        return None
    looks = _looks(state, rules, most)
    ended = _futures(state, rules, tables, looks, np.random.default_rng(seed))
    if most is not None:
        ended[np.isinf(ended)] = looks[-1]
    low, likely, high = (
        np.quantile(ended, share, method="inverted_cdf") - state.instances
        for share in (LOW, 0.5, HIGH)
    )
    cost = float(sum(horizons(state, rules).values()))
    farthest = looks[-1] - state.instances
    return Forecast(int(min(low, farthest)), _seen(likely), _seen(high), cost)


def _seen(instances: float) -> int | None:
    return int(instances) if np.isfinite(instances) else None


def _looks(state: State, rules: Rules, most: int | None) -> list[int]:
    """Numbers of instances after each further round, with growing batches."""
    last = MAX_GROWTH * state.instances if most is None else state.instances + max(most, 1)
    found: list[int] = []
    now, batch = state.instances, state.batch
    while now < last:
        now = min(now + batch, last)
        found.append(now)
        # Later looks may be coarse; a race looks more often.
        batch = max(rules.batch.within(2 * batch, now), now // 12)
    return found


def _futures(
    state: State, rules: Rules, tables: DecisionTables, looks: list[int], rng: np.random.Generator
) -> np.ndarray:
    """Instances at the end of each simulated future of a race; infinite beyond the last look.

    Draws are the same at all times: a pair's score at a time is its lead there, grown by the
    evidence, plus one number per pair.
    """
    is_open = (state.settled == OPEN).any(axis=1)
    a, b = (index[is_open] for index in np.triu_indices(len(state.algorithms), 1))
    now = state.instances
    lead, width = (of_times.T for of_times in _normal_scores(tables, a, b))  # [pair, time]
    threshold = float(scipy.special.ndtri(min(rules.alpha, 1 - MIN_TAIL)))
    shape = (FUTURES, len(a))
    drift, walk = rng.standard_normal(shape), np.zeros(shape)
    pairs = [_Pair(codes, FUTURES, rules) for codes in state.settled[is_open]]
    gone = np.zeros((FUTURES, len(state.algorithms)), dtype=bool)
    ended, done = np.full(FUTURES, np.inf), np.zeros(shape, dtype=bool)
    for before, then in zip([now, *looks], looks, strict=False):
        walk += np.sqrt(then - before) * rng.standard_normal(shape)
        own = (drift * (then - now) / np.sqrt(now) + walk) / np.sqrt(then)
        grown = np.sqrt(then / now)
        reach = _reach(width * grown, rules.alpha)
        for k, pair in enumerate(pairs):
            leads = lead[k] * grown
            gone[:, b[k]] |= own[:, k] + leads.min() >= threshold
            gone[:, a[k]] |= own[:, k] + leads.max() <= -threshold
            unsettled = np.flatnonzero(~(done[:, k] | gone[:, a[k]] | gone[:, b[k]]))
            score = own[unsettled, k, None] + leads[pair.looked_at]
            at_once = score, threshold, reach[k, pair.looked_at], width[k, pair.looked_at] * grown
            done[unsettled, k] = pair.settled_by(unsettled, *at_once)
        ended[np.isinf(ended) & (done | gone[:, a] | gone[:, b]).all(axis=1)] = then
        if np.isfinite(ended).all():
            break
    return ended


class _Pair:
    """A pair in each simulated future: its open times, and the relations it has had.

    Strict resolution only looks at open times (``looked_at``).
    """

    def __init__(self, codes: np.ndarray, futures: int, rules: Rules) -> None:
        self.crossing = rules.resolution != "strict"
        self.membership = rules.resolution == "membership"
        self.looked_at = (codes == OPEN) | self.crossing
        self.open = np.repeat((codes == OPEN)[None, self.looked_at], futures, axis=0)
        self.ever = [np.full(futures, (codes == code).any()) for code in (ABOVE, BELOW, ALIKE)]

    def settled_by(
        self,
        futures: np.ndarray,
        score: np.ndarray,
        threshold: float,
        reach: np.ndarray,
        width: np.ndarray,
    ) -> np.ndarray:
        """Update some futures by their scores at each time; whether the pair is settled: bool.

        One is better from the threshold on, no worse with the width added, and they are equivalent
        up to the reach.
        """
        still_open = self.open[futures]
        size = np.abs(score)
        if self.crossing:
            found = score >= threshold, score <= -threshold, size <= reach
            ever = [known[futures] for known in self.ever]
            now = [known | new.any(axis=1) for known, new in zip(ever, found, strict=True)]
            for known, before, new in zip(self.ever, ever, found, strict=True):
                known[futures] = before | (new & still_open).any(axis=1)
            settled = (now[0] & now[1]) | ((now[0] | now[1]) & now[2])
            if self.membership:
                first = (score + width >= threshold).any(axis=1)
                second = (width - score >= threshold).any(axis=1)
                settled |= (now[0] & second) | (now[1] & first)
            still_open[settled] = False
        still_open &= size < threshold
        still_open &= size > reach
        self.open[futures] = still_open
        return np.asarray(~still_open.any(axis=1))


def _reach(width: np.ndarray, alpha: float) -> np.ndarray:
    """The largest score with P(equivalent) >= alpha; -1 where there is none."""
    widths, scores = _reaches(alpha)
    found = np.interp(width, widths, scores, left=-1.0)
    far = width > widths[-1]  # the other end of the ROPE does not matter
    found[far] = width[far] - scipy.special.ndtri(min(alpha, 1 - MIN_TAIL))
    return np.asarray(found)


@cache
def _reaches(alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Half-widths of the ROPE, and the scores at which P(equivalent) is alpha."""
    scores = np.linspace(0, FAR, 2001)
    return _half_width(scores, np.full_like(scores, alpha)), scores


def _normal_scores(
    tables: DecisionTables, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The lead of a over b and the half-width of the ROPE, in posterior standard deviations.

    Both are [time, pair] and grow with the square root of the number of instances.
    """
    above, below = tables.better[:, a, b], tables.better[:, b, a]
    total = above + below
    share = np.divide(above, total, out=np.full_like(above, 0.5), where=total > 0)
    lead = scipy.special.ndtri(np.clip(share, MIN_TAIL, 1 - MIN_TAIL))
    return lead, _half_width(np.abs(lead), tables.equivalent[:, a, b])


def _half_width(shift: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """The half-width of the ROPE in standard deviations, from P(equivalent)."""
    alike = np.clip(alike, MIN_TAIL, 1 - MIN_TAIL)
    low, high = np.zeros_like(shift), np.full_like(shift, 1e3)
    for _ in range(60):
        middle = (low + high) / 2
        more = scipy.special.ndtr(middle - shift) - scipy.special.ndtr(-middle - shift) < alike
        low, high = np.where(more, middle, low), np.where(more, high, middle)
    return high
