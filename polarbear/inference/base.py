"""What goes into inference and what comes out of it, whichever engine does the work."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from polarbear.inference.diagnostics import Diagnostics
from polarbear.inference.fit import Fit
from polarbear.inference.interpolated import Interpolated
from polarbear.inference.options import ModelOptions
from polarbear.numerics.threads import in_threads
from polarbear.rankings.duels import place_of_pair

_NUMBERS_AT_ONCE = 2**20  # of which quantiles take a copy

__all__ = ["Diagnostics", "ModelOptions", "Posterior"]


def draws_a_chain(draws: int, chains: int) -> int:
    """An even number, because diagnostics cut chains in halves."""
    return 2 * math.ceil(draws / (2 * chains))


@dataclass(frozen=True)
class Posterior:
    """Draws of theta[draw, time, algorithm], chain after chain, and whether to believe them.

    theta is how likely an algorithm is the best of all on a new instance. ``wins`` [draw, time,
    pair] is how likely the first of a pair beats the second, pairs as np.triu_indices has them;
    where it is None it follows from theta, as Plackett-Luce has it, and of very many pairs and
    times it is kept at some of the times only. ``fit`` is there where Plackett-Luce is assumed and
    rankings were given to hold it against.
    ``method`` is what was run where 'auto' was asked for; ``hyper`` holds the draws of the
    hyperparameters by name; ``notes`` what a reader should know about the data behind it;
    ``joint`` whether statements about several times at once mean something; ``evidence_weight``
    the share of its face value that each ranking was counted at.
    """

    theta: np.ndarray
    chains: int
    unit_times: np.ndarray
    options: ModelOptions
    engine: str
    method: str
    seed: int
    seconds: float
    diagnostics: Diagnostics
    joint: bool
    hyper: Mapping[str, np.ndarray] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    evidence_weight: float = 1.0
    wins: np.ndarray | Interpolated | None = None
    fit: Fit | None = None

    @property
    def model(self) -> str:
        return self.options.model

    @property
    def n_draws(self) -> int:
        return int(self.theta.shape[0])

    @property
    def usable(self) -> bool:
        """Whether every diagnostic is within its threshold; never decide on one that is not."""
        return self.diagnostics.passed

    def head_to_head(self, a: int, b: int) -> np.ndarray:
        """P(a beats b on a new instance): [draw, time]."""
        if self.wins is None:
            return np.asarray(self.theta[:, :, a] / (self.theta[:, :, a] + self.theta[:, :, b]))
        found = self.wins[:, :, self._place(a, b)]
        return np.asarray(found if a < b else 1 - found)

    @property
    def independent(self) -> bool:
        """Whether draws have nothing to do with each other, as those of a chain have."""
        return self.wins is not None

    def beats(self, a: int, b: int) -> np.ndarray:
        """Whether a beats b on more than half of the instances: bool[draw, time]."""
        if self.wins is None:
            return np.asarray(self.theta[:, :, a] > self.theta[:, :, b])
        return self.head_to_head(a, b) > 0.5

    def always_beats(self, a: int, b: int) -> np.ndarray:
        """Whether a beats b at all times: bool[draw]."""
        if isinstance(self.wins, Interpolated):  # on lines between them, if it does at the knots
            at_knots = self.wins.at_knots[:, :, self._place(a, b)]
            return np.asarray((at_knots > 0.5 if a < b else at_knots < 0.5).all(axis=1))
        return np.asarray(self.beats(a, b).all(axis=1))

    def _place(self, a: int, b: int) -> int:
        """Where the wins of two stand."""
        return place_of_pair(a, b, int(self.theta.shape[2]))

    def mean(self) -> np.ndarray:
        """Posterior mean of the win probabilities: [time, algorithm]."""
        return np.asarray(self.theta.mean(axis=0))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Central credible interval: [2, time, algorithm]."""
        tail = (1 - level) / 2
        count = min(-(-self.theta.size // _NUMBERS_AT_ONCE), self.theta.shape[1])
        parts = np.array_split(self.theta, count, axis=1)

        def run(part: np.ndarray) -> np.ndarray:
            by_rating = part.astype(part.dtype, order="F")  # draws of one lie side by side
            return np.asarray(
                np.quantile(by_rating, [tail, 1 - tail], axis=0, overwrite_input=True)
            )

        return np.concatenate(in_threads(run, parts), axis=1)
