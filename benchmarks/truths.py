"""Truths to race on: what instances are drawn from, and who really beats whom when.

Synthetic truths have 5 algorithms and 20 times. Their noise is correlated over time to a known
degree, which is part of their name ("pl-0.33"): a length in units of the grid, or constant.

- ``pl``: Plackett-Luce with ratings from the paper's prior, what the models assume;
- ``mixture``: two kinds of instances, 60 to 40, each Plackett-Luce with ratings of its own;
- ``clones``: four near-clones, whose values move together, and one that is different;
- ``thurstone``: normal noise with an own variance for each algorithm.

Real populations are stores of runs, all algorithms on all instances: ``quick-start`` and
``ma-bbob`` (see `race.py`). Instances are drawn from them with replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from scipy.special import log_ndtr, ndtr

ALGORITHMS, TIMES = 5, 20
UNIT = np.linspace(0, 1, TIMES)
MANY = 20_000  # further instances that tell who beats whom
CORRELATIONS = ("0", "0.1", "0.33", "constant")
POPULATIONS = ("quick-start", "ma-bbob")

Draw = Callable[[int, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Truth:
    """Values[instance, algorithm, time] for a race, smaller is better, and wins[time, a, b]: on
    which share of all instances a beats b, known to within ``error``; ``unit`` are the times."""

    values: np.ndarray
    wins: np.ndarray
    error: float = 0.0
    unit: np.ndarray = field(default_factory=lambda: UNIT)

    def better(self, slack: float = 0.0) -> np.ndarray:
        """Who beats whom at every time: bool[a, b]; with a slack, who is not worse by more, and
        with a negative one, who is better by more."""
        above = np.asarray((self.wins > 0.5 - slack).all(axis=0))
        np.fill_diagonal(above, False)
        return above


def drawn(kind: str, seed: int, size: int, populations: Path | None = None) -> Truth:
    """A truth that depends on kind and seed, and instances that depend on the correlation, too."""
    if kind in POPULATIONS:
        if populations is None:
            raise ValueError(f"'{kind}' is a population: say where its store is")
        values, wins, unit = population(populations / kind)
        chosen = np.random.default_rng([seed, 4]).integers(len(values), size=size)
        return Truth(values[chosen], wins, unit=unit)
    shape, _, correlation = kind.partition("-")
    draw = _SAMPLERS[shape](np.random.default_rng([seed, 1]), correlation)
    values = draw(size, np.random.default_rng([seed, 2]))
    if shape == "pl":
        # noise is independent between algorithms: the ratings say who beats whom exactly
        mu = log_ratings(np.random.default_rng([seed, 1]))
        return Truth(values, 1 / (1 + np.exp(mu[:, None, :] - mu[:, :, None])))
    if shape == "thurstone":
        rng = np.random.default_rng([seed, 1])
        mu, scale = log_ratings(rng), np.exp(rng.normal(0, 0.8, ALGORITHMS))
        apart = np.sqrt(scale[:, None] ** 2 + scale**2)
        return Truth(values, ndtr((mu[:, :, None] - mu[:, None, :]) / apart))
    many = draw(MANY, np.random.default_rng([seed, 3]))
    return Truth(values, head_to_head(many), 0.5 / MANY**0.5)


@cache
def population(store: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All values on the grid, who beats whom on which share of them, and the unit times."""
    from polarbear.driver.evidence import evidence_of
    from polarbear.store import Store

    evidence = evidence_of(Store.open(store))
    values = evidence.grid.values
    complete = ~np.isnan(values).any(axis=(1, 2))
    return values[complete], head_to_head(values[complete]), evidence.unit_times


def head_to_head(values: np.ndarray) -> np.ndarray:
    """On which share of the instances a beats b, a tie being half: [time, a, b]."""
    _, n, n_times = values.shape
    found = np.full((n_times, n, n), 0.5)
    for a in range(n):
        for b in range(n):
            if a != b:
                one, two = values[:, a], values[:, b]
                found[:, a, b] = (0.5 * (one < two) + 0.5 * (one <= two)).mean(axis=0)
    return found


def log_ratings(rng: np.random.Generator) -> np.ndarray:
    """Log-ratings mu[time, algorithm] from the paper's prior: Matern-3/2, its hyperpriors."""
    sigma, lengthscale = rng.lognormal(0, 0.5), 3 / rng.gamma(5)
    scaled = np.sqrt(3) * np.abs(UNIT[:, None] - UNIT) / lengthscale
    factor = np.linalg.cholesky((1 + scaled) * np.exp(-scaled) + 1e-10 * np.eye(TIMES))
    return np.asarray(sigma * factor @ rng.standard_normal((TIMES, ALGORITHMS)))


def normal_noise(size: int, correlation: str, rng: np.random.Generator) -> np.ndarray:
    """Standard normal, correlated over time with an exponential kernel: [instance, n, time]."""
    found = rng.standard_normal((size, ALGORITHMS, TIMES))
    length = float("inf") if correlation == "constant" else float(correlation)
    kept = np.exp(-(UNIT[1] - UNIT[0]) / length) if length > 0 else 0.0
    for t in range(1, TIMES):
        found[:, :, t] = kept * found[:, :, t - 1] + np.sqrt(1 - kept**2) * found[:, :, t]
    return found


def gumbel_noise(size: int, correlation: str, rng: np.random.Generator) -> np.ndarray:
    """What makes rankings Plackett-Luce at each time, coupled over time by a Gaussian copula."""
    return np.asarray(np.log(-log_ndtr(normal_noise(size, correlation, rng))))


def _plackett_luce(rng: np.random.Generator, correlation: str) -> Draw:
    mu = log_ratings(rng)
    return lambda size, noise: -mu.T + gumbel_noise(size, correlation, noise)


def _mixture(rng: np.random.Generator, correlation: str) -> Draw:
    kinds = 1.5 * np.stack([log_ratings(rng), log_ratings(rng)])

    def draw(size: int, noise: np.random.Generator) -> np.ndarray:
        kind = (noise.random(size) < 0.4).astype(int)
        return np.asarray(-kinds[kind].swapaxes(1, 2) + gumbel_noise(size, correlation, noise))

    return draw


def _clones(rng: np.random.Generator, correlation: str) -> Draw:
    base = log_ratings(rng)
    mu = 0.15 * base
    mu[:, 0] = rng.normal(0, 0.3) + 0.3 * base[:, 0]

    def draw(size: int, noise: np.random.Generator) -> np.ndarray:
        values = 0.3 * (-mu.T + gumbel_noise(size, correlation, noise))
        shared = gumbel_noise(size, correlation, noise)
        values[:, 1:] += shared[:, :1]
        values[:, 0] += shared[:, 1]
        return np.asarray(values)

    return draw


def _thurstone(rng: np.random.Generator, correlation: str) -> Draw:
    mu, scale = log_ratings(rng), np.exp(rng.normal(0, 0.8, ALGORITHMS))
    return lambda size, noise: -mu.T + scale[:, None] * normal_noise(size, correlation, noise)


_SAMPLERS: dict[str, Callable[[np.random.Generator, str], Draw]] = {
    "pl": _plackett_luce,
    "mixture": _mixture,
    "clones": _clones,
    "thurstone": _thurstone,
}
KINDS = tuple(f"{shape}-{correlation}" for shape in _SAMPLERS for correlation in CORRELATIONS)
