"""Duels of fronts: which of two archives on one instance is better, or neither.

Archives with less violation are better. Of two archives with equal violations the rule of a race
decides. `dominance` and `coverage` depend on the order of the values of each objective only, so
they do not change under increasing transformations. The others are indicators that depend on units;
moocore computes them.

``results[instance, pair, time]`` has WIN where the first of a pair is better, LOSS where the second
one is, DRAW where they are equal, INCOMPARABLE where neither is better though they differ, and
NOT_MET where one of the two is absent. Pairs are in the order of np.triu_indices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from operator import is_
from typing import NamedTuple

import numpy as np

from polarbear.numerics.arrays import Floats
from polarbear.rankings.archives import union

WIN = 1
LOSS = -1
DRAW = 0
INCOMPARABLE = 2
NOT_MET = 3
MARGIN = 0.1  # of the range, between the worst values and the default reference point
MAX_COMPARED = 2**22  # pairs of points that are compared at once


class DuelRule(StrEnum):
    """The rules by which one front is better than another."""

    COVERAGE = "coverage"
    DOMINANCE = "dominance"
    HYPERVOLUME = "hypervolume"
    EPSILON = "epsilon"
    IGD_PLUS = "igd+"


SCALE_FREE = (DuelRule.COVERAGE, DuelRule.DOMINANCE)


@dataclass(frozen=True)
class DuelSettings:
    """The rule of duels, and the reference point of hypervolume; None for that of each pair."""

    rule: DuelRule = DuelRule.COVERAGE
    reference: tuple[float, ...] | None = None

    @classmethod
    def of(
        cls, rule: DuelRule, reference: Sequence[float] | None, maximise: bool
    ) -> "DuelSettings":
        """The settings with a reference point in values of the problem."""
        if reference is None:
            return cls(rule)
        sign = -1 if maximise else 1
        return cls(rule, tuple(sign * float(value) for value in reference))


BY_COVERAGE = DuelSettings()


class FrontsOfRun(NamedTuple):
    """The fronts of a run, or of several together, at each time; violations are None if all 0."""

    fronts: np.ndarray
    present: np.ndarray
    violations: Floats | None


def results_of(runs: Sequence[Sequence[FrontsOfRun]], settings: DuelSettings) -> np.ndarray:
    """The results of all pairs of runs[instance][algorithm]: int8[instance, pair, time]."""
    n_algorithms = len(runs[0]) if runs else 0
    n_times = len(runs[0][0].fronts) if n_algorithms else 0
    n_pairs = n_algorithms * (n_algorithms - 1) // 2
    results = np.full((len(runs), n_pairs, n_times), NOT_MET, dtype=np.int8)
    for instance, runs_on_instance in enumerate(runs):
        for pair, (a, b) in enumerate(combinations(runs_on_instance, 2)):
            results[instance, pair] = results_of_pair(a, b, settings)
    return results


def results_of_pair(a: FrontsOfRun, b: FrontsOfRun, settings: DuelSettings) -> np.ndarray:
    """The results of the duels of two runs: int8[time]."""
    results = np.full(len(a.fronts), NOT_MET, dtype=np.int8)
    compare = _comparison(a.fronts, b.fronts, settings)
    last: tuple[Floats, Floats, int] | None = None
    for time in np.flatnonzero(a.present & b.present).tolist():
        if a.violations is not None and b.violations is not None:
            of_a = a.violations[time]
            of_b = b.violations[time]
            if of_a != of_b:
                results[time] = WIN if of_a < of_b else LOSS
                continue
        front_a = a.fronts[time]
        front_b = b.fronts[time]
        # Most fronts stay for several times of a grid.
        if last is None or last[0] is not front_a or last[1] is not front_b:
            last = (front_a, front_b, _result(front_a, front_b, compare))
        results[time] = last[2]
    return results


def union_of_runs(runs: Sequence[FrontsOfRun]) -> FrontsOfRun:
    """The fronts of several runs together, at the times at which all of them are present."""
    present = np.all([run.present for run in runs], axis=0)
    fronts = np.empty(len(present), dtype=object)
    violations_of_runs = [run.violations for run in runs if run.violations is not None]
    violations = np.min(violations_of_runs, axis=0) if violations_of_runs else None
    before: list[Floats] = []
    for time in range(len(present)):
        parts = [
            run.fronts[time]
            for run in runs
            if violations is None
            or run.violations is None
            or run.violations[time] == violations[time]
        ]
        is_same = len(parts) == len(before) and all(map(is_, parts, before))
        if time and is_same:
            fronts[time] = fronts[time - 1]
        else:
            fronts[time] = union(parts) if parts else runs[0].fronts[time][:0]
        before = parts
    return FrontsOfRun(fronts, present, violations)


Comparison = Callable[[Floats, Floats], int]


def _result(a: Floats, b: Floats, compare: Comparison) -> int:
    """The result of a duel of two fronts with equal violations, which may be empty."""
    if not len(a) or not len(b):
        return int(len(a) > 0) - int(len(b) > 0)
    return compare(a, b)


def _comparison(fronts_a: np.ndarray, fronts_b: np.ndarray, settings: DuelSettings) -> Comparison:
    """The function that compares two fronts of a pair of runs, whose fronts over time are these.

    The references of indicators depend on the pair only, so that no other algorithm changes a duel.
    """
    rule = settings.rule
    if rule is DuelRule.COVERAGE:
        return _by_coverage
    if rule is DuelRule.DOMINANCE:
        return _by_dominance
    import moocore  # Duels without units do not load it.

    if rule is DuelRule.EPSILON:
        return lambda a, b: _by_score(
            *(moocore.epsilon_additive(a, ref=b), moocore.epsilon_additive(b, ref=a), a, b)
        )
    all_points = np.concatenate([*fronts_a, *fronts_b])
    if rule is DuelRule.IGD_PLUS:
        reference_set = union([all_points])
        return lambda a, b: _by_score(
            *(moocore.igd_plus(a, ref=reference_set), moocore.igd_plus(b, ref=reference_set), a, b)
        )
    reference = reference_point(all_points, settings)
    return lambda a, b: _by_score(
        *(-moocore.hypervolume(a, ref=reference), -moocore.hypervolume(b, ref=reference), a, b)
    )


def reference_point(points: Floats, settings: DuelSettings) -> Floats:
    """The reference point of hypervolume for a pair of runs that had these points."""
    if settings.reference is not None:
        return np.array(settings.reference)
    worst = points.max(axis=0, initial=-np.inf)
    best = points.min(axis=0, initial=np.inf)
    return np.asarray(worst + MARGIN * (worst - best))


def weakly_dominated(points: Floats, others: Floats) -> np.ndarray:
    """Whether each point is weakly dominated by one of the others: bool[point]."""
    if points.shape[1] == 2:
        return _weakly_dominated_2(points, others)
    n_at_once = max(1, MAX_COMPARED // others.size)
    parts = []
    for start in range(0, len(points), n_at_once):
        some_points = points[start : start + n_at_once, np.newaxis]
        is_dominating = np.all(others <= some_points, axis=2)
        parts.append(is_dominating.any(axis=1))
    return np.concatenate(parts)


def _weakly_dominated_2(points: Floats, others: Floats) -> np.ndarray:
    """The same for two objectives, by a search among the others sorted by the first one."""
    order = np.argsort(others[:, 0])
    lowest = np.minimum.accumulate(others[order, 1])
    n_not_above = np.searchsorted(others[order, 0], points[:, 0], side="right")
    is_known = n_not_above > 0
    return np.asarray(is_known & (lowest[n_not_above - 1] <= points[:, 1]))


def _by_coverage(a: Floats, b: Floats) -> int:
    """Zitzler's C in both directions: the share of one front that the other weakly dominates."""
    share_of_b = weakly_dominated(b, a).mean()
    share_of_a = weakly_dominated(a, b).mean()
    if share_of_b != share_of_a:
        return WIN if share_of_b > share_of_a else LOSS
    return _neither(a, b)


def _by_dominance(a: Floats, b: Floats) -> int:
    """Whether one front weakly dominates all of the other one, but not vice versa."""
    covers_b = bool(weakly_dominated(b, a).all())
    covers_a = bool(weakly_dominated(a, b).all())
    if covers_b != covers_a:
        return WIN if covers_b else LOSS
    return _neither(a, b)


def _by_score(score_of_a: float, score_of_b: float, a: Floats, b: Floats) -> int:
    """The result by an indicator of which smaller values are better."""
    if score_of_a != score_of_b:
        return WIN if score_of_a < score_of_b else LOSS
    return _neither(a, b)


def _neither(a: Floats, b: Floats) -> int:
    """DRAW for equal fronts, which have the same points, and INCOMPARABLE for others."""
    if len(a) != len(b):
        return INCOMPARABLE
    is_same = (a[np.lexsort(a.T)] == b[np.lexsort(b.T)]).all()
    return DRAW if is_same else INCOMPARABLE
