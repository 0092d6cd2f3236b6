"""Truths to race on: distributions of instances for which it is known which algorithm is better.

Truths on which the sceptical prior was chosen (`KINDS`) have 5 algorithms and 20 times. Their noise
is correlated over time to a known degree, which is part of their name ("pl-0.33"): a length in
units of the grid, or constant.

- ``pl``: Plackett-Luce with ratings from the paper's prior, what the models assume;
- ``mixture``: two kinds of instances, 60 to 40, each Plackett-Luce with other ratings;
- ``clones``: four near-clones, whose values move together, and one that is different;
- ``thurstone``: normal noise with a variance for each algorithm.

Further truths (`OTHERS`), on which it was validated, except `even`, on which it was chosen, too:

- ``window1of20_0.8``: two algorithms; one wins 80 % of duels at 1 of 20 times, 20 % elsewhere;
- ``late``: one wins 60 % of duels in the first quarter of the times, then 20 %;
- ``evenstart``: one wins 50 % of duels in the first quarter of the times, then 30 %;
- ``floor``: Plackett-Luce, whose best values are cut off at a floor, where they are tied;
- ``fivekinds``: a mixture of five kinds of instances;
- ``fifteen``: Plackett-Luce with 15 algorithms; ``grid100``, ``grid400``: with 100 and 400 times;
- ``even``: five exactly even algorithms;
- ``edge0.5``: two near-twins that lose 80 % of duels with two other near-twins, but win 50 % at 1
  of 20 times; ``edge0.55``: they win 55 % there. Twins are exactly even, so that races go on.

Real populations are stores of runs, all algorithms on all instances: ``quick-start`` and
``ma-bbob`` (see `race.py`). Instances are drawn from them with replacement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

ALGORITHMS = 5
TIMES = 20
UNIT = np.linspace(0, 1, TIMES)
N_TRUTH = 20_000  # further instances from which shares of wins are estimated
CORRELATIONS = ("0", "0.1", "0.33", "constant")
POPULATIONS = ("quick-start", "ma-bbob")

Draw = Callable[[int, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Truth:
    """Values of a race with the true shares of wins.

    In ``values[instance, algorithm, time]`` smaller is better. ``wins[time, a, b]`` is the share of
    all instances on which a beats b, known to within ``error``. ``unit`` are the times.
    """

    values: np.ndarray
    wins: np.ndarray
    error: float = 0.0
    unit: np.ndarray = field(default_factory=lambda: UNIT)

    def better(self, slack: float = 0.0) -> np.ndarray:
        """Pairs in which a beats b at every time: bool[a, b].

        With a ``slack``, a may be worse by less than that at some times; with a negative one, a has
        to be better by more.
        """
        above = np.asarray((self.wins > 0.5 - slack).all(axis=0))
        np.fill_diagonal(above, False)
        return above


def drawn(kind: str, seed: int, size: int, populations: Path | None = None) -> Truth:
    """A truth, drawn by kind and seed, and its instances, which also depend on the correlation."""
    if kind in POPULATIONS:
        if populations is None:
            raise ValueError(f"'{kind}' is a population: say where its store is")
        values, wins, unit = population(populations / kind)
        sampled = np.random.default_rng([seed, 4]).integers(len(values), size=size)
        return Truth(values[sampled], wins, unit=unit)
    shape, _, correlation = kind.rpartition("-")
    if shape not in _SAMPLERS:
        return _other(shape, correlation, seed, size)
    draw = _SAMPLERS[shape](np.random.default_rng([seed, 1]), correlation)
    values = draw(size, np.random.default_rng([seed, 2]))
    if shape == "pl":
        # Noise is independent between algorithms, so the ratings determine the shares of wins.
        mu = log_ratings(np.random.default_rng([seed, 1]))
        return Truth(values, 1 / (1 + np.exp(mu[:, None, :] - mu[:, :, None])))
    if shape == "thurstone":
        rng = np.random.default_rng([seed, 1])
        mu = log_ratings(rng)
        scale = np.exp(rng.normal(0, 0.8, ALGORITHMS))
        deviations = np.sqrt(scale[:, None] ** 2 + scale**2)  # of differences
        return Truth(values, ndtr((mu[:, :, None] - mu[:, None, :]) / deviations))
    return Truth(values, estimated_wins(draw, seed), 0.5 / N_TRUTH**0.5)


def estimated_wins(draw: Draw, seed: int) -> np.ndarray:
    """The shares of wins on many further instances of a truth: [time, a, b]."""
    return head_to_head(draw(N_TRUTH, np.random.default_rng([seed, 3])))


@cache
def population(store: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All values on the grid, the shares of wins among them, and the unit times."""
    from polarbear.facts.evidence import evidence_of
    from polarbear.store import StoreOnDisk

    evidence = evidence_of(StoreOnDisk.open(store))
    values = evidence.grid.values
    complete = ~np.isnan(values).any(axis=(1, 2))
    return values[complete], head_to_head(values[complete]), evidence.unit_times


