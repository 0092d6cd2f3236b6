"""Successive halving and Hyperband, the budget being the time that a run may take.

Jamieson and Talwalkar (2016), Li et al. (2018). What is compared is the mean rank at the rung's
time over a rung's instances; runs that go on keep what they had. The answer is one algorithm, good
at the last time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata


@dataclass(frozen=True)
class Halved:
    """Who won, and what it cost in whole runs."""

    winner: int
    spent: float
    order: tuple[int, ...]  # who was dropped first comes first; the winner last


def rungs(n: int, eta: int, least: float) -> list[tuple[int, float]]:
    """How many are left, and up to which share of the whole time they run."""
    found, left, share = [], n, least
    while True:
        found.append((left, min(share, 1.0)))
        if left == 1 or share >= 1.0:
            return found
        left, share = max(1, left // eta), share * eta


def successive_halving(
    values: np.ndarray, cost: np.ndarray, eta: int = 2, least: float = 0.25
) -> Halved:
    """On these instances; ``cost[time]`` of a run, its last being a whole one."""
    left = list(range(values.shape[1]))
    reached, spent, dropped = 0.0, 0.0, []
    for _, share in rungs(len(left), eta, least):
        step = int(np.searchsorted(cost, share * cost[-1] - 1e-9))
        spent += len(values) * len(left) * (cost[step] - reached) / cost[-1]
        reached = cost[step]
        order = np.argsort(rankdata(values[:, left, step], axis=1).mean(axis=0), kind="stable")
        last = share >= 1.0
        keep = 1 if last else max(1, len(left) // eta)
        dropped += [left[i] for i in order[keep:][::-1]]
        left = [left[i] for i in order[:keep]]
        if len(left) == 1:
            break
    return Halved(left[0], float(spent), (*dropped, left[0]))


def hyperband(values: np.ndarray, cost: np.ndarray, eta: int = 2, brackets: int = 3) -> Halved:
    """Brackets that begin with less and less time, each on its share of the instances.

    The winner is the best of the brackets' winners at the last time, by all instances they ran on.
    """
    parts = np.array_split(np.arange(len(values)), brackets)
    found = [
        successive_halving(values[part], cost, eta, 1.0 / eta**bracket)
        for bracket, part in enumerate(parts)
    ]
    spent = sum(one.spent for one in found)
    winners = sorted({one.winner for one in found})
    if len(winners) == 1:
        return Halved(winners[0], spent, found[0].order)
    part = parts[0]  # in the first bracket all have run to the end
    means = rankdata(values[part][:, winners, -1], axis=1).mean(axis=0)
    return Halved(winners[int(means.argmin())], spent, found[0].order)
