"""The choice as the budget varies, or how well it is known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from polarbear.preferences import Variations
from polarbear.select.criteria import GAMMA, Risk, check_gamma


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
    weights = variations.weights.T.astype(np.float32)
    # Item by item, as the store keeps its numbers: the largest arrays are [draw, position].
    values = [np.ascontiguousarray(theta[:, :, i], dtype=np.float32) @ weights for i in range(n)]
    best = values[0].copy()
    for one in values[1:]:
        np.maximum(best, one, out=best)
    is_best = [one >= best for one in values]
    ties = sum(flags.astype(np.int16) for flags in is_best)
    if np.all(ties == 1):
        p2bb = np.stack([flags.mean(axis=0) for flags in is_best], axis=1)
    else:
        p2bb = np.stack([(flags / ties).mean(axis=0) for flags in is_best], axis=1)
    mean = variations.weights @ theta.mean(axis=0)
    merit = p2bb
    if risk in ("mean", "regret"):
        merit = mean
    elif risk == "quantile":
        merit = np.stack([np.quantile(one, gamma, axis=0) for one in values], axis=1)
    choices = _best(merit, mean)
    rows = np.arange(len(choices))
    regret = np.maximum(best.mean(axis=0, dtype=np.float64) - mean[rows, choices], 0.0)
    return Sweep(variations, p2bb, choices, regret)


def _best(merit: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The item with the highest merit at each position; the mean decides between equals."""
    at_the_top = merit >= merit.max(axis=1, keepdims=True)
    return np.asarray(np.where(at_the_top, mean, -np.inf).argmax(axis=1))
