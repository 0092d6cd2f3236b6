"""The choice as the budget varies, or how well it is known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from polarbear.preferences import Variations
from polarbear.select.criteria import GAMMA, Risk, check_gamma, lower_quantile

_DRAWS_AT_ONCE = 256  # a block stays in the processor's cache; no result depends on it


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


def sweep(theta: np.ndarray, variations: Variations, risk: Risk, gamma: float = GAMMA) -> Sweep:
    """Choose anew at each position, from theta[draw, time, item]."""
    check_gamma(gamma)
    n = theta.shape[2]
    # Weights too small to matter would be denormal numbers in single precision, which are slow.
    weights = np.where(variations.weights > 1e-12, variations.weights, 0.0).astype(np.float32)
    # values[item][position, draw], in the precision that the store keeps
    values = [np.empty((len(weights), len(theta)), dtype=np.float32) for _ in range(n)]
    for first in range(0, len(theta), _DRAWS_AT_ONCE):
        some = slice(first, first + _DRAWS_AT_ONCE)
        curves = np.ascontiguousarray(theta[some].transpose(2, 1, 0), dtype=np.float32)
        for one, curve in zip(values, curves, strict=True):
            one[:, some] = weights @ curve
    best = values[0].copy()
    for one in values[1:]:
        np.maximum(best, one, out=best)
    p2bb = _shares_of_wins(values, best)
    mean = variations.weights @ theta.mean(axis=0, dtype=np.float64)
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
    """How often each item is the best, at each position; those that tie for it share it."""
    is_best = [one >= best for one in values]
    alone = np.stack([np.count_nonzero(flags, axis=1) for flags in is_best], axis=1)
    if alone.sum() == best.size:  # nobody ties with anybody
        return np.asarray(alone / best.shape[1])
    winners = np.sum(is_best, axis=0)
    return np.stack([(flags / winners).mean(axis=1) for flags in is_best], axis=1)


def _best(merit: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The item with the highest merit at each position; the mean decides between equals."""
    at_the_top = merit >= merit.max(axis=1, keepdims=True)
    return np.asarray(np.where(at_the_top, mean, -np.inf).argmax(axis=1))
