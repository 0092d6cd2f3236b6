"""The choice as the budget, or the uncertainty about it, varies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from polarbear.inference import Posterior
from polarbear.inference.strongest_rival import rival_values
from polarbear.preferences import Variations
from polarbear.select.criteria import GAMMA, Risk, check_gamma, lower_quantile
from polarbear.select.values import Value


@dataclass(frozen=True)
class Interval:
    """Neighbouring positions with the same choice.

    How likely it is to be the best there: on average, at worst and at best; and the highest
    expected regret.
    """

    start: float
    stop: float
    choice: int
    p2bb: float
    lowest_p2bb: float
    highest_p2bb: float
    regret: float


@dataclass(frozen=True)
class Sweep:
    """At each position: P(best)[position, item], the choice and its expected regret."""

    variations: Variations
    p2bb: np.ndarray
    choices: np.ndarray
    regret: np.ndarray

    def intervals(self) -> list[Interval]:
        """Where each choice begins and ends."""
        positions = self.variations.positions
        changes = np.flatnonzero(np.diff(self.choices)) + 1
        edges = [0, *changes.tolist(), len(positions)]
        made = []
        for start, stop in pairwise(edges):
            choice = int(self.choices[start])
            likely = self.p2bb[start:stop, choice]
            made.append(
                Interval(
                    float(positions[start]),
                    float(positions[stop - 1]),
                    choice,
                    float(likely.mean()),
                    float(likely.min()),
                    float(likely.max()),
                    float(self.regret[start:stop].max()),
                )
            )
        return made


def sweep(
    posterior: Posterior,
    items: Sequence[int],
    variations: Variations,
    risk: Risk,
    gamma: float = GAMMA,
    value: Value = "duels",
) -> Sweep:
    """The choice among the items at each position."""
    check_gamma(gamma)
    # smaller weights are negligible, and denormal in single precision, which is slow
    weights = np.where(variations.weights > 1e-12, variations.weights, 0.0).astype(np.float32)

    def at_positions(curve: np.ndarray) -> np.ndarray:
        return np.asarray(curve.astype(np.float32, copy=False) @ weights.T)

    if value == "duels":
        found = rival_values(posterior, items, at_positions)
    else:
        found = np.stack([at_positions(posterior.theta[:, :, i]) for i in items], axis=2)
    values = [np.ascontiguousarray(one.T) for one in np.moveaxis(found, 2, 0)]
    best = values[0].copy()
    for one in values[1:]:
        np.maximum(best, one, out=best)
    p2bb = _shares_of_wins(values, best)
    mean = np.stack([one.mean(axis=1, dtype=np.float64) for one in values], axis=1)
    merit = p2bb
    if risk in ("mean", "regret"):
        merit = mean
    elif risk == "quantile":
        merit = np.stack([lower_quantile(one, gamma) for one in values], axis=1)
    choices = _best(merit, mean)
    rows = np.arange(len(choices))
    regret = np.maximum(best.mean(axis=1, dtype=np.float64) - mean[rows, choices], 0.0)
    return Sweep(variations, p2bb, choices, regret)


def _shares_of_wins(values: list[np.ndarray], best: np.ndarray) -> np.ndarray:
    """P(best) of each item at each position; ties are shared."""
    is_best = [one >= best for one in values]
    alone = np.stack([np.count_nonzero(flags, axis=1) for flags in is_best], axis=1)
    if alone.sum() == best.size:  # no ties
        return np.asarray(alone / best.shape[1])
    winners = np.sum(is_best, axis=0)
    return np.stack([(flags / winners).mean(axis=1) for flags in is_best], axis=1)


def _best(merit: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The item with the highest merit at each position; the mean decides between equals."""
    at_the_top = merit >= merit.max(axis=1, keepdims=True)
    return np.asarray(np.where(at_the_top, mean, -np.inf).argmax(axis=1))
