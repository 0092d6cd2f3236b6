"""Power of a gate: which loss it would have shown, and how many problems a proof takes.

The power is simulated with the correlation of the observed duels. A random sign for each problem
makes the two versions even. The candidate then loses at one time of the grid, on random problems,
so that its win rate there has a given value; each time of the grid is used equally often.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from polarbear.numerics.arrays import Floats
from polarbear.regression.gate_decision import (
    GateVerdict,
    Level,
    Looks,
    decide,
    look_bounds,
    look_sizes,
    statistics,
    window_means,
    windows,
)

POWER = 0.9
SIMULATIONS = 600
SIMULATIONS_AT_ONCE = 100  # bounds the memory
STEP = 0.01  # of win rates
MAX_PROBLEMS = 20_000  # up to which a smaller limit is searched


@dataclass(frozen=True)
class Detectable:
    """The highest constant win rate at one time that would have been shown with this power.

    ``win_rate`` is None where losing every duel at one time has less power than 0.9; ``power`` is
    then that of losing every duel.
    """

    win_rate: float | None
    power: float


def detectable(scores: np.ndarray, looks: Looks, level: Level) -> Detectable | None:
    """The loss at one time that these problems would have shown; None if all duels are draws."""
    has_score = ~np.isnan(scores)
    lost = np.where(has_score, 0.5 - scores, 0.0)
    if not lost.any():
        return None
    simulation = _Simulation(scores, looks, level)
    if simulation.power(0.0) < POWER:
        return Detectable(None, simulation.power(0.0))
    low = 0
    high = round((0.5 - level.tolerance) / STEP)
    while high - low > 1:
        middle = (low + high) // 2
        if simulation.power(middle * STEP) >= POWER:
            low = middle
        else:
            high = middle
    win_rate = round(low * STEP, 2)
    return Detectable(win_rate, simulation.power(win_rate))


class _Simulation:
    """Simulated gates with common random numbers, so that power falls with the win rate."""

    def __init__(self, scores: np.ndarray, looks: Looks, level: Level) -> None:
        self._looks = looks
        self._tolerance = level.tolerance
        n_problems, n_times = scores.shape
        has_score = ~np.isnan(scores)
        spans = windows(n_times)
        means = window_means(1 - scores, spans)
        by_window = statistics(means, 0.5 + level.tolerance, looks.problems, level.seed)
        self._bounds = look_bounds(by_window[1:].max(axis=2), looks.shares, level.error_of_worse)
        self._window_has_score = ~np.isnan(means)
        self._window = np.where(self._window_has_score, means - 0.5, 0)
        self._lost = np.where(has_score, 0.5 - scores, 0)
        zero = np.zeros((n_problems, 1))
        count = np.hstack([zero, has_score.cumsum(axis=1)])
        self._count = np.maximum(count[:, spans[:, 1]] - count[:, spans[:, 0]], 1)
        self._times = np.arange(SIMULATIONS) % n_times
        self._is_inside = (spans[:, 0] <= self._times[:, None]) & (
            self._times[:, None] < spans[:, 1]
        )
        rng = np.random.default_rng([level.seed, 1])
        self._signs = rng.choice([-1, 1], (SIMULATIONS, n_problems)).astype(np.float32)
        self._uniform = rng.random((SIMULATIONS, n_problems), dtype=np.float32)
        self._has_score_at = has_score[:, self._times].T

    def power(self, win_rate: float) -> float:
        """The share of simulated gates that find the candidate worse."""
        p_forced = 1 - 2 * win_rate  # the probability that a duel is lost, whatever it was before
        n_found = 0
        for first in range(0, SIMULATIONS, SIMULATIONS_AT_ONCE):
            part = slice(first, first + SIMULATIONS_AT_ONCE)
            signs = self._signs[part]
            is_forced = (self._uniform[part] < p_forced) & self._has_score_at[part]
            change = is_forced * (0.5 - signs * self._lost[:, self._times[part]].T)
            # [simulation, problem, window]
            centred = signs[:, :, None] * self._window
            centred = centred + (
                change[:, :, None] * self._is_inside[part][:, None, :] / self._count
            )
            excess = (centred - self._tolerance) * self._window_has_score
            sums = excess.cumsum(axis=1)
            squares = np.square(centred).cumsum(axis=1)
            at_looks = [n - 1 for n in self._looks.problems]
            by_window = sums[:, at_looks] / np.sqrt(np.maximum(squares[:, at_looks], 1e-6))
            n_found += int((by_window.max(axis=2) > self._bounds).any(axis=1).sum())
        return n_found / SIMULATIONS


def problems_for_proof(scores: np.ndarray, level: Level) -> int | None:
    """The number of problems on which an even change would be shown to be no worse.

    It is a normal approximation with the correlation of these duels, for a probability of 0.9. None
    with a tolerance of zero, where no number suffices, or without a loss or win.
    """
    if level.tolerance == 0 or not np.nan_to_num(scores - 0.5).any():
        return None
    at_times = statistics(scores, 0.5, [len(scores)], level.seed)[1:, 0]
    lowest = float(np.quantile(at_times.min(axis=1), 1 - POWER))
    deviation = float(np.sqrt(np.nanmean(np.square(scores - 0.5), axis=0)).max())
    standard_errors = float(ndtri(1 - level.error)) - lowest
    return int(np.ceil((standard_errors * deviation / level.tolerance) ** 2))


def can_turn_red(looks: Looks, level: Level) -> bool:
    """Whether a candidate that loses every duel would be found worse by the last look."""
    every_duel_lost = np.zeros((looks.problems[-1], 1))
    return decide(every_duel_lost, looks, level, may_pass=False).verdict is GateVerdict.WORSE


def smallest_limit(level: Level) -> int | None:
    """The lowest limit of problems at which a gate can turn red; None if it is too high."""
    limit = 1
    while limit <= MAX_PROBLEMS and not can_turn_red(looks_until(limit), level):
        limit = limit + 1 if limit < 32 else int(1.25 * limit)
    return limit if limit <= MAX_PROBLEMS else None


def looks_until(limit: int) -> Looks:
    """The looks of a gate on one problem per instance."""
    sizes = tuple(look_sizes(limit))
    return Looks(sizes, tuple(size / limit for size in sizes))


def p_below(scores: Floats, rate: float, seed: int) -> float:
    """P(the mean win rate over all times is below a rate), by the Bayesian bootstrap of problems.

    Problems without a score are left out.
    """
    has_score = ~np.isnan(scores).all(axis=1)
    if not has_score.any():
        return 0.0
    means = np.nanmean(scores[has_score], axis=1)
    weights = np.random.default_rng([seed, 2]).exponential(size=(2000, len(means)))
    rates = weights @ means / weights.sum(axis=1)
    return float((rates < rate).mean())