def head_to_head(values: np.ndarray) -> np.ndarray:
    """The share of instances on which a beats b, a tie counting as half a win: [time, a, b]."""
    _, n, n_times = values.shape
    shares = np.full((n_times, n, n), 0.5)
    for a in range(n):
        for b in range(n):
            if a != b:
                wins = values[:, a] < values[:, b]
                no_losses = values[:, a] <= values[:, b]
                shares[:, a, b] = (0.5 * wins + 0.5 * no_losses).mean(axis=0)
    return shares


def log_ratings(rng: np.random.Generator, n: int = ALGORITHMS, n_times: int = TIMES) -> np.ndarray:
    """Log-ratings mu[time, algorithm] from the paper's prior: Matern-3/2, its hyperpriors."""
    sigma = rng.lognormal(0, 0.5)
    lengthscale = 3 / rng.gamma(5)
    unit = np.linspace(0, 1, n_times)
    scaled = np.sqrt(3) * np.abs(unit[:, None] - unit) / lengthscale
    factor = np.linalg.cholesky((1 + scaled) * np.exp(-scaled) + 1e-10 * np.eye(n_times))
    return np.asarray(sigma * factor @ rng.standard_normal((n_times, n)))


def normal_noise(
    size: int,
    correlation: str,
    rng: np.random.Generator,
    n: int = ALGORITHMS,
    n_times: int = TIMES,
) -> np.ndarray:
    """Standard normal, correlated over time with an exponential kernel: [instance, n, time]."""
    noise = rng.standard_normal((size, n, n_times))
    length = float("inf") if correlation == "constant" else float(correlation)
    of_neighbours = np.exp(-1 / (n_times - 1) / length) if length > 0 else 0.0
    innovation = np.sqrt(1 - of_neighbours**2)
    for t in range(1, n_times):
        noise[:, :, t] = of_neighbours * noise[:, :, t - 1] + innovation * noise[:, :, t]
    return noise


def gumbel_noise(
    size: int,
    correlation: str,
    rng: np.random.Generator,
    n: int = ALGORITHMS,
    n_times: int = TIMES,
) -> np.ndarray:
    """Noise of Plackett-Luce rankings at each time, coupled over time by a Gaussian copula."""
    return np.asarray(np.log(-log_ndtr(normal_noise(size, correlation, rng, n, n_times))))


