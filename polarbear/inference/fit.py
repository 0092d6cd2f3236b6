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

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from polarbear.inference.named_fit import Misfit, NamedFit
from polarbear.numerics.threads import in_threads, single_threaded_blas
from polarbear.rankings.duels import Duels, duels_of
from polarbear.rankings.wide import FEW

LEVEL = 0.01  # the chance to reject a model that fits
_REPLICATES = 400
_FEWEST = 10  # problems on which both were ranked: below it nothing is said
_LEAST_GAP = 0.02  # shares that differ by less are no misfit that matters
_WORST = 5
_DUELS_AT_A_TIME = 2**23  # draws of pairs that a prediction is the mean of
_COLUMNS_AT_A_TIME = 6000  # pairs and algorithms times times: bounds memory, not results
_PARTS = 4  # of the times, at least, where there are so many: threads share them


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
    rng = np.random.default_rng([seed, 7])
    moved = [
        rng.standard_normal((_REPLICATES, block.stop - block.start), dtype=np.float32)
        for block in duels.blocks()
    ]
    stride = max(1, min(_COLUMNS_AT_A_TIME // (n * (n + 1) // 2), -(-n_times // _PARTS)))
    parts = [slice(first, first + stride) for first in range(0, n_times, stride)]
    with single_threaded_blas():
        looked_at = in_threads(lambda times: _looked_at(duels, theta, times, moved), parts)
    observed, predicted, deviation = (
        np.concatenate([getattr(part, name) for part in looked_at], axis=1).ravel()
        for name in ("observed", "predicted", "deviation")
    )
    judged = deviation >= 0
    chance = np.max([part.chance for part in looked_at], axis=0)
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
        for k in _worst_times(deviation, judged, n_times)[:_WORST]
    ]
    return Fit(not bool(off.any()), float(p_value), tuple(worst))


@dataclass(frozen=True)
class _LookedAt:
    """Some times: shares seen and predicted [pair or algorithm, time], how many standard errors
    they are apart (-1 where too few met), and the greatest such deviation in each replicate."""

    observed: np.ndarray
    predicted: np.ndarray
    deviation: np.ndarray
    chance: np.ndarray


def _looked_at(
    duels: Duels, theta: np.ndarray, times: slice, moved: Sequence[np.ndarray]
) -> _LookedAt:
    """Problem k is moved by ``moved[block][replicate, k]``, at all times alike."""
    here = replace(duels, positions=np.ascontiguousarray(duels.positions[:, :, times]))
    blocks = _blocks(here)
    predicted = _predicted(theta[:, times])
    total, squares, count = (np.zeros(len(predicted)) for _ in range(3))
    for score, there, weight in blocks:
        total += (weight * score).sum(axis=0, dtype=float)
        count += (weight * there).sum(axis=0)
        squares += (weight * there * (score - predicted) ** 2).sum(axis=0)
    of = np.maximum(count, 1)
    observed = total / of
    # at least the variance of so many duels as the model has them: ten wins of ten prove little
    spread = np.sqrt(np.maximum(squares, count * predicted * (1 - predicted))) / of
    judged = (count >= _FEWEST) & (spread > 0)
    unit = np.where(judged, 1 / np.where(judged, of * spread, 1), 0).astype(np.float32)
    strayed = np.zeros((_REPLICATES, len(unit)), dtype=np.float32)
    for (score, there, weight), by in zip(blocks, moved, strict=True):
        centred = (there * (score - observed)).astype(np.float32)
        strayed += by @ (np.sqrt(weight, dtype=np.float32) * unit * centred)
    chance = np.maximum(strayed.max(axis=1, initial=0), -strayed.min(axis=1, initial=0))
    deviation = np.full(len(predicted), -1.0)
    deviation[judged] = (np.abs(observed - predicted) / np.where(judged, spread, 1))[judged]
    shape = (-1, here.positions.shape[2])
    return _LookedAt(
        observed.reshape(shape),
        predicted.reshape(shape),
        deviation.reshape(shape),
        chance,
    )


def _predicted(theta: np.ndarray) -> np.ndarray:
    """Shares of duels, (pair, time), then of first places, (algorithm, time)."""
    n = theta.shape[2]
    thin = 1 + len(theta) * n * (n - 1) // 2 // _DUELS_AT_A_TIME  # a mean needs no more
    by_algorithm = np.ascontiguousarray(theta[::thin].transpose(2, 1, 0), dtype=np.float32)
    if n > FEW:
        from polarbear.inference.loops.duelling import predict_duels  # compiles what few do without

        shares = [np.empty((n * (n - 1) // 2, theta.shape[1]), dtype=np.float32)]
        predict_duels(by_algorithm, shares[0])
    else:
        shares = [
            (one / (one + by_algorithm[k + 1 :])).mean(axis=2)
            for k, one in enumerate(by_algorithm[:-1])
        ]
    return np.concatenate([*shares, theta.mean(axis=0).T]).ravel()


def _blocks(duels: Duels) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    everyone = range(duels.positions.shape[1])
    found = []
    for block in duels.blocks():
        scores, there = zip(
            duels.pair_scores(block), duels.first_scores(block, everyone), strict=True
        )
        found.append((np.hstack(scores), np.hstack(there), duels.weights_of(block)))
    return found


def _worst_times(deviation: np.ndarray, judged: np.ndarray, n_times: int) -> list[int]:
    """The worst time of each pair and each algorithm, the worst of all first."""
    rows = np.where(judged, deviation, -1).reshape(-1, n_times)
    places = rows.argmax(axis=1) + n_times * np.arange(len(rows))
    places = places[judged[places]]
    return [int(k) for k in places[np.argsort(-deviation[places], kind="stable")]]


def _named(row: int, n: int) -> tuple[int, int | None]:
    a, b = np.triu_indices(n, 1)
    return (int(a[row]), int(b[row])) if row < len(a) else (int(row - len(a)), None)
