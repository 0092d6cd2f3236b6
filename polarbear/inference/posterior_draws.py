"""The result of inference, the same for every model and engine: draws and their diagnostics."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from polarbear.inference.fit import Fit
from polarbear.inference.model_options import ModelOptions
from polarbear.numerics.threads import in_threads
from polarbear.rankings.duels import place_of_pair
from polarbear.wording import counted, percent_cell

MAX_R_HAT = 1.01
MIN_ESS = 400.0
MAX_PARETO_K = 0.7
MAX_MISSED = 0.02
MIN_E_BFMI = 0.3
_MAX_NUMBERS = 2**20  # copied at once for quantiles


def draws_a_chain(draws: int, chains: int) -> int:
    """An even number, because diagnostics cut chains in halves."""
    return 2 * math.ceil(draws / (2 * chains))


@dataclass(frozen=True)
class Diagnostics:
    """The worst values over all of theta; ``pareto_k`` exists for approximate methods only.

    ``missed`` is the share of draws beyond the range of hyperparameters that was covered.
    ``deep_trees`` counts transitions that reached NUTS's greatest depth: they cost time but do not
    fail; ``e_bfmi`` is the lowest of any chain, for Stan's NUTS. ``r_hat_limit`` is above MAX_R_HAT
    where few draws of many well-mixed ratings exceed it by chance.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("passed", "problems")  # added to plain data

    r_hat: float
    ess_bulk: float
    ess_tail: float
    divergences: int
    pareto_k: float | None
    acceptance: float | None
    attempts: int
    missed: float = 0.0
    deep_trees: int = 0
    e_bfmi: float | None = None
    r_hat_limit: float = MAX_R_HAT

    @property
    def problems(self) -> tuple[str, ...]:
        """Each failed threshold in one sentence; empty for a posterior that can be used."""
        found = []
        if not self.r_hat < self.r_hat_limit:
            found.append(f"R-hat is {self.r_hat:.3f}, should be below {self.r_hat_limit:.4g}")
        for name, ess in (("bulk", self.ess_bulk), ("tail", self.ess_tail)):
            if not ess >= MIN_ESS:
                found.append(f"{name} ESS is {ess:.0f}, should be at least {MIN_ESS:.0f}")
        if self.divergences:
            found.append(f"{counted(self.divergences, 'transition')} diverged, should be none")
        if self.pareto_k is not None and not self.pareto_k < MAX_PARETO_K:
            found.append(
                f"Pareto-k of the approximation is {self.pareto_k:.2f}, "
                f"should be below {MAX_PARETO_K}"
            )
        if not self.missed < MAX_MISSED:
            found.append(
                f"{percent_cell(self.missed, 1)} of draws crowd at the edge of the "
                f"hyperparameters' range, should be below {percent_cell(MAX_MISSED)}"
            )
        if self.e_bfmi is not None and not self.e_bfmi > MIN_E_BFMI:
            found.append(f"E-BFMI is {self.e_bfmi:.2f}, should be above {MIN_E_BFMI}")
        return tuple(found)

    @property
    def passed(self) -> bool:
        return not self.problems

    @property
    def converged(self) -> bool:
        """Whether chains agree and cover the posterior, so that at most more draws are needed."""
        return self.r_hat < self.r_hat_limit and not self.divergences and self.missed < MAX_MISSED


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
