"""Whether Plackett-Luce fits: duels and first places as it predicts them, beside those seen.

In Plackett-Luce who wins between a and b does not depend on who else is there; mixtures of kinds of
instances, near-clones and unequal variances break that. The check compares the predicted share of
a's wins over b with the observed one for every pair and time, and likewise first places where all
algorithms are ranked. The instance is the unit: its residuals at all times and pairs move together
under random signs and sizes (a multiplier bootstrap), which says how far the greatest standardised
deviation would go by chance. Predictions were fitted to the same instances, which makes the check
a little too forgiving, never too strict.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.rankings import ABSENT

LEVEL = 0.01  # the chance to reject a model that fits
_REPLICATES = 1000
_FEWEST = 10  # instances on which both were ranked: below it nothing is said
_LEAST_GAP = 0.02  # shares that differ by less are no misfit that matters
_WORST = 5


@dataclass(frozen=True)
class Deviation:
    """A pair at a time (or, without ``b``, first places) that came out other than predicted."""

    a: str
    b: str | None
    t: float
    observed: float
    predicted: float
    excess: float  # the deviation over the one that chance would allow


@dataclass(frozen=True)
class Fit:
    """Whether a Plackett-Luce posterior fits its rankings, and where it does so least."""

    fits: bool
    p_value: float
    worst: tuple[Deviation, ...]


def check_fit(
    positions: np.ndarray,
    theta: np.ndarray,
    algorithms: tuple[str, ...],
    times: np.ndarray,
    seed: int = 0,
) -> Fit:
    """Hold theta[draw, time, algorithm] against positions[instance, algorithm, time]."""
    n = len(algorithms)
    a, b = np.triu_indices(n, 1)
    score, there, predicted = _columns(positions, theta, a, b)
    count = there.sum(axis=0)
    observed = score.sum(axis=0) / np.maximum(count, 1)
    residual = np.where(there, score - predicted, 0)
    enough = count >= _FEWEST
    gap = np.where(enough, observed - predicted, 0)
    # at least the variance of so many duels as the model has them: five wins of five prove little
    spread = np.sqrt(
        np.maximum((residual**2).sum(axis=0), count * predicted * (1 - predicted))
    ) / np.maximum(count, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.where(enough & (spread > 0), np.abs(gap) / spread, 0)
    signs = np.random.default_rng([seed, 7]).standard_normal((_REPLICATES, len(positions)))
    centred = np.where(there, score - observed, 0)
    by_chance = np.abs(signs @ centred) / np.maximum(count, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_chance = np.where(enough & (spread > 0), by_chance / spread, 0).max(axis=1)
    p_value = float((1 + (by_chance >= deviation.max(initial=0)).sum()) / (1 + _REPLICATES))
    allowed = float(np.quantile(by_chance, 1 - LEVEL)) or 1.0
    off = (deviation > allowed) & (np.abs(gap) >= _LEAST_GAP)
    columns: list[tuple[str, str | None, float]] = [
        (algorithms[i], algorithms[j], t) for i, j in zip(a, b, strict=True) for t in times
    ]
    columns += [(name, None, t) for name in algorithms for t in times]
    order = np.argsort(-deviation, kind="stable")
    worst, seen = [], set()
    for k in order:
        one, two, t = columns[k]
        if (one, two) in seen or not enough[k]:
            continue
        seen.add((one, two))
        worst.append(
            Deviation(
                one,
                two,
                float(t),
                float(observed[k]),
                float(predicted[k]),
                float(deviation[k] / allowed),
            )
        )
        if len(worst) == _WORST:
            break
    return Fit(not off.any(), p_value, tuple(worst))


def _columns(
    positions: np.ndarray, theta: np.ndarray, a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, who was there, and what was predicted, for pairs and then first places."""
    rows = len(positions)
    present = positions != ABSENT
    met = present[:, a] & present[:, b]
    one, two = positions[:, a], positions[:, b]
    duels = np.where(met, 0.5 * (one < two) + 0.5 * (one <= two), 0)
    complete = np.broadcast_to(present.all(axis=1, keepdims=True), positions.shape)
    first = (positions == 0) & complete
    firsts = first / np.maximum(first.sum(axis=1, keepdims=True), 1)
    share = np.stack(
        [
            (theta[:, :, i] / (theta[:, :, i] + theta[:, :, j])).mean(axis=0)
            for i, j in zip(a, b, strict=True)
        ]
    )
    total = theta / theta.sum(axis=2, keepdims=True)
    predicted = np.concatenate([share.ravel(), total.mean(axis=0).T.ravel()])
    score = np.hstack([duels.reshape(rows, -1), firsts.reshape(rows, -1)])
    there = np.hstack([met.reshape(rows, -1), complete.reshape(rows, -1)])
    return score, there, predicted
