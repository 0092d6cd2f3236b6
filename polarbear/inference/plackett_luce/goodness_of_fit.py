"""A check of fit: duels and first places that Plackett-Luce predicts, against the observed ones.

In Plackett-Luce the outcome between a and b does not depend on the other algorithms; mixtures of
kinds of instances, near-clones and unequal variances break that. The check compares the predicted
share of a's wins over b with the observed one for every pair and time, and likewise first places
where all algorithms are ranked. The problem is the unit: its residuals at all times and pairs get
the same random weight (a multiplier bootstrap), which gives the distribution of the greatest
standardised deviation by chance. Predictions were fitted to the same problems, which the bootstrap
ignores and which draws predictions towards the observed shares.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from polarbear.inference.fit import Deviation, Fit
from polarbear.numerics.threads import in_threads, single_threaded_blas
from polarbear.rankings.duels import ProblemDuels, duels_of

LEVEL = 0.01  # the probability of rejecting a model that fits
_REPLICATES = 400
_MIN_PROBLEMS = 10  # problems on which both algorithms of a pair were ranked
_MIN_GAP = 0.02  # smaller differences between shares do not matter
_MAX_REPORTED = 5
_MAX_DUELS = 2**23  # simulated duels whose mean is a prediction
_MAX_COLUMNS = 6000  # (pairs and algorithms) times timepoints at once: bounds memory, not results
_MIN_PARTS = 4  # parts of the times, for threads


def check_fit(
    positions: np.ndarray,
    theta: np.ndarray,
    problems: Sequence[str] | None = None,
    seed: int = 0,
    weights: np.ndarray | None = None,
) -> Fit:
    """Compare theta[draw, time, algorithm] with positions[instance, algorithm, time].

    An instance of weight w counts as w instances with the same outcome.
    """
    duels = duels_of(positions, problems, weights)
    _, n, n_times = positions.shape
    rng = np.random.default_rng([seed, 7])
    multipliers = [
        rng.standard_normal((_REPLICATES, block.stop - block.start), dtype=np.float32)
        for block in duels.blocks()
    ]
    stride = max(1, min(_MAX_COLUMNS // (n * (n + 1) // 2), -(-n_times // _MIN_PARTS)))
    parts = [slice(first, first + stride) for first in range(0, n_times, stride)]
    with single_threaded_blas():
        checked = in_threads(lambda times: _check_part(duels, theta, times, multipliers), parts)
    tables, maxima = zip(*checked, strict=True)
    observed, predicted, deviation = np.concatenate(tables, axis=2).reshape(3, -1)
    greatest_by_chance = np.max(maxima, axis=0)
    allowed = float(np.quantile(greatest_by_chance, 1 - LEVEL)) or 1.0
    does_not_fit = (deviation > allowed) & (np.abs(observed - predicted) >= _MIN_GAP)
    n_exceeding = (greatest_by_chance >= deviation.max(initial=0)).sum()
    p_value = (1 + n_exceeding) / (1 + _REPLICATES)
    first, second = np.triu_indices(n, 1)
    a = [*first.tolist(), *range(n)]
    b = [*second.tolist(), *[None] * n]
    worst = [
        Deviation(
            a[k // n_times],
            b[k // n_times],
            time=int(k % n_times),
            observed=float(observed[k]),
            predicted=float(predicted[k]),
        )
        for k in _worst_times(deviation, n_times)[:_MAX_REPORTED]
    ]
    return Fit(not bool(does_not_fit.any()), float(p_value), tuple(worst))


def _check_part(
    duels: ProblemDuels, theta: np.ndarray, times: slice, multipliers: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The comparison of observed with predicted shares at some times.

    Returns the observed share, the predicted one and their distance in standard errors, which is
    -1 with too few problems, as [3, pair or algorithm, time], and the greatest distance of each
    replicate. Problem k has the weight ``multipliers[block][replicate, k]`` at all times.
    """
    duels_at_times = replace(duels, positions=np.ascontiguousarray(duels.positions[:, :, times]))
    blocks = _blocks(duels_at_times)
    predicted = _predicted(theta[:, times])
    total = np.zeros(len(predicted))
    squares = np.zeros(len(predicted))
    count = np.zeros(len(predicted))
    for score, present, weight in blocks:
        total += (weight * score).sum(axis=0, dtype=float)
        count += (weight * present).sum(axis=0)
        squares += (weight * present * (score - predicted) ** 2).sum(axis=0)
    size = np.maximum(count, 1)
    observed = total / size
    # The variance is at least that of the model for this number of duels, because ten wins of ten
    # prove little.
    spread = np.sqrt(np.maximum(squares, count * predicted * (1 - predicted))) / size
    checked = (count >= _MIN_PROBLEMS) & (spread > 0)
    unit = np.where(checked, 1 / np.where(checked, size * spread, 1), 0).astype(np.float32)
    replicates = np.zeros((_REPLICATES, len(unit)), dtype=np.float32)
    for (score, present, weight), multiplier in zip(blocks, multipliers, strict=True):
        centred = (present * (score - observed)).astype(np.float32)
        replicates += multiplier @ (np.sqrt(weight, dtype=np.float32) * unit * centred)
    greatest = np.maximum(replicates.max(axis=1, initial=0), -replicates.min(axis=1, initial=0))
    distance = np.abs(observed - predicted) / np.where(checked, spread, 1)
    comparison = np.stack([observed, predicted, np.where(checked, distance, -1.0)])
    return comparison.reshape(3, -1, duels_at_times.positions.shape[2]), greatest


def _predicted(theta: np.ndarray) -> np.ndarray:
    """Shares of duels, (pair, time), then of first places, (algorithm, time)."""
    n = theta.shape[2]
    thin = 1 + len(theta) * n * (n - 1) // 2 // _MAX_DUELS  # a mean needs no more
    by_algorithm = np.ascontiguousarray(theta[::thin].transpose(2, 1, 0), dtype=np.float32)
    shares = [
        (ratings / (ratings + by_algorithm[k + 1 :])).mean(axis=2)
        for k, ratings in enumerate(by_algorithm[:-1])
    ]
    return np.concatenate([*shares, theta.mean(axis=0).T]).ravel()


def _blocks(duels: ProblemDuels) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Scores, presence and weights of some problems at a time."""
    everyone = range(duels.positions.shape[1])
    weights = np.ones(duels.n_problems, np.float32) if duels.weights is None else duels.weights
    blocks = []
    for block in duels.blocks():
        pair_scores, pair_known = duels.pair_scores(block)
        first_scores, first_known = duels.first_scores(block, everyone)
        scores = np.hstack([pair_scores, first_scores])
        present = np.hstack([pair_known, first_known])
        blocks.append((scores, present, weights[block, None]))
    return blocks


def _worst_times(deviation: np.ndarray, n_times: int) -> list[int]:
    """The worst time of each pair and each algorithm that was checked, the worst of all first."""
    rows = deviation.reshape(-1, n_times)
    worst = rows.argmax(axis=1) + n_times * np.arange(len(rows))
    worst = worst[deviation[worst] >= 0]
    order = np.argsort(-deviation[worst], kind="stable")
    return [int(k) for k in worst[order]]
