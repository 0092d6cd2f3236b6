"""The neutral posterior of a pair at one time, exactly: nothing is drawn.

With c imaginary problems, half of which each algorithm wins, the shares of wins, losses and draws
of a pair are Dirichlet(c/2 + wins, c/2 + losses, draws). These are the margins of the draws in
`bootstrap.py`, where no problem has several seeds. Unlike draws they do not depend on names.
"""

from typing import NamedTuple

import numpy as np
import scipy  # loads `scipy.special` at its first use

from polarbear.rankings.duels import DuelRecord, index_of_pair

# Frequencies at which the inversion formula is summed, in standard deviations.
_LOG_FREQUENCIES = np.linspace(-14, 9, 180)


class PairProbabilities(NamedTuple):
    """P(a beats b on more than half of the problems), on 0.5 +- epsilon, on at least 0.5 - epsilon.

    Each is [time, a, b]; ``better`` and ``no_worse`` are 0 on the diagonal, as is ``equivalent``.
    """

    better: np.ndarray
    equivalent: np.ndarray
    no_worse: np.ndarray


def pair_probabilities(
    record: DuelRecord, epsilon: float, concentration: float
) -> PairProbabilities:
    """The probabilities of all pairs; ``concentration`` is that of the neutral prior."""
    n = record.algorithms
    n_times = len(record.wins)
    a, b = np.triu_indices(n, 1)
    counts = np.stack([record.wins, record.losses, record.draws]).reshape(3, -1)
    (wins, losses, draws), index = np.unique(counts, axis=1, return_inverse=True)

    def table(values: np.ndarray, mirrored: np.ndarray) -> np.ndarray:
        """Values of distinct counts as [time, a, b], ``mirrored`` being those of (b, a)."""
        by_pair = np.zeros((n_times, n, n))
        by_pair[:, a, b] = values[index.ravel()].reshape(n_times, -1)
        by_pair[:, b, a] = mirrored[index.ravel()].reshape(n_times, -1)
        return by_pair

    won = concentration / 2 + wins
    lost = concentration / 2 + losses
    better = scipy.special.betaincc(won, lost, 0.5)
    at_least = _exceeds(won, lost, draws, -epsilon)
    beyond = _exceeds(won, lost, draws, epsilon)
    return PairProbabilities(
        better=table(better, 1 - better),
        equivalent=table(at_least - beyond, at_least - beyond),
        no_worse=table(at_least, 1 - beyond),
    )


def p_better(record: DuelRecord, a: int, b: int, concentration: float) -> np.ndarray:
    """P(a beats b on more than half of the problems): [time]."""
    pair = index_of_pair(a, b, record.algorithms)
    won = concentration / 2 + record.wins[:, pair]
    lost = concentration / 2 + record.losses[:, pair]
    p_of_first = scipy.special.betaincc(won, lost, 0.5)
    return np.asarray(p_of_first if a < b else 1 - p_of_first)


def p_always_better(record: DuelRecord, concentration: float) -> np.ndarray:
    """P(a beats b on more than half of the problems) at the time at which it is lowest: [a, b].

    It is 0 where a does not win more duels than it loses at each time.
    """
    n = record.algorithms
    table = np.zeros((n, n))
    first, second = np.triu_indices(n, 1)
    sides = (
        (first, second, record.wins, record.losses),
        (second, first, record.losses, record.wins),
    )
    for a, b, wins, losses in sides:
        pairs = np.flatnonzero((wins > losses).all(axis=0))
        # Many pairs have the same counts, which one complex number holds.
        counts, index = np.unique(wins[:, pairs] + 1j * losses[:, pairs], return_inverse=True)
        won = concentration / 2 + counts.real
        lost = concentration / 2 + counts.imag
        better = scipy.special.betaincc(won, lost, 0.5)
        table[a[pairs], b[pairs]] = better[index].reshape(len(wins), len(pairs)).min(axis=0)
    return table


def win_rate(record: DuelRecord, a: int, b: int, concentration: float) -> np.ndarray:
    """The expected share of problems on which a beats b, a draw counting half: [time]."""
    pair = index_of_pair(a, b, record.algorithms)
    wins = record.wins[:, pair]
    losses = record.losses[:, pair]
    draws = record.draws[:, pair]
    rate_of_first = (concentration / 2 + wins + draws / 2) / (concentration + wins + losses + draws)
    return np.asarray(rate_of_first if a < b else 1 - rate_of_first)


def _exceeds(won: np.ndarray, lost: np.ndarray, draws: np.ndarray, margin: float) -> np.ndarray:
    """P(win rate > 1/2 + margin) where (wins, losses, draws) are Dirichlet(won, lost, draws).

    Without draws it is a Beta tail. Otherwise it is P(sum of c_k Gamma(k) > 0), by numerical
    inversion of the characteristic function (Gil-Pelaez 1951).
    """
    probability = scipy.special.betaincc(won, lost, 0.5 + margin)
    has_draws = draws > 0
    if has_draws.any():
        shapes = np.stack([won[has_draws], lost[has_draws], draws[has_draws]])
        probability[has_draws] = _positive(np.array([0.5 - margin, -0.5 - margin, -margin]), shapes)
    return np.asarray(probability)


def _positive(coefficients: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """P(sum over k of coefficients[k] Gamma(shapes[k]) > 0), for shapes[k, case].

    The trapezoidal rule in the logarithm of the frequency converges exponentially.
    """
    scale = np.sqrt(np.square(coefficients) @ shapes)
    probability = np.full(shapes.shape[1], 0.5)
    step = _LOG_FREQUENCIES[1] - _LOG_FREQUENCIES[0]
    for frequency in np.exp(_LOG_FREQUENCIES):
        argument = np.multiply.outer(coefficients, frequency / scale)
        angle = (shapes * np.arctan(argument)).sum(axis=0)
        size = np.exp(-0.5 * (shapes * np.log1p(argument**2)).sum(axis=0))
        probability += step / np.pi * np.sin(angle) * size
    return np.asarray(np.clip(probability, 0, 1))
