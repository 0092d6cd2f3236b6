"""The result of inference, the same for every model and engine: draws and their diagnostics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from polarbear.inference import arviz_data, posterior_tables
from polarbear.inference.empirical import pair_probabilities
from polarbear.inference.fit import Fit, NamedFit, named
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.win_rates import WinRates
from polarbear.numerics.threads import in_threads
from polarbear.rankings.duels import DuelRecord, index_of_pair
from polarbear.settings.decision_levels import DEFAULT_EPSILON
from polarbear.settings.enumerations import Method
from polarbear.settings.grid import EVALUATIONS
from polarbear.wording import counted, percent_cell

if TYPE_CHECKING:
    import polars as pl

    from polarbear.inference.posterior_tables import Inferred

MAX_R_HAT = 1.01
MIN_ESS = 400.0
MAX_PARETO_K = 0.7
MAX_MISSED = 0.02
MIN_E_BFMI = 0.3
MAX_NUMBERS_COPIED = 2**20  # at once, for quantiles


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
        problems = []
        if not self.r_hat < self.r_hat_limit:
            problems.append(f"R-hat is {self.r_hat:.3f}, should be below {self.r_hat_limit:.4g}")
        for name, ess in (("bulk", self.ess_bulk), ("tail", self.ess_tail)):
            if not ess >= MIN_ESS:
                problems.append(f"{name} ESS is {ess:.0f}, should be at least {MIN_ESS:.0f}")
        if self.divergences:
            problems.append(f"{counted(self.divergences, 'transition')} diverged, should be none")
        if self.pareto_k is not None and not self.pareto_k < MAX_PARETO_K:
            problems.append(
                f"Pareto-k of the approximation is {self.pareto_k:.2f}, "
                f"should be below {MAX_PARETO_K}"
            )
        if not self.missed < MAX_MISSED:
            problems.append(
                f"{percent_cell(self.missed, 1)} of draws crowd at the edge of the "
                f"hyperparameters' range, should be below {percent_cell(MAX_MISSED)}"
            )
        if self.e_bfmi is not None and not self.e_bfmi > MIN_E_BFMI:
            problems.append(f"E-BFMI is {self.e_bfmi:.2f}, should be above {MIN_E_BFMI}")
        return tuple(problems)

    @property
    def passed(self) -> bool:
        return not self.problems

    @property
    def warnings(self) -> tuple[str, ...]:
        """The problems with this posterior, as sentences for its users."""
        return tuple(f"do not trust this posterior: {problem}" for problem in self.problems)

    @property
    def converged(self) -> bool:
        """Whether chains agree and cover the posterior, so that at most more draws are needed."""
        return self.r_hat < self.r_hat_limit and not self.divergences and self.missed < MAX_MISSED


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Posterior:
    """Draws of how likely each algorithm is to win at each time, and their diagnostics.

    ``theta[draw, time, algorithm]`` contains the draws, chain after chain; ``algorithms`` and
    ``times`` name its axes, ``axis`` is the unit of time. Under Plackett-Luce theta is the rating;
    under `empirical` it is the share of problems on which an algorithm is first, or with several
    objectives its mean win rate against the others.
    ``wins[draw, time, pair]`` is the probability that the first of a pair beats the second on a new
    problem, with pairs in the order of np.triu_indices; it is None under Plackett-Luce, where it
    follows from theta.

    ``instances`` is the number of problems that the posterior was inferred from, and
    ``shared[time, pair]`` the number of problems that both algorithms of a pair ran on, ``duels``
    the record of their duels (None under Plackett-Luce). ``method``
    is the method that was run where ``options`` leave it at 'auto'. ``hyper`` are draws of the
    model's hyperparameters by name, ``joint`` says whether the model describes several times
    jointly, ``evidence_weight`` is the weight of each ranking in a composite likelihood. The
    posterior was inferred in a number of ``seconds``, or read ``from_store``, where it has a
    ``key``. Decide nothing if ``usable`` is False: ``problems`` are the reasons. ``notes`` are
    limits of the evidence.
    """

    theta: np.ndarray
    algorithms: tuple[str, ...]
    times: np.ndarray
    unit_times: np.ndarray
    chains: int
    options: ModelOptions
    engine: str
    method: str
    seed: int
    seconds: float
    diagnostics: Diagnostics
    joint: bool
    axis: str = EVALUATIONS
    instances: int = 0
    key: str = ""
    from_store: bool = False
    hyper: Mapping[str, np.ndarray] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[str, ...] = ()
    evidence_weight: float = 1.0
    wins: np.ndarray | None = None
    shared: np.ndarray | None = None
    duels: DuelRecord | None = None
    indexed_fit: Fit | None = None

    @property
    def model(self) -> str:
        return self.options.model

    @property
    def draws(self) -> int:
        """The number of draws of all chains."""
        return int(self.theta.shape[0])

    @property
    def usable(self) -> bool:
        """Whether every diagnostic is within its threshold; otherwise no decision may use it."""
        return self.diagnostics.passed

    @property
    def problems(self) -> tuple[str, ...]:
        """The reasons why the posterior is not usable."""
        return self.diagnostics.problems

    @property
    def n_algorithms(self) -> int:
        return int(self.theta.shape[2])

    @property
    def independent(self) -> bool:
        """Whether draws are independent, unlike those of a Markov chain."""
        return self.wins is not None

    @property
    def has_chains(self) -> bool:
        """Whether draws are those of Markov chains; draws of other methods have no order."""
        return self.method in (Method.MCMC, Method.SPLIT_HMC)

    @property
    def fit(self) -> NamedFit | None:
        """The fit of Plackett-Luce to the rankings; None where it is not assumed."""
        return named(self.indexed_fit, self.algorithms, self.times)

    def head_to_head(self, a: int, b: int) -> np.ndarray:
        """Draws of P(a beats b on a new problem): [draw, time].

        ``a`` and ``b`` are indices of algorithms.

        >>> posterior.head_to_head(0, 1).shape == posterior.theta.shape[:2]
        True
        """
        if self.wins is None:
            return np.asarray(self.theta[:, :, a] / (self.theta[:, :, a] + self.theta[:, :, b]))
        first_of_pair_wins = self.wins[:, :, index_of_pair(a, b, self.n_algorithms)]
        return np.asarray(first_of_pair_wins if a < b else 1 - first_of_pair_wins)

    def beats(self, a: int, b: int) -> np.ndarray:
        """Whether a beats b on more than half of the problems: bool[draw, time].

        ``a`` and ``b`` are indices of algorithms.

        >>> posterior.beats(0, 1).dtype
        dtype('bool')
        """
        if self.wins is None:
            return np.asarray(self.theta[:, :, a] > self.theta[:, :, b])
        first_of_pair_wins = self.wins[:, :, index_of_pair(a, b, self.n_algorithms)]
        return np.asarray(first_of_pair_wins > 0.5 if a < b else first_of_pair_wins < 0.5)

    @property
    def has_firsts(self) -> bool:
        """Whether outcomes have a total order, so that some algorithm is first on each problem.

        With several objectives they have none, and theta is the mean win rate against the others.
        """
        return self.duels is None or self.duels.incomparable is None

    @property
    def exact_duels(self) -> DuelRecord | None:
        """The duels from which the probability of a pair at one time follows exactly.

        None where it is that of draws: under Plackett-Luce, and where a problem has several seeds.
        """
        return None if self.duels is None or self.duels.has_fractions else self.duels

    def p_better(self, a: int, b: int) -> np.ndarray:
        """P(a beats b on more than half of the problems) at each time.

        ``a`` and ``b`` are indices of algorithms. It is exact under `empirical` without repeated
        seeds, otherwise a share of draws.

        >>> (posterior.p_better(0, 1) + posterior.p_better(1, 0)).round(6).tolist()
        [1.0, 1.0]
        """
        if self.exact_duels is None:
            return np.asarray(self.beats(a, b).mean(axis=0))
        return pair_probabilities.p_better(self.exact_duels, a, b, self.options.concentration)

    def win_rate(self, a: int, b: int) -> np.ndarray:
        """The expected share of problems on which a beats b, a draw counting half, at each time.

        ``a`` and ``b`` are indices of algorithms.

        >>> (posterior.win_rate(0, 1) + posterior.win_rate(1, 0)).round(6).tolist()
        [1.0, 1.0]
        """
        if self.exact_duels is None:
            return np.asarray(self.head_to_head(a, b).mean(axis=0, dtype=np.float64))
        return pair_probabilities.win_rate(self.exact_duels, a, b, self.options.concentration)

    def win_interval(self, a: int, b: int, level: float = 0.95) -> np.ndarray:
        """Central credible interval of the share of problems on which a beats b: [2, time].

        ``a`` and ``b`` are indices of algorithms, ``level`` is the probability of the interval.
        Under `empirical` it ends at 1 where all duels were won, and at 0 where none was.

        >>> low, high = posterior.win_interval(0, 1)
        >>> bool((low <= posterior.win_rate(0, 1)).all())
        True
        """
        return WinRates.of_pair(self, a, b).interval(level)

    def problems_shared(self, a: int, b: int) -> np.ndarray | None:
        """The number of problems that the algorithms ``a`` and ``b`` both ran on, at each time.

        >>> len(posterior.problems_shared(0, 1)) == len(posterior.times)
        True
        """
        if self.shared is None:
            return None
        return np.asarray(self.shared[:, index_of_pair(a, b, self.n_algorithms)])

    def mean(self) -> np.ndarray:
        """Posterior mean of theta: [time, algorithm].

        >>> posterior.mean().sum(axis=1).round(6).tolist()
        [1.0, 1.0]
        """
        return np.asarray(self.theta.mean(axis=0))

    def interval(self, level: float = 0.95) -> np.ndarray:
        """Central credible interval of theta with probability ``level``: [2, time, algorithm].

        >>> low, high = posterior.interval(0.9)
        >>> bool((low <= posterior.mean()).all())
        True
        """
        tail = (1 - level) / 2
        n_times = self.theta.shape[1]
        n_blocks = min(math.ceil(self.theta.size / MAX_NUMBERS_COPIED), n_times)
        blocks_of_times = np.array_split(self.theta, n_blocks, axis=1)

        def quantiles(block: np.ndarray) -> np.ndarray:
            by_rating = block.astype(block.dtype, order="F")  # draws of one rating are contiguous
            return np.asarray(
                np.quantile(by_rating, [tail, 1 - tail], axis=0, overwrite_input=True)
            )

        return np.concatenate(in_threads(quantiles, blocks_of_times), axis=1)

    def summary(self, level: float = 0.95) -> pl.DataFrame:
        """Posterior mean and central interval of each algorithm's share of firsts at each time.

        ``level`` is the probability of the interval.

        >>> posterior.summary().columns
        ['algorithm', 't', 'mean', 'low', 'high']
        """
        return posterior_tables.summary(self, level)

    def pairs(self, epsilon: float = DEFAULT_EPSILON) -> pl.DataFrame:
        """Compare each algorithm with each other one, at each time.

        ``p_dominates`` is P(a is better than b at t), ``p_equivalent`` the probability that the win
        probability of a is within ``epsilon`` of even, ``error`` the Monte-Carlo error of the
        first, ``p_wins`` the expected share of instances on which a beats b. For joint models,
        ``p_dominates_always`` is P(a is better at every time), ``p_crosses`` P(neither is).

        >>> posterior.pairs().filter(pl.col("a") == "powell")["p_dominates"].round(2).to_list()
        [1.0, 1.0]
        """
        return posterior_tables.pairs(self, epsilon)

    def facts(
        self,
        times: Sequence[int] | None = None,
        pairs: bool = False,
        epsilon: float = DEFAULT_EPSILON,
    ) -> Inferred:
        """The facts of `polarbear infer`, at all ``times`` or at those with the given indices.

        ``pairs`` adds the comparison of every pair, in which ``epsilon`` is that of `pairs`.

        >>> posterior.facts().model
        'empirical'
        """
        return posterior_tables.facts(self, times, pairs, epsilon)

    def to_arviz(self) -> Any:
        """The draws for ArviZ: theta with dimensions chain, draw, time and algorithm.

        The result is an InferenceData, or a DataTree from ArviZ 1 on.

        >>> posterior.to_arviz().posterior["theta"].dims
        ('chain', 'draw', 'time', 'algorithm')
        """
        return arviz_data.in_groups(arviz_data.as_dataset(self))

    def __repr__(self) -> str:
        doubt = "" if self.usable else ", not to be trusted"
        return (
            f"<Posterior of {self.model}: {len(self.algorithms)} algorithms at "
            f"{len(self.times)} times, instances: {self.instances}, {self.draws} draws by "
            f"{self.method} ({self.engine}){doubt}>"
        )

    def _repr_html_(self) -> str:
        return self.facts(posterior_tables.some_times(self.times))._repr_html_()
