"""Tables of the duels on each problem: shares won, leads, and shares of rivals beaten."""

from typing import NamedTuple

import numpy as np

from polarbear.numerics.arrays import spread
from polarbear.rankings.duels import ProblemDuels

MAX_TIMES = 20  # of the grid, that models of features see


class DuelTable(NamedTuple):
    """Shares of duels won and whether they took place, [problem, pair, time] each."""

    share_won: np.ndarray
    is_met: np.ndarray
    n_algorithms: int

    def rows(self, problems: np.ndarray) -> "DuelTable":
        """The duels on some problems."""
        return DuelTable(self.share_won[problems], self.is_met[problems], self.n_algorithms)


def duel_table(duels: ProblemDuels) -> DuelTable:
    """All duels of all problems."""
    _, n, n_times = duels.positions.shape
    parts = [duels.pair_scores(block) for block in duels.blocks()]
    shape = (duels.n_problems, n * (n - 1) // 2, n_times)
    share_won = np.concatenate([part[0] for part in parts]).reshape(shape)
    is_met = np.concatenate([part[1] for part in parts]).reshape(shape)
    return DuelTable(share_won, is_met, n)


def leads_of(table: DuelTable) -> np.ndarray:
    """The leads of all pairs at some of the times: [problem, pair and time]; NaN if not met."""
    times = spread(table.share_won.shape[2], MAX_TIMES)
    share_won = table.share_won[:, :, times]
    leads = np.where(table.is_met[:, :, times], 2 * share_won - 1, np.nan)
    return leads.reshape(len(leads), -1)


def rivals_beaten(table: DuelTable) -> np.ndarray:
    """The share of its rivals that each algorithm beats, a draw counting half.

    [problem, algorithm, time]; NaN where an algorithm was not compared.
    """
    n_problems, _, n_times = table.share_won.shape
    won = np.zeros((n_problems, table.n_algorithms, n_times))
    n_rivals = np.zeros(won.shape)
    first, second = np.triu_indices(table.n_algorithms, 1)
    for pair, (a, b) in enumerate(zip(first, second, strict=True)):
        is_met = table.is_met[:, pair]
        won[:, a] += is_met * table.share_won[:, pair]
        won[:, b] += is_met * (1 - table.share_won[:, pair])
        n_rivals[:, a] += is_met
        n_rivals[:, b] += is_met
    return np.where(n_rivals > 0, won / np.maximum(n_rivals, 1), np.nan)


def scores_at_some_times(beaten: np.ndarray) -> np.ndarray:
    """The shares of rivals beaten, as the forest sees them: [problem, algorithm and time]."""
    times = spread(beaten.shape[2], MAX_TIMES)
    return beaten[:, :, times].reshape(len(beaten), -1)
