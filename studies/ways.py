"""Ways to race on values that are there: the paper's, and PolarBear's default.

Posteriors under Plackett-Luce are importance-weighted Laplace draws (see
`benchmarks/quick_beliefs.py`) wherever Pareto-k vouches for them, the engine's own otherwise: in
thousands of rounds the same relations for a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import common
import numpy as np
from quick_beliefs import QuickPosterior
from replay import Beliefs, Found, Replayed, replay

from polarbear.inference import ModelOptions, Posterior, infer, relations
from polarbear.inference.dependence import evidence_weight
from polarbear.numerics.seeds import derived_seed
from polarbear.racing import State
from polarbear.racing.rules import Rules
from polarbear.rankings import count_choice_sets, rank

assert common.ROOT  # importing it makes quick_beliefs and replay importable
DRAWS = 1000


@dataclass(frozen=True)
class Way:
    """A model, rules, and whether decisions under Plackett-Luce heed the record of duels."""

    name: str
    options: ModelOptions
    rules: Rules
    heeds_duels: bool = False

    @staticmethod
    def of(name: str, options: ModelOptions, rules: Rules, heeds_duels: bool = False) -> Way:
        """With rules that leave nothing open, and as many draws as a replay takes."""
        options = options.model_copy(update={"draws": DRAWS})
        return Way(name, options, rules.under(options.joint, options.plackett_luce), heeds_duels)


def drawn(
    way: Way, values: np.ndarray, present: np.ndarray, unit: np.ndarray, seed: int
) -> Posterior | tuple[np.ndarray, np.ndarray, QuickPosterior]:
    """What a round infers: a posterior, or weighted draws of theta."""
    positions = rank(values, present)
    sets = count_choice_sets(positions)
    options = way.options
    if options.plackett_luce:
        if options.temporal and options.dependence != "independent":
            sets = sets.weighted(evidence_weight(positions, sets, unit, options))
            options = options.model_copy(update={"dependence": "independent"})
        quick = QuickPosterior(sets, unit, options)
        found = quick.drawn(DRAWS, seed)
        if found is not None:
            return (*found, quick)
        options = options.model_copy(update={"draws": 4 * DRAWS})
    return infer(sets, unit, options, seed, threads=1, positions=positions)


def believer(way: Way, values: np.ndarray, unit: np.ndarray, seed: int) -> Beliefs:
    """Relations from what a race has seen of these values so far."""

    def beliefs(present: np.ndarray, state: State) -> Found:
        found = drawn(
            way, values[: len(present)], present, unit, derived_seed(seed, "round", state.round)
        )
        if not isinstance(found, Posterior):
            return found[2].relations(found[0], found[1], way.rules.epsilon)
        if not found.usable:
            return None, None
        joint = relations.joint(found) if way.rules.elimination == "joint" else None
        return relations.pointwise(found, way.rules.epsilon, threads=1), joint

    return beliefs


def raced(
    way: Way,
    values: np.ndarray,
    names: Sequence[str],
    times: np.ndarray,
    unit: np.ndarray,
    seed: int,
) -> Replayed:
    """A whole race on these values, runs costing as much as the time they go up to."""
    return replay(
        values, names, times, way.rules, believer(way, values, unit, seed), way.heeds_duels
    )


def duel_draws(
    way: Way, values: np.ndarray, present: np.ndarray, unit: np.ndarray, seed: int
) -> np.ndarray:
    """Draws of how likely a beats b, equally weighted: [draw, time, pair], pairs in their order."""
    found = drawn(way, values, present, unit, seed)
    n = values.shape[1]
    a, b = np.triu_indices(n, 1)
    if isinstance(found, Posterior):
        return np.stack(
            [found.head_to_head(int(i), int(j)) for i, j in zip(a, b, strict=True)], axis=2
        )
    theta, weights, _ = found
    rng = np.random.default_rng(seed)
    kept = np.empty_like(theta)
    for t in range(theta.shape[1]):
        of_time = weights[:, min(t, weights.shape[1] - 1)]
        if t == 0 or weights.shape[1] > 1:
            chosen = rng.choice(len(theta), size=len(theta), p=of_time)
        kept[:, t] = theta[chosen, t]
    return np.asarray(kept[:, :, a] / (kept[:, :, a] + kept[:, :, b]))
