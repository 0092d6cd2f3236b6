"""A forecast of when a race ends, as a range: its future is simulated many times."""

import math
from functools import cache

import numpy as np
import scipy  # loads `scipy.special` at its first use

from polarbear.inference.relations import DecisionTables
from polarbear.racing.rules import Batch, RaceLimits, Rules
from polarbear.racing.state import ABOVE, ALIKE, BELOW, OPEN, RaceForecast, State, horizons

MIN_ROUNDS = 3  # before a forecast is made
FUTURES = 200  # simulated
LOW, HIGH = 0.05, 0.95  # quantiles of the range
MAX_GROWTH = 40  # of the number of instances, within a forecast
FAR = 3.0  # a score beyond which the other end of the ROPE changes nothing (1e-9)
MIN_TAIL = 1e-6  # probabilities are clipped to this distance from 0 and 1


def within(
    ahead: RaceForecast, state: State, batch: Batch, limits: RaceLimits, spent: float
) -> RaceForecast:
    """The forecast for a race that ends at its limits."""
    ends = []
    if limits.instances is not None:
        ends.append(limits.instances - state.instances)
    if limits.rounds is not None:
        drawn, size = 0, state.batch
        for _ in range(limits.rounds - state.round):
            drawn += size
            size = batch.within(2 * size, state.instances + drawn)
        ends.append(drawn)
    if limits.spent is not None and ahead.an_instance:
        rest = (limits.spent - spent) / ahead.an_instance
        ends.append(math.ceil(rest) + state.batch if rest > 0 else 0)  # a round is finished
    most = min((end for end in ends if end > 0), default=None)
    if most is None:
        return ahead
    likely, high = (most if end is None else min(end, most) for end in (ahead.likely, ahead.high))
    return RaceForecast(min(ahead.low, most), likely, high, ahead.an_instance)


def forecast(
    state: State, rules: Rules, tables: DecisionTables, most: int | None, seed: int
) -> RaceForecast | None:
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
    low, *others = (
        np.quantile(ended, share, method="inverted_cdf") - state.instances
        for share in (LOW, 0.5, HIGH)
    )
    likely, high = (int(end) if np.isfinite(end) else None for end in others)
    cost = float(sum(horizons(state, rules).values()))
    return RaceForecast(int(min(low, looks[-1] - state.instances)), likely, high, cost)


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
    has_open = (state.settled == OPEN).any(axis=1)
    codes = state.settled[has_open]
    a, b = (index[has_open] for index in np.triu_indices(len(state.algorithms), 1))
    lead, width = (of_times.T for of_times in _normal_scores(tables, a, b))  # [pair, time]
    threshold = float(scipy.special.ndtri(min(rules.alpha, 1 - MIN_TAIL)))
    now, shape = state.instances, (FUTURES, len(a))
    drift, walk = rng.standard_normal(shape), np.zeros(shape)
    is_open = [np.repeat((row == OPEN)[None], FUTURES, axis=0) for row in codes]
    shown = np.stack([(codes == code).any(axis=1) for code in (ABOVE, BELOW, ALIKE)])
    shown = np.repeat(shown[..., None], FUTURES, axis=2)  # [relation, pair, future]
    gone = np.zeros((len(state.algorithms), FUTURES), dtype=bool)
    ended, done = np.full(FUTURES, np.inf), np.zeros(shape[::-1], dtype=bool)
    for before, then in zip([now, *looks], looks, strict=False):
        walk += np.sqrt(then - before) * rng.standard_normal(shape)
        own = ((drift * (then - now) / np.sqrt(now) + walk) / np.sqrt(then)).T  # [pair, future]
        leads, widths = lead * np.sqrt(then / now), width * np.sqrt(then / now)
        reach = _reach(widths, rules.alpha)
        np.logical_or.at(gone, b, own + leads.min(axis=1)[:, None] >= threshold)
        np.logical_or.at(gone, a, own + leads.max(axis=1)[:, None] <= -threshold)
        done |= gone[a] | gone[b]
        for k in range(len(a)):
            rows = np.flatnonzero(~done[k])
            score, still = own[k, rows, None] + leads[k], is_open[k][rows]
            if rules.resolution != "strict":
                found = np.stack([score >= threshold, score <= -threshold, abs(score) <= reach[k]])
                above, below, alike = shown[:, k, rows] | found.any(axis=2)
                shown[:, k, rows] |= (found & still).any(axis=2)
                settled = (above & below) | ((above | below) & alike)
                if rules.resolution == "membership":
                    settled |= above & (widths[k] - score >= threshold).any(axis=1)
                    settled |= below & (widths[k] + score >= threshold).any(axis=1)
                still[settled] = False
            still &= (abs(score) < threshold) & (abs(score) > reach[k])
            is_open[k][rows] = still
            done[k, rows] = ~still.any(axis=1)
        ended[np.isinf(ended) & done.all(axis=0)] = then
        if np.isfinite(ended).all():
            break
    return ended


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
    """The half-width w of the ROPE in standard deviations, from P(|Z + shift| <= w)."""
    alike = np.clip(alike, MIN_TAIL, 1 - MIN_TAIL)
    return np.asarray(np.sqrt(scipy.special.chndtrix(alike, 1, shift**2)))
