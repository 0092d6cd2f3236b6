"""Whether Plackett-Luce fits: duels and first places as it predicts them, beside those seen.

In Plackett-Luce who wins between a and b does not depend on who else is there; mixtures of kinds of
instances, near-clones and unequal variances break that. The check compares the predicted share of
a's wins over b with the observed one for every pair and time, and likewise first places where all
algorithms are ranked. The problem is the unit: its residuals at all times and pairs move together
under random weights (a multiplier bootstrap), which says how far the greatest standardised
deviation would go by chance. Predictions were fitted to the same problems, which the bootstrap does
not know and which draws them towards what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polarbear.rankings.duels import Duels, duels_of
from polarbear.wording import percent, short

LEVEL = 0.01  # the chance to reject a model that fits
_REPLICATES = 400
_FEWEST = 10  # problems on which both were ranked: below it nothing is said
_LEAST_GAP = 0.02  # shares that differ by less are no misfit that matters
_WORST = 5


@dataclass(frozen=True)
class Deviation:
    """A pair at a time, or first places where ``b`` is None, by their places in the lists.

    ``observed`` and ``predicted`` are shares of instances that a wins; ``excess`` is the deviation
    in units of what chance allows.
    """

    a: int
    b: int | None
    time: int
    observed: float
    predicted: float
    excess: float


@dataclass(frozen=True)
class Fit:
    """Whether a Plackett-Luce posterior fits its rankings, and the pairs where it does so least."""

    fits: bool
    p_value: float
    worst: tuple[Deviation, ...]


@dataclass(frozen=True)
class Misfit:
    """A pair at a time, or first places where ``b`` is None: what was seen beside the model."""

    a: str
    b: str | None
    t: float
    observed: float
    predicted: float

    @property
    def words(self) -> str:
        wins = f"{self.a} is first" if self.b is None else f"{self.a} beats {self.b}"
        seen, said = percent(self.observed), percent(self.predicted)
        return f"{wins} on {seen} of instances at {short(self.t)}, the model says {said}"


@dataclass(frozen=True)
class NamedFit:
    """A fit in terms of names and times; fields are keys of JSON."""

    fits: bool
    p_value: float
    worst: tuple[Misfit, ...]

    @property
    def words(self) -> str | None:
        """A sentence on a model that does not fit; None for one that does."""
        return None if self.fits else f"Plackett-Luce does not fit: {self.worst[0].words}"

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any] | None) -> NamedFit | None:
        if plain is None:
            return None
        worst = tuple(Misfit(**misfit) for misfit in plain["worst"])
        return cls(plain["fits"], plain["p_value"], worst)


def named(fit: Fit | None, algorithms: Sequence[str], times: np.ndarray) -> NamedFit | None:
    """The same for readers; None where nothing was checked."""
    if fit is None:
        return None
    worst = tuple(
        Misfit(
            algorithms[found.a],
            None if found.b is None else algorithms[found.b],
            float(times[found.time]),
            found.observed,
            found.predicted,
        )
        for found in fit.worst
    )
    return NamedFit(fit.fits, fit.p_value, worst)


def check_fit(
    positions: np.ndarray,
    theta: np.ndarray,
    problems: Sequence[str] | None = None,
    seed: int = 0,
    weights: np.ndarray | None = None,
) -> Fit:
    """Hold theta[draw, time, algorithm] against positions[instance, algorithm, time].

    An instance of weight w counts as w that came out alike.
    """
    duels = duels_of(positions, problems, weights)
    _, n, n_times = positions.shape
    predicted = _predicted(theta)
    total, squares, count = (np.zeros(len(predicted)) for _ in range(3))
    for score, there, weight in _blocks(duels):
        total += (weight * score).sum(axis=0, dtype=float)
        count += (weight * there).sum(axis=0)
        squares += (weight * there * (score - predicted) ** 2).sum(axis=0)
    of = np.maximum(count, 1)
    observed = total / of
    enough = count >= _FEWEST
    # at least the variance of so many duels as the model has them: ten wins of ten prove little
    spread = np.sqrt(np.maximum(squares, count * predicted * (1 - predicted))) / of
    judged = enough & (spread > 0)
    deviation = np.divide(
        np.abs(observed - predicted), spread, out=np.zeros_like(spread), where=judged
    )
    chance = np.divide(
        _by_chance(duels, observed, of, seed),
        spread,
        out=np.zeros((_REPLICATES, len(spread))),
        where=judged,
    ).max(axis=1, initial=0)
    allowed = float(np.quantile(chance, 1 - LEVEL)) or 1.0
    off = (deviation > allowed) & (np.abs(observed - predicted) >= _LEAST_GAP)
    p_value = (1 + (chance >= deviation.max(initial=0)).sum()) / (1 + _REPLICATES)
    worst = [
        Deviation(
            *_named(k // n_times, n),
            time=int(k % n_times),
            observed=float(observed[k]),
            predicted=float(predicted[k]),
            excess=float(deviation[k] / allowed),
        )
        for k in _worst_times(deviation, judged, n_times)
    ]
    return Fit(not bool(off.any()), float(p_value), tuple(worst[:_WORST]))


def _predicted(theta: np.ndarray) -> np.ndarray:
    """Shares of duels, (pair, time), then of first places, (algorithm, time)."""
    n = theta.shape[2]
    a, b = np.triu_indices(n, 1)
    pairs = [
        (theta[:, :, i] / (theta[:, :, i] + theta[:, :, j])).mean(axis=0)
        for i, j in zip(a, b, strict=True)
    ]
    return np.concatenate([*pairs, theta.mean(axis=0).T.ravel()])


def _blocks(duels: Duels) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    everyone = range(duels.positions.shape[1])
    found = []
    for block in duels.blocks():
        scores, there = zip(
            duels.pair_scores(block), duels.first_scores(block, everyone), strict=True
        )
        found.append((np.hstack(scores), np.hstack(there), duels.weights_of(block)))
    return found


def _by_chance(duels: Duels, observed: np.ndarray, of: np.ndarray, seed: int) -> np.ndarray:
    """How far means would stray from those observed: [replicate, column]."""
    rng = np.random.default_rng([seed, 7])
    found = np.zeros((_REPLICATES, len(observed)))
    for score, there, weight in _blocks(duels):
        centred = (np.sqrt(weight) * np.where(there, score - observed, 0)).astype(np.float32)
        found += rng.standard_normal((_REPLICATES, len(score)), dtype=np.float32) @ centred
    return np.asarray(np.abs(found) / of)


def _worst_times(deviation: np.ndarray, judged: np.ndarray, n_times: int) -> list[int]:
    """The worst time of each pair and each algorithm, the worst of all first."""
    rows = np.where(judged, deviation, -1).reshape(-1, n_times)
    places = rows.argmax(axis=1) + n_times * np.arange(len(rows))
    places = places[judged[places]]
    return [int(k) for k in places[np.argsort(-deviation[places], kind="stable")]]


def _named(row: int, n: int) -> tuple[int, int | None]:
    a, b = np.triu_indices(n, 1)
    return (int(a[row]), int(b[row])) if row < len(a) else (int(row - len(a)), None)