def _other(shape: str, correlation: str, seed: int, size: int) -> Truth:
    """A truth on which the sceptical prior was validated."""
    noise = np.random.default_rng([seed, 2])
    if shape in _WIN_CURVES or shape.startswith("window"):
        wins = _win_curve(shape, np.random.default_rng([seed, 1]))
        normal = normal_noise(size, correlation, noise, 1, len(wins))[:, 0]
        loses = (normal > ndtri(wins)).astype(float)
        table = np.full((len(wins), 2, 2), 0.5)
        table[:, 0, 1] = wins
        table[:, 1, 0] = 1 - wins
        values = np.stack([loses, 1 - loses], axis=1)
        return Truth(values, table, unit=np.linspace(0, 1, len(wins)))
    if shape.startswith("edge"):
        wins = _edge(shape, np.random.default_rng([seed, 1]))
        normal = normal_noise(size, correlation, noise, 1)[:, 0]
        losers = (normal > ndtri(wins))[:, None, :] == np.array(_IS_IN_FIRST_GROUP)[:, None]
        values = losers + 0.1 * ndtr(normal_noise(size, correlation, noise, 4))
        return Truth(values, _wins_between_groups(wins))
    if shape == "even":
        values = normal_noise(size, correlation, noise)
        return Truth(values, np.full((TIMES, ALGORITHMS, ALGORITHMS), 0.5))
    n = 15 if shape == "fifteen" else ALGORITHMS
    n_times = {"grid100": 100, "grid400": 400}.get(shape, TIMES)
    rng = np.random.default_rng([seed, 1])
    n_kinds = 5 if shape == "fivekinds" else 1
    kinds = np.stack([log_ratings(rng, n, n_times) for _ in range(n_kinds)])

    def draw(size: int, noise: np.random.Generator) -> np.ndarray:
        ratings = kinds[noise.integers(len(kinds), size=size)].swapaxes(1, 2)
        values = -ratings + gumbel_noise(size, correlation, noise, n, n_times)
        return np.maximum(values, -0.5) if shape == "floor" else values

    values = draw(size, noise)
    unit = np.linspace(0, 1, n_times)
    if n_kinds == 1 and shape != "floor":
        mu = kinds[0]
        return Truth(values, 1 / (1 + np.exp(mu[:, None, :] - mu[:, :, None])), unit=unit)
    return Truth(values, estimated_wins(draw, seed), 0.5 / N_TRUTH**0.5, unit)


def _win_curve(shape: str, rng: np.random.Generator) -> np.ndarray:
    """P(the first of two algorithms wins) at each time."""
    if shape in _WIN_CURVES:
        p_early, p_late = _WIN_CURVES[shape]
        return np.repeat([p_early, p_late], [TIMES // 4, TIMES - TIMES // 4])
    window, p_in_window = shape.removeprefix("window").split("_")
    width, n_times = map(int, window.split("of"))
    wins = np.full(n_times, 0.2)
    start = int(rng.integers(n_times - width + 1))
    wins[start : start + width] = float(p_in_window)
    return wins


def _edge(shape: str, rng: np.random.Generator) -> np.ndarray:
    """P(an algorithm of the first group wins against one of the second) at each time."""
    wins = np.full(TIMES, 0.2)
    wins[rng.integers(TIMES)] = float(shape.removeprefix("edge"))
    return wins


def _wins_between_groups(wins: np.ndarray) -> np.ndarray:
    """The shares of wins of two groups of even twins: [time, a, b]."""
    first = np.array(_IS_IN_FIRST_GROUP)
    table = np.full((len(wins), len(first), len(first)), 0.5)
    table[:, np.outer(first, ~first)] = wins[:, None]
    table[:, np.outer(~first, first)] = 1 - wins[:, None]
    return table


_IS_IN_FIRST_GROUP = (True, False, True, False)
_WIN_CURVES = {"late": (0.6, 0.2), "evenstart": (0.5, 0.3)}


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
    mu = log_ratings(rng)
    scale = np.exp(rng.normal(0, 0.8, ALGORITHMS))
    return lambda size, noise: -mu.T + scale[:, None] * normal_noise(size, correlation, noise)


_SAMPLERS: dict[str, Callable[[np.random.Generator, str], Draw]] = {
    "pl": _plackett_luce,
    "mixture": _mixture,
    "clones": _clones,
    "thurstone": _thurstone,
}
KINDS = tuple(f"{shape}-{correlation}" for shape in _SAMPLERS for correlation in CORRELATIONS)
OTHERS = (
    *(
        f"window{window}_{p_in_window}-{correlation}"
        for window, p_in_window, correlation in product(
            ("1of20", "2of20", "3of20", "1of100", "3of100"),
            ("0.65", "0.8", "0.95"),
            ("0", "constant"),
        )
    ),
    *(
        f"{shape}-{correlation}"
        for shape in ("late", "evenstart", "floor", "fivekinds", "fifteen")
        for correlation in ("0.33", "constant")
    ),
    "grid100-0.33",
    "grid400-0.33",
    "even-constant",
    "edge0.5-constant",
    "edge0.55-constant",
)
