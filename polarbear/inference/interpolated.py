"""Draws that are kept at some times only, and drawn through between them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Interpolated:
    """Win probabilities at knots, straight lines between them, read like an array [draw, time,
    pair]."""

    at_knots: np.ndarray
    knots: np.ndarray

    @property
    def shape(self) -> tuple[int, int, int]:
        draws, _, pairs = self.at_knots.shape
        return draws, int(self.knots[-1]) + 1, pairs

    @cached_property
    def _between(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each time the knot that it follows, and how far it is on the way to the next."""
        times = np.arange(self.shape[1])
        before = np.clip(np.searchsorted(self.knots, times, side="right") - 1, 0, None)
        before = np.minimum(before, len(self.knots) - 2)
        width = np.diff(self.knots)[before]
        return before, ((times - self.knots[before]) / width).astype(np.float32)

    def __getitem__(self, key: tuple[Any, Any, Any]) -> np.ndarray:
        """Draws and pairs as an array has them; times by one number or a slice."""
        draws, times, pairs = key
        before, share = (part[times] for part in self._between)
        some = self.at_knots[draws][..., pairs]
        low, high = some[:, before], some[:, before + 1]
        share = share.reshape(share.shape + (1,) * (low.ndim - 1 - share.ndim))
        return np.asarray(low + share * (high - low))

    def of_pair(self, pair: int) -> Interpolated:
        """Of one pair alone."""
        return Interpolated(self.at_knots[:, :, pair : pair + 1], self.knots)

    def shares(self, pair: int, epsilon: float) -> np.ndarray:
        """At each time the share of draws above one half, below it, at most epsilon from it, and no
        more than epsilon below it: [4, time]."""
        from polarbear.inference.loops.between import count_sides

        draws, n_times, _ = self.shape
        found = np.empty((4, n_times))
        at_knots = np.ascontiguousarray(self.at_knots[:, :, pair].T)
        count_sides(at_knots, *self._between, np.float32(epsilon), found)
        return found / draws

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        every = slice(None)
        return np.asarray(self[every, every, every], dtype=dtype)
