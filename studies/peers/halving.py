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
    """The winner, and the cost in whole runs."""

    winner: int
    spent: float
    order: tuple[int, ...]  # in the order in which they were dropped; the winner is last


def rungs(n: int, eta: int, least: float) -> list[tuple[int, float]]:
    """The number of algorithms in each rung, and the share of the time that they run."""
    steps = []
    n_left = n
    share = least
    while True:
        steps.append((n_left, min(share, 1.0)))
        if n_left == 1 or share >= 1.0:
            return steps
        n_left = max(1, n_left // eta)
        share *= eta


def successive_halving(
    values: np.ndarray, cost: np.ndarray, eta: int = 2, least: float = 0.25
) -> Halved:
    """On these instances; ``cost[time]`` of a run, its last being a whole one."""
    running = list(range(values.shape[1]))
    reached = 0.0
    spent = 0.0
    dropped: list[int] = []
    for _, share in rungs(len(running), eta, least):
        step = int(np.searchsorted(cost, share * cost[-1] - 1e-9))
        spent += len(values) * len(running) * (cost[step] - reached) / cost[-1]
        reached = cost[step]
        mean_ranks = rankdata(values[:, running, step], axis=1).mean(axis=0)
        order = np.argsort(mean_ranks, kind="stable")
        is_last = share >= 1.0
        n_kept = 1 if is_last else max(1, len(running) // eta)
        dropped += [running[i] for i in order[n_kept:][::-1]]
        running = [running[i] for i in order[:n_kept]]
        if len(running) == 1:
            break
    return Halved(running[0], float(spent), (*dropped, running[0]))


def hyperband(values: np.ndarray, cost: np.ndarray, eta: int = 2, brackets: int = 3) -> Halved:
    """Brackets that begin with less and less time, each on its share of the instances.

    The winner is the best of the brackets' winners at the last time, by all instances they ran on.
    """
    parts = np.array_split(np.arange(len(values)), brackets)
    halved = [
        successive_halving(values[part], cost, eta, 1.0 / eta**bracket)
        for bracket, part in enumerate(parts)
    ]
    spent = sum(bracket.spent for bracket in halved)
    winners = sorted({bracket.winner for bracket in halved})
    if len(winners) == 1:
        return Halved(winners[0], spent, halved[0].order)
    # All algorithms ran to the end on the instances of the first bracket.
    mean_ranks = rankdata(values[parts[0]][:, winners, -1], axis=1).mean(axis=0)
    return Halved(winners[int(mean_ranks.argmin())], spent, halved[0].order)
