"""Mean and spread of what the bootstrap's draws say of a pair, without a draw.

A draw of a pair's win probability is the mean of its scores under weights from a Dirichlet
distribution: of wins and losses it is Beta(c/2 + wins, c/2 + losses). Where there are ties or
parts of a win, the Beta distribution of the same mean and variance takes its place. How likely a
curve is of a kind would depend on the seed if these came from draws: a Monte-Carlo error of one
hundredth at each of two hundred times moves log-evidences by several units.
"""

from __future__ import annotations

import numpy as np

from polarbear.numerics.threads import in_threads

_PAIRS_A_TASK = 4  # bounds memory, and leaves threads something to share
_STEP = 0.7  # of the trapezoidal rule; beyond its errors of e^(-2 pi^2 / step)
_FEWEST, _MOST = 64, 1024  # steps
_TAIL = 20.0  # e^-20 of the density is left out on either side
_DEVIATIONS = 8.0


def moments_of_curves(
    won: np.ndarray,
    squared: np.ndarray,
    met: np.ndarray,
    concentration: float,
    threads: int | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of arcsin(2p - 1), p being a draw of a win probability: [pair, time] each.

    ``won`` and ``squared`` are sums of scores and of their squares over ``met`` problems, to which
    come ``concentration`` imaginary ones, half of them won.
    """
    of = concentration + met
    mean = (concentration / 2 + won) / of
    variance = ((concentration / 2 + squared) / of - mean**2) / (of + 1)
    duels = mean * (1 - mean) / variance - 1
    parts = np.array_split(np.arange(len(won)), -(-len(won) // _PAIRS_A_TASK))
    found = in_threads(
        lambda some: _of_beta((mean * duels)[some], ((1 - mean) * duels)[some]), parts, threads
    )
    means, variances = zip(*found, strict=True)
    return np.concatenate(means), np.concatenate(variances)


def _of_beta(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of arcsin(2p - 1) if p is Beta(a, b).

    By the trapezoidal rule over x = log(p / (1 - p)), whose density is smooth and falls like
    e^(ax) and e^(-bx): its error falls exponentially with the number of steps.
    """
    mode, deviation = np.log(a / b), np.sqrt(1 / a + 1 / b)
    low = mode - _DEVIATIONS * deviation - _TAIL / a
    high = mode + _DEVIATIONS * deviation + _TAIL / b
    steps = int(np.clip(np.ceil((high - low).max() / _STEP), _FEWEST, _MOST))
    x = low + (high - low) * np.linspace(0, 1, steps + 1).reshape(-1, *[1] * a.ndim)
    odds = np.exp(-np.abs(x))  # against the likelier of the two
    log_density = -(a + b) * np.log1p(odds) + np.where(x > 0, -b, a) * x
    density = np.exp(log_density - log_density.max(axis=0))
    density /= density.sum(axis=0)
    curve = np.copysign(np.pi / 2 - 2 * np.arctan(np.sqrt(odds)), x)  # arcsin(tanh(x / 2))
    mean = (density * curve).sum(axis=0)
    return mean, (density * (curve - mean) ** 2).sum(axis=0)
