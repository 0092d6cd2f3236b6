"""The result of inference, the same for every model and engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from polarbear.inference.fit import Fit
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.posterior_diagnostics import Diagnostics
from polarbear.numerics.threads import in_threads
from polarbear.rankings.duels import place_of_pair

_MAX_NUMBERS = 2**20  # copied at once for quantiles

__all__ = ["Diagnostics", "ModelOptions", "Posterior"]


def draws_a_chain(draws: int, chains: int) -> int:
    """An even number, because diagnostics cut chains in halves."""
    return 2 * math.ceil(draws / (2 * chains))


@dataclass(frozen=True)
class Posterior:
    """Draws of theta[draw, time, algorithm], chain after chain, with their diagnostics.

    Under Plackett-Luce theta is the rating; under `empirical` it is the share of problems on which
    an algorithm is first. ``wins[draw, time, pair]`` is the probability that the first of a pair
    beats the second on a new problem, pairs in the order of np.triu_indices; it is None under
    Plackett-Luce, where it follows from theta. ``shared[time, pair]`` counts the problems that both
    algorithms of a pair ran on. ``fit`` is the check of fit of a Plackett-Luce model.
    ``method`` is the method that was run where 'auto' was asked for; ``hyper`` has the draws of the
    hyperparameters by name; ``notes`` are sentences about the data; ``joint`` says whether
    statements about several times at once are valid; ``evidence_weight`` is the weight of each
    ranking in the likelihood.
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
    wins: np.ndarray | None = None
    fit: Fit | None = None
    shared: np.ndarray | None = None

    @property
    def model(self) -> str:
        return self.options.model

    @property
    def n_draws(self) -> int:
        return int(self.theta.shape[0])

    @property
    def usable(self) -> bool:
        """Whether every diagnostic is within its threshold; otherwise no decision may use it."""
        return self.diagnostics.passed

    @property
    def n_algorithms(self) -> int:
        return int(self.theta.shape[2])

    def head_to_head(self, a: int, b: int) -> np.ndarray:
        """Draws of P(a beats b on a new problem): [draw, time]."""
        if self.wins is None:
            return np.asarray(self.theta[:, :, a] / (self.theta[:, :, a] + self.theta[:, :, b]))
        found = self.wins[:, :, place_of_pair(a, b, self.n_algorithms)]
        return np.asarray(found if a < b else 1 - found)

    @property
    def independent(self) -> bool:
        """Whether draws are independent, unlike those of a Markov chain."""
        return self.wins is not None

    def beats(self, a: int, b: int) -> np.ndarray:
        """Whether a beats b on more than half of the problems: bool[draw, time]."""
        if self.wins is None:
            return np.asarray(self.theta[:, :, a] > self.theta[:, :, b])
        found = self.wins[:, :, place_of_pair(a, b, self.n_algorithms)]
        return np.asarray(found > 0.5 if a < b else found < 0.5)

    def always_beats(self, a: int, b: int) -> np.ndarray:
        """Whether a beats b at all times: bool[draw]."""
        return np.asarray(self.beats(a, b).all(axis=1))

    def problems_shared(self, a: int, b: int) -> np.ndarray | None:
        """The number of problems that a and b both ran on, at each time."""
        if self.shared is None:
            return None
        return np.asarray(self.shared[:, place_of_pair(a, b, self.n_algorithms)])

    def mean(self) -> np.ndarray:
        """Posterior mean of theta: [time, algorithm]."""
        return np.asarray(self.theta.mean(axis=0))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Central credible interval: [2, time, algorithm]."""
        tail = (1 - level) / 2
        count = min(-(-self.theta.size // _MAX_NUMBERS), self.theta.shape[1])
        parts = np.array_split(self.theta, count, axis=1)

        def run(part: np.ndarray) -> np.ndarray:
            by_rating = part.astype(part.dtype, order="F")  # draws of one rating are contiguous
            return np.asarray(
                np.quantile(by_rating, [tail, 1 - tail], axis=0, overwrite_input=True)
            )

        return np.concatenate(in_threads(run, parts), axis=1)
