"""The algorithms that no other one dominates, and evidence that is reduced to these."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from polarbear.facts.evidence import Evidence, ranked
from polarbear.inference import ModelOptions
from polarbear.inference.dispatch import draws_that_fit
from polarbear.inference.empirical.pair_probabilities import p_always_better
from polarbear.racing.decide import reached
from polarbear.racing.recommendation import MIN_PROBLEMS
from polarbear.settings.decision_levels import DEFAULT_ALPHA
from polarbear.wording import counted, short


def undominated(dominates: np.ndarray, shared: np.ndarray | None) -> list[int]:
    """The indices of the algorithms that no other one dominates: dominates[a, b].

    An algorithm is not left out because of a cycle of dominances, nor on fewer problems, in
    shared[time, pair], than a recommendation needs.
    """
    dominates = dominates.copy()
    if shared is not None:
        is_enough = (shared >= MIN_PROBLEMS).all(axis=0)
        first, second = np.triu_indices(len(dominates), 1)
        dominates[first, second] &= is_enough
        dominates[second, first] &= is_enough
    is_on_cycle = dominates & reached(dominates).T
    dominates &= ~is_on_cycle
    return [int(i) for i in np.flatnonzero(~dominates.any(axis=0))]


def that_fits(evidence: Evidence, options: ModelOptions, tie_tolerance: float = 0.0) -> Evidence:
    """The evidence, without dominated algorithms if draws of all pairs exceed the memory.

    They are dominated by the exact probabilities of duels, which need no draws. Evidence that
    memory holds, and that of models or problems without these probabilities, is unchanged.
    """
    grid = evidence.grid
    if options.plackett_luce or evidence.results is not None:
        return evidence
    if draws_that_fit(len(grid.algorithms), len(grid.times), options):
        return evidence
    record = evidence.duels.record()
    if record.has_fractions:
        return evidence
    dominates = p_always_better(record, options.concentration) >= DEFAULT_ALPHA
    candidates = undominated(dominates, record.shared)
    n_left_out = len(grid.algorithms) - len(candidates)
    if not n_left_out or len(candidates) < 2:
        return evidence
    names = [grid.algorithms[i] for i in candidates]
    weights = None if evidence.weights is None else evidence.weights.tolist()
    reduced = ranked(
        grid.pick(grid.instances, names),
        evidence.unit_times,
        tie_tolerance,
        evidence.problems,
        weights,
    )
    note = (
        f"{n_left_out} of {counted(len(grid.algorithms), 'algorithm')} left out, for which another "
        f"one is better at each time, P >= {short(DEFAULT_ALPHA)}: draws of all pairs would take "
        "over 0.75 GiB"
    )
    return replace(reduced, notes=(note,))
