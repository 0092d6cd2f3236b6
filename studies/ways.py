"""Ways to race on recorded values: the paper's, and PolarBear's default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import common  # noqa: F401 - makes the modules of benchmarks/ importable
import numpy as np
from replay import Rankings, Replayed, Tables, by_duels, replay

from polarbear.inference import ModelOptions, Posterior, infer, relations
from polarbear.inference.relations import DecisionTables
from polarbear.numerics.seeds import derived_seed
from polarbear.racing import State
from polarbear.racing.rules import Batch, Rules
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets

DRAWS = 1000


@dataclass(frozen=True)
class Way:
    """A model, rules, and whether eliminations under Plackett-Luce need support by the duels."""

    name: str
    options: ModelOptions
    rules: Rules
    heeds_duels: bool = False

    @staticmethod
    def of(name: str, options: ModelOptions, rules: Rules, heeds_duels: bool = False) -> Way:
        """A way with every 'auto' of the rules resolved, and the number of draws of a replay."""
        options = options.model_copy(update={"draws": DRAWS})
        return Way(name, options, rules.under(options.temporal), heeds_duels)


def by_default(rules: Rules) -> Rules:
    """The paper's levels of confidence, PolarBear's defaults for the rest."""
    batch = rules.batch.model_copy(update={"share": Batch().share})
    defaults = Rules()
    own = {
        "elimination": "auto",
        "truncate": None,
        "resolution": defaults.resolution,
        "guarantee": defaults.guarantee,
    }
    return rules.model_copy(update={**own, "batch": batch})


def drawn(
    strategy: Way, values: np.ndarray, present: np.ndarray, unit: np.ndarray, seed: int
) -> Posterior:
    """The posterior of the values that a race has used, which ``present`` marks."""
    positions = rank(values, present)
    sets = count_choice_sets(positions)
    return infer(sets, unit, strategy.options, seed, threads=1, positions=positions)


def _by_ratings(strategy: Way, unit: np.ndarray, seed: int) -> Tables:
    """Decisions by a Plackett-Luce model."""

    def tables(rankings: Rankings, state: State) -> DecisionTables | None:
        turn = derived_seed(seed, "round", state.round)
        positions = rankings.positions
        sets = count_choice_sets(positions)
        posterior = infer(sets, unit, strategy.options, turn, threads=1, positions=positions)
        if not posterior.usable:
            return None
        return relations.decision_tables(
            posterior, strategy.rules.epsilon, strategy.rules.elimination
        )

    return tables


def raced(
    strategy: Way,
    values: np.ndarray,
    names: Sequence[str],
    times: np.ndarray,
    unit: np.ndarray,
    seed: int,
) -> Replayed:
    """A whole race on these values; a run costs the time that it goes up to."""
    plackett_luce = strategy.options.plackett_luce
    tables = _by_ratings(strategy, unit, seed) if plackett_luce else by_duels(strategy.rules)
    return replay(values, names, times, strategy.rules, tables, strategy.heeds_duels)


def duel_draws(
    strategy: Way, values: np.ndarray, present: np.ndarray, unit: np.ndarray, seed: int
) -> np.ndarray:
    """Draws of P(a beats b): [draw, time, pair], pairs in their order."""
    posterior = drawn(strategy, values, present, unit, seed)
    pairs = zip(*np.triu_indices(values.shape[1], 1), strict=True)
    return np.stack([posterior.head_to_head(int(a), int(b)) for a, b in pairs], axis=2)
