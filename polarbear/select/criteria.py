"""How uncertainty is valued: four criteria on the values V[draw, item] of one preference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from polarbear.errors import SelectionError
from polarbear.settings.options import unknown

Risk = Literal["p2bb", "mean", "quantile", "regret"]
RISKS: tuple[Risk, ...] = get_args(Risk)
GAMMA = 0.05
_ITEMS_AT_ONCE, _DRAWS_AT_ONCE = 256, 1000  # bound memory; no result depends on them


@dataclass(frozen=True)
class Criteria:
    """What each item has to say for itself; only of the regret is less better.

    ``p2bb`` is the probability of being best, ``mean`` the expected value, ``quantile`` the value
    that is exceeded with probability 1 - gamma, ``regret`` what is expected to be lost by taking
    this item and not the best.
    """

    p2bb: np.ndarray
    mean: np.ndarray
    quantile: np.ndarray
    regret: np.ndarray

    def merit(self, risk: Risk) -> np.ndarray:
        """The criterion as something of which more is better."""
        return -self.regret if risk == "regret" else np.asarray(getattr(self, risk))

    def order(self, risk: Risk) -> list[int]:
        """Items from best to worst; the mean decides between equals, then the given order."""
        return [int(i) for i in np.lexsort((-self.mean, -self.merit(risk)))]

    def best(self, risk: Risk) -> int:
        return self.order(risk)[0]


def judge(values: np.ndarray, gamma: float = GAMMA, best: np.ndarray | None = None) -> Criteria:
    """All criteria of values[draw, item].

    ``best[draw]`` is the highest value there could have been, where not all items are given.
    """
    check_gamma(gamma)
    highest = values.max(axis=1) if best is None else best
    mean = values.mean(axis=0, dtype=np.float64)
    blocks = range(0, values.shape[1], _ITEMS_AT_ONCE)
    return Criteria(
        p2bb=_shares_of_wins(values, highest),
        mean=mean,
        quantile=np.concatenate(
            [lower_quantile(values[:, i : i + _ITEMS_AT_ONCE].T, gamma) for i in blocks]
        ),
        regret=np.maximum(highest.mean(dtype=np.float64) - mean, 0.0),
    )


def p2bb(values: np.ndarray) -> np.ndarray:
    """Of all criteria the probability of being best only, which is soon computed."""
    return _shares_of_wins(values, values.max(axis=1))


def wins(values: np.ndarray, highest: np.ndarray) -> np.ndarray:
    """Whether each item is the best in each draw; those that tie for it share it."""
    is_best = values >= highest[:, None]
    return np.asarray(is_best / np.maximum(is_best.sum(axis=1, keepdims=True), 1))


def lower_quantile(rows: np.ndarray, gamma: float) -> np.ndarray:
    """The gamma-quantile of each row, linear between order statistics as NumPy's is.

    One partition and a minimum, which is several times as fast as asking NumPy for it.
    """
    place = gamma * (rows.shape[1] - 1)
    k = int(place)
    parted = np.partition(rows, k, axis=1)
    low = parted[:, k].astype(np.float64)
    high = parted[:, k + 1 :].min(axis=1) if k + 1 < rows.shape[1] else low
    return np.asarray(low + (place - k) * (high - low))


def _shares_of_wins(values: np.ndarray, highest: np.ndarray) -> np.ndarray:
    """The mean of wins over draws, some draws at a time."""
    total = np.zeros(values.shape[1])
    for i in range(0, len(values), _DRAWS_AT_ONCE):
        some = slice(i, i + _DRAWS_AT_ONCE)
        total += wins(values[some], highest[some]).sum(axis=0)
    return total / len(values)


def check_risk(name: str) -> Risk:
    for risk in RISKS:
        if name == risk:
            return risk
    raise SelectionError(unknown("risk profile", name, RISKS))


def check_gamma(gamma: float) -> float:
    if not 0 < gamma < 1:
        raise SelectionError(f"the quantile level gamma must lie in (0, 1), found {gamma:g}")
    return gamma
