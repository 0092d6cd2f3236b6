"""Ways to race on values that are there: the paper's, and PolarBear's default.

Posteriors under Plackett-Luce are importance-weighted Laplace draws (see
`benchmarks/quick_beliefs.py`) wherever Pareto-k vouches for them, the engine's own otherwise: in
thousands of rounds the same relations for a tenth of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import common  # noqa: F401 - makes the modules of benchmarks/ importable
import numpy as np
from quick_beliefs import QuickPosterior
from replay import Beliefs, Found, Replayed, replay

from polarbear.inference import ModelOptions, Posterior, infer, relations
from polarbear.inference.plackett_luce.composite_weight import composite_weight
from polarbear.numerics.seeds import derived_seed
from polarbear.racing import State
from polarbear.racing.rules import Batch, Rules
from polarbear.rankings import count_choice_sets, rank

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


def by_default(rules: Rules) -> Rules:
    """The paper's rules as far as they say how sure to be, PolarBear's own for the rest."""
    batch = rules.batch.model_copy(update={"share": Batch().share})
    own = {"elimination": "auto", "truncate": None, "resolution": Rules().resolution}
    return rules.model_copy(update={**own, "batch": batch})


@dataclass(frozen=True)
class Weighted:
    """Weighted draws of Plackett-Luce ratings: theta[draw, time, algorithm], weights[draw, time].

    Weights of a temporal model are those of whole trajectories: [draw, 1].
    """

    theta: np.ndarray
    weights: np.ndarray
    quick: QuickPosterior

    def resampled(self, seed: int) -> np.ndarray:
        """Draws of theta that all count the same."""
        rng, kept = np.random.default_rng(seed), np.empty_like(self.theta)
        draws, columns = self.weights.shape
        for column in range(columns):
            times = slice(column, column + 1) if columns > 1 else slice(None)
            chosen = rng.choice(draws, size=draws, p=self.weights[:, column])
            kept[:, times] = self.theta[chosen, times]
        return kept


def drawn(
    way: Way, values: np.ndarray, present: np.ndarray, unit: np.ndarray, seed: int
) -> Posterior | Weighted:
    """What a round infers: a posterior, or weighted draws of ratings."""
    positions = rank(values, present)
    sets = count_choice_sets(positions)
    options = way.options
    if options.plackett_luce:
        if options.temporal and options.dependence != "independent":
            sets = sets.weighted(composite_weight(positions, sets, unit, options))
            options = options.model_copy(update={"dependence": "independent"})
        quick = QuickPosterior(sets, unit, options)
        theta, weights, trusted = quick.drawn(DRAWS, seed)
        options = options.model_copy(update={"draws": 4 * DRAWS})
        if not options.temporal:
            doubted = np.flatnonzero(~trusted)
            if len(doubted):
                mended = infer(sets.pick(doubted), unit[doubted], options, seed, threads=1)
                theta[:, doubted] = mended.theta[::4][: len(theta)]
                weights[:, doubted] = 1 / len(theta)
            return Weighted(theta, weights, quick)
        if trusted.all():
            return Weighted(theta, weights, quick)
    return infer(sets, unit, options, seed, threads=1, positions=positions)


def believer(way: Way, values: np.ndarray, unit: np.ndarray, seed: int) -> Beliefs:
    """Relations from what a race has seen of these values so far."""

    def beliefs(present: np.ndarray, state: State) -> Found:
        found = drawn(
            way, values[: len(present)], present, unit, derived_seed(seed, "round", state.round)
        )
        if isinstance(found, Weighted):
            return found.quick.relations(found.theta, found.weights, way.rules.epsilon)
        if not found.usable:
            return None, None
        joint = relations.joint(found) if way.rules.elimination == "joint" else None
        return relations.pointwise(found, way.rules.epsilon, threads=1, no_worse=True), joint

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
    theta = found.resampled(seed)
    return np.asarray(theta[:, :, a] / (theta[:, :, a] + theta[:, :, b]))
