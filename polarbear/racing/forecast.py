"""A forecast of when a race ends, as a range: its future is simulated many times."""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from polarbear.inference.relations import DecisionTables
from polarbear.racing.choice_questions import OpenChoice
from polarbear.racing.open_questions import budgets, open_questions
from polarbear.racing.rules import Batch, RaceLimits, Rules
from polarbear.racing.settling import ShownRelations, settled_relations
from polarbear.racing.state import ABOVE, ALIKE, BELOW, OPEN, RaceForecast, State

MIN_ROUNDS = 3  # before a forecast is made
N_FUTURES = 200  # simulated futures
LOW = 0.05  # quantile at the lower end of the range
HIGH = 0.95  # quantile at its upper end
MAX_GROWTH = 40  # largest factor by which instances grow within a forecast
FAR = 3.0  # a score beyond which the other end of the ROPE changes nothing (1e-9)
MIN_TAIL = 1e-6  # probabilities are clipped to this distance from 0 and 1


def within(
    ahead: RaceForecast, state: State, batch: Batch, limits: RaceLimits, spent: float
) -> RaceForecast:
    """The forecast for a race that ends at its limits."""
    limiting = [end for end in _ends(ahead, state, batch, limits, spent) if end > 0]
    if not limiting:
        return ahead
    most = min(limiting)
    return RaceForecast(
        low=min(ahead.low, most),
        likely=most if ahead.likely is None else min(ahead.likely, most),
        high=most if ahead.high is None else min(ahead.high, most),
        an_instance=ahead.an_instance,
    )


def _ends(
    ahead: RaceForecast, state: State, batch: Batch, limits: RaceLimits, spent: float
) -> list[int]:
    """Further instances until each of the limits that are set; not positive for one in the past."""
    ends = []
    if limits.instances is not None:
        ends.append(limits.instances - state.instances)
    if limits.rounds is not None:
        drawn = 0
        size = state.batch
        for _ in range(limits.rounds - state.round):
            drawn += size
            size = batch.within(2 * size, state.instances + drawn)
        ends.append(drawn)
    if limits.spent is not None and ahead.an_instance:
        remaining = (limits.spent - spent) / ahead.an_instance
        # A race finishes the round in which it reaches this limit.
        ends.append(math.ceil(remaining) + state.batch if remaining > 0 else 0)
    return ends


def forecast(
    state: State, rules: Rules, tables: DecisionTables, most: int | None, seed: int
) -> RaceForecast | None:
    """A range of further instances until a race ends; None where it is unknown.

    ``most`` is the number of instances left in a finite suite. Each open pair is taken as a normal
    posterior, and each open choice as one of the difference between the choice and its rival. In
    each of many futures the true difference is drawn from that posterior, the evidence of further
    rounds is drawn given the difference, and the race's rules are followed.
    """
    if state.round < MIN_ROUNDS or state.joining or not open_questions(state):
        return None
    looks = _looks(state, rules, most)
    rng = np.random.default_rng(seed)
    ends = np.full(N_FUTURES, float(state.instances))
    if state.open_pairs and not state.is_for_preferences:
        ends = _ends_of_futures(state, rules, tables, looks, rng)
    ends = np.maximum(ends, _ends_of_choices(state, rules, looks, rng))
    if most is not None:
        ends[np.isinf(ends)] = looks[-1]
    further = ends - state.instances
    low = np.quantile(further, LOW, method="inverted_cdf")
    return RaceForecast(
        low=int(min(low, looks[-1] - state.instances)),
        likely=_finite(np.quantile(further, 0.5, method="inverted_cdf")),
        high=_finite(np.quantile(further, HIGH, method="inverted_cdf")),
        an_instance=float(sum(map(sum, budgets(state, rules).values()))),
    )


def _finite(instances: float) -> int | None:
    """A number of instances, None where it is beyond the horizon."""
    return int(instances) if np.isfinite(instances) else None


