"""Win rates over time with their intervals: of a pair, or of an algorithm against several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from polarbear.inference.posterior_draws import Posterior


@dataclass(frozen=True)
class WinRates:
    """The win rate of an algorithm at each time: draws[draw, time], and their ``mean``[time].

    ``is_unbeaten`` says where it has won all duels that were observed, ``is_winless`` where none.
    Neither is known under Plackett-Luce.
    """

    draws: np.ndarray
    mean: np.ndarray
    is_unbeaten: np.ndarray
    is_winless: np.ndarray

    @classmethod
    def of_pair(cls, posterior: Posterior, a: int, b: int) -> WinRates:
        """Those of a against b, which are indices of algorithms."""
        nowhere = np.zeros(len(posterior.times), dtype=bool)
        duels = posterior.duels
        return cls(
            draws=posterior.head_to_head(a, b),
            mean=posterior.win_rate(a, b),
            is_unbeaten=nowhere if duels is None else duels.is_unbeaten(a, b),
            is_winless=nowhere if duels is None else duels.is_unbeaten(b, a),
        )

    @classmethod
    def average(cls, rates: Sequence[WinRates]) -> WinRates:
        """The average of several, against different opponents."""
        return cls(
            draws=np.asarray(np.mean([rate.draws for rate in rates], axis=0, dtype=np.float64)),
            mean=np.mean([rate.mean for rate in rates], axis=0),
            is_unbeaten=np.all([rate.is_unbeaten for rate in rates], axis=0),
            is_winless=np.all([rate.is_winless for rate in rates], axis=0),
        )

    def at(self, times: np.ndarray) -> WinRates:
        """Those at some times, given by their indices."""
        return WinRates(
            self.draws[:, times], self.mean[times], self.is_unbeaten[times], self.is_winless[times]
        )

    def over_time(self) -> WinRates:
        """The average over all times, as a single time."""
        return WinRates(
            draws=self.draws.mean(axis=1, keepdims=True, dtype=np.float64),
            mean=self.mean.mean(keepdims=True),
            is_unbeaten=np.array([self.is_unbeaten.all()]),
            is_winless=np.array([self.is_winless.all()]),
        )

    def interval(self, level: float = 0.95) -> np.ndarray:
        """The central credible interval with probability ``level``: [2, time].

        It ends at 1 where all duels were won and at 0 where none was: a central interval never
        contains these ends, which such data do not exclude (Brown, Cai and DasGupta 2001).
        """
        tail = (1 - level) / 2
        low, high = np.quantile(self.draws, [tail, 1 - tail], axis=0)
        return np.stack(
            [np.where(self.is_winless, 0.0, low), np.where(self.is_unbeaten, 1.0, high)]
        )
