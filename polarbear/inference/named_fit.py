"""The check of fit in terms of names and times, for reports and records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from polarbear.wording import percent, short


class Misfit(NamedTuple):
    """A pair at a time, or first places where ``b`` is None: observed and predicted share."""

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


class NamedFit(NamedTuple):
    """A fit in terms of names and times; fields are keys of JSON."""

    fits: bool
    p_value: float
    worst: tuple[Misfit, ...]

    @property
    def words(self) -> str | None:
        """A sentence about a model that does not fit; None for one that fits."""
        return None if self.fits else f"Plackett-Luce does not fit: {self.worst[0].words}"

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any] | None) -> NamedFit | None:
        if plain is None:
            return None
        worst = tuple(Misfit(**misfit) for misfit in plain["worst"])
        return cls(plain["fits"], plain["p_value"], worst)