def _looks(state: State, rules: Rules, most: int | None) -> list[int]:
    """Numbers of instances after each further round, with growing batches."""
    last = MAX_GROWTH * state.instances
    if most is not None:
        last = state.instances + max(most, 1)
    looks: list[int] = []
    instances = state.instances
    batch = state.batch
    while instances < last:
        instances = min(instances + batch, last)
        looks.append(instances)
        # Later looks may be coarse; a race looks more often.
        batch = max(rules.batch.within(2 * batch, instances), instances // 12)
    return looks


def _ends_of_futures(
    state: State, rules: Rules, tables: DecisionTables, looks: list[int], rng: np.random.Generator
) -> np.ndarray:
    """Instances at the end of each simulated future of a race; infinite beyond the last look.

    Draws are the same at all times: a pair's score at a time is its lead there, grown by the
    evidence, plus one number per pair.
    """
    has_open = (state.settled == OPEN).any(axis=1)
    codes = state.settled[has_open]
    first, second = np.triu_indices(len(state.algorithms), 1)
    a = first[has_open]
    b = second[has_open]
    lead_by_time, width_by_time = _normal_scores(tables, a, b)
    lead = lead_by_time.T  # [pair, time]
    width = width_by_time.T
    threshold = _score_of(rules.alpha)
    now = state.instances
    shape = (N_FUTURES, len(a))
    drift = rng.standard_normal(shape)
    walk = np.zeros(shape)
    pairs = [_SimulatedPair(row, rules) for row in codes]
    eliminated = np.zeros((len(state.algorithms), N_FUTURES), dtype=bool)
    is_done = np.zeros((len(a), N_FUTURES), dtype=bool)
    ends = np.full(N_FUTURES, np.inf)
    for before, after in zip([now, *looks], looks, strict=False):
        walk += np.sqrt(after - before) * rng.standard_normal(shape)
        shift = ((drift * (after - now) / np.sqrt(now) + walk) / np.sqrt(after)).T  # [pair, future]
        leads = lead * np.sqrt(after / now)
        widths = width * np.sqrt(after / now)
        reach = _reach(widths, rules.alpha)
        needed = _elimination_scores(state, rules, after)[a, b]
        is_above = shift + leads.min(axis=1)[:, None] >= needed[:, None]
        is_below = shift + leads.max(axis=1)[:, None] <= -needed[:, None]
        np.logical_or.at(eliminated, b, is_above)
        np.logical_or.at(eliminated, a, is_below)
        is_done |= eliminated[a] | eliminated[b]
        for k, pair in enumerate(pairs):
            futures = np.flatnonzero(~is_done[k])
            scores = shift[k, futures, None] + leads[k]
            pair.look(futures, shown_by_scores(scores, widths[k], reach[k], threshold))
            pair.reopen(futures, scores, float(needed[k]))
            is_done[k, futures] = ~pair.is_open[futures].any(axis=1)
        ends[np.isinf(ends) & is_done.all(axis=0)] = after
        if np.isfinite(ends).all():
            break
    return ends


def _ends_of_choices(
    state: State, rules: Rules, looks: list[int], rng: np.random.Generator
) -> np.ndarray:
    """Instances at which no choice is open any more, in each simulated future.

    Draws are the same for all open choices, since most of them are at neighbouring times.
    """
    from scipy.special import ndtr

    now = state.instances
    ends = np.full(N_FUTURES, float(now))
    drift = rng.standard_normal(N_FUTURES)
    walks = []
    walk = np.zeros(N_FUTURES)
    for before, after in zip([now, *looks], looks, strict=False):
        walk = walk + np.sqrt(after - before) * rng.standard_normal(N_FUTURES)
        walks.append(walk)
    for question in state.choices:
        for choice in question.open:
            lead, error = _difference(choice)
            is_open = np.ones(N_FUTURES, dtype=bool)
            for after, walked in zip(looks, walks, strict=True):
                # The score of the difference, in standard errors after this look.
                shift = (drift * (after - now) / np.sqrt(now) + walked) / np.sqrt(after)
                scores = lead / error * np.sqrt(after / now) + shift
                error_then = error * np.sqrt(now / after)
                is_answered = error_then * _unit_loss(np.abs(scores)) <= question.threshold
                # With two algorithms the difference of values is twice that of win rates.
                width = 2 * rules.epsilon / error_then
                p_alike = ndtr(width - scores) - ndtr(-width - scores)
                is_answered |= p_alike >= rules.alpha
                ends[is_open & is_answered] = np.maximum(ends[is_open & is_answered], after)
                is_open &= ~is_answered
            ends[is_open] = np.inf
    return ends


def _difference(choice: OpenChoice) -> tuple[float, float]:
    """The difference of an open choice and its rival in value, as a normal posterior.

    Its mean and standard deviation give the P(best) and the expected regret of the choice, which
    are 0.5 and large before the first round.
    """
    from scipy.special import ndtri

    p_best = 0.5 if choice.p_best is None else max(choice.p_best, 0.5)
    regret = 1.0 if choice.regret is None else choice.regret
    score = float(ndtri(min(p_best, 1 - MIN_TAIL)))
    error = max(regret, MIN_TAIL) / float(_unit_loss(np.array(score)))
    return score * error, error


def _unit_loss(score: np.ndarray) -> np.ndarray:
    """E[max(-(Z + score), 0)] of a standard normal Z: the expected regret in standard errors."""
    from scipy.special import ndtr

    density = np.exp(-0.5 * score**2) / np.sqrt(2 * np.pi)
    return np.asarray(density - score * ndtr(-score))


class _SimulatedPair:
    """The relation of one pair in each future: ``codes[future, time]``, as in the state of a race.

    ``relations[future]`` are relations that were shown at some time that was open until then,
    in the race so far or in the future.
    """

    def __init__(self, codes: np.ndarray, rules: Rules) -> None:
        self._resolution = rules.resolution
        self.codes = np.repeat(codes[np.newaxis], N_FUTURES, axis=0)
        self.relations = _with_no_worse(
            above=np.full(N_FUTURES, (codes == ABOVE).any()),
            below=np.full(N_FUTURES, (codes == BELOW).any()),
            alike=np.full(N_FUTURES, (codes == ALIKE).any()),
        )

    @property
    def is_open(self) -> np.ndarray:
        """Whether a time is open: bool[future, time]."""
        return np.asarray(self.codes == OPEN)

    def look(self, futures: np.ndarray, relations: ShownRelations) -> None:
        """Settle what the scores of these futures show: relations[future, time]."""
        earlier = ShownRelations(*(relation[futures] for relation in self.relations))
        codes = settled_relations(self._resolution, relations, earlier)
        was_open = self.is_open[futures]
        shown_at_open = _with_no_worse(
            above=(relations.above & was_open).any(axis=1),
            below=(relations.below & was_open).any(axis=1),
            alike=(relations.alike & was_open).any(axis=1),
        )
        for relation, change in zip(self.relations, shown_at_open, strict=True):
            relation[futures] |= change
        self.codes[futures] = np.where(was_open, codes, self.codes[futures])

    def reopen(self, futures: np.ndarray, scores: np.ndarray, needed: float) -> None:
        """Keep open where one is better at every time, but not sure enough to eliminate the other.

        The weakest time stays open, and each time at which scores[future, time] are below the
        needed ones.
        """
        for code, leads in ((ABOVE, scores), (BELOW, -scores)):
            rows = np.flatnonzero((self.codes[futures] == code).all(axis=1))
            stays_open = leads[rows] < needed
            stays_open[np.arange(len(rows)), leads[rows].argmin(axis=1)] = True
            codes = self.codes[futures[rows]]
            codes[stays_open] = OPEN
            self.codes[futures[rows]] = codes


def shown_by_scores(
    scores: np.ndarray, width: np.ndarray, reach: np.ndarray, threshold: float
) -> ShownRelations:
    """The relations of a pair that its scores[future, time] show.

    A score is the difference of the pair in standard deviations. ``width[time]`` is the half-width
    of the ROPE, ``reach[time]`` the largest score of a pair that is equivalent.
    """
    return _with_no_worse(
        above=scores >= threshold,
        below=scores <= -threshold,
        alike=abs(scores) <= reach,
        a_no_worse=width + scores >= threshold,
        b_no_worse=width - scores >= threshold,
    )


def _with_no_worse(
    above: np.ndarray,
    below: np.ndarray,
    alike: np.ndarray,
    a_no_worse: np.ndarray | bool = False,
    b_no_worse: np.ndarray | bool = False,
) -> ShownRelations:
    """Shown relations, in which what is better or equivalent is also no worse."""
    return ShownRelations(
        above, below, alike, a_no_worse | above | alike, b_no_worse | below | alike
    )


def _elimination_scores(state: State, rules: Rules, instances: int) -> np.ndarray:
    """The score at every time at which a eliminates b after this number of instances: [a, b].

    The wealth that a guarantee asks for is that of duels on all these instances.
    """
    n = len(state.algorithms)
    by_probability = np.full((n, n), _score_of(rules.alpha))
    if rules.guarantee == "none":
        return by_probability
    from polarbear.racing.anytime_bound import proving_score, shares_of_error

    if rules.guarantee == "pair":
        return np.asarray(np.maximum(by_probability, proving_score(instances, 1 - rules.alpha)))
    errors, index = np.unique(
        (1 - rules.alpha) * shares_of_error(n, state.initial), return_inverse=True
    )
    by_error = np.array([proving_score(instances, float(error)) for error in errors])
    return np.asarray(by_error[index.reshape(n, n)])


def _score_of(alpha: float) -> float:
    """The score at which a pair is shown to be better."""
    from scipy.special import ndtri

    return float(ndtri(min(alpha, 1 - MIN_TAIL)))


def _reach(width: np.ndarray, alpha: float) -> np.ndarray:
    """The largest score with P(equivalent) >= alpha; -1 where there is none."""
    widths, scores = _reaches(alpha)
    reach = np.interp(width, widths, scores, left=-1.0)
    is_far = width > widths[-1]  # the other end of the ROPE does not matter
    reach[is_far] = width[is_far] - _score_of(alpha)
    return np.asarray(reach)


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
    from scipy.special import ndtri

    above = tables.better[:, a, b]
    below = tables.better[:, b, a]
    total = above + below
    share = np.divide(above, total, out=np.full_like(above, 0.5), where=total > 0)
    lead = ndtri(np.clip(share, MIN_TAIL, 1 - MIN_TAIL))
    return lead, _half_width(np.abs(lead), tables.equivalent[:, a, b])


def _half_width(shift: np.ndarray, alike: np.ndarray) -> np.ndarray:
    """The half-width w of the ROPE in standard deviations, from P(|Z + shift| <= w)."""
    from scipy.special import chndtrix

    alike = np.clip(alike, MIN_TAIL, 1 - MIN_TAIL)
    return np.asarray(np.sqrt(chndtrix(alike, 1, shift**2)))
