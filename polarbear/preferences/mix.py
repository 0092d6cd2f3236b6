"""Several preferences at once, each with a weight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pydantic import Field, SerializeAsAny, field_validator

from polarbear.preferences.base import Context, Preference, Valuation, Weighted
from polarbear.preferences.integrals import normalised
from polarbear.settings.options import Options
from polarbear.wording import typed


class Part(Options):
    """One preference in a mix."""

    weight: float = Field(1.0, description="how much it counts, relative to the others")
    preference: SerializeAsAny[Preference] = Field(description="the preference, with its options")


class Mix(Preference):
    """A weighted mean of other preferences."""

    of: tuple[Part, ...] = Field(description="a list of {weight, preference, its options}")

    @field_validator("of")
    @classmethod
    def _convex(cls, of: tuple[Part, ...]) -> tuple[Part, ...]:
        for part in of:
            if part.weight < 0:
                raise ValueError(f"a weight is at least zero, found {part.weight:g}")
        if not any(part.weight > 0 for part in of):
            raise ValueError("a mix needs at least one part with a weight above zero")
        return of

    def _shares(self) -> np.ndarray:
        return normalised(np.array([part.weight for part in self.of]))

    @property
    def text(self) -> str:
        return " + ".join(f"{typed(part.weight)} * {part.preference.text}" for part in self.of)

    def words(self, context: Context) -> str:
        parts = zip(self._shares(), self.of, strict=True)
        return "; ".join(
            f"with weight {share:.3g}: {part.preference.words(context)}" for share, part in parts
        )

    def on(self, context: Context) -> Valuation:
        parts = tuple(part.preference.on(context) for part in self.of)
        shares = self._shares()
        notes = tuple(note for part in parts for note in part.notes)
        weights = [part.weights for part in parts]
        if all(row is not None for row in weights):
            return Weighted(shares @ np.stack([row for row in weights if row is not None]), notes)
        return Mixed(parts, shares, notes)


@dataclass(frozen=True)
class Mixed(Valuation):
    """The weighted mean of what several valuations say."""

    parts: tuple[Valuation, ...]
    shares: np.ndarray
    notes: tuple[str, ...] = ()

    def values(self, theta: np.ndarray) -> np.ndarray:
        return np.asarray(
            sum(
                share * part.values(theta)
                for share, part in zip(self.shares, self.parts, strict=True)
                if share > 0
            )
        )
