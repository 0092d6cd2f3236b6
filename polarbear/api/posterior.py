"""The posterior of the Python interface, and what inference from a store needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Unpack

import numpy as np
import polars as pl

from polarbear.api.keyword_options import ModelKeywords
from polarbear.api.listening import Listener
from polarbear.driver.kept_posteriors import store_posterior
from polarbear.errors import ConfigError, StoreLockedError, StoreReadOnlyError
from polarbear.facts.evidence import CachedPosterior, cached_posterior, evidence_of
from polarbear.inference import ModelOptions, relations
from polarbear.inference.fit import NamedFit, named
from polarbear.inference.posterior_draws import Diagnostics
from polarbear.numerics.arrays import spread
from polarbear.records import Facts, Record, optional_key
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate
from polarbear.settings.yaml_lines import parse_yaml
from polarbear.store import StoreOnDisk
from polarbear.wording import SHARE_OF_FIRSTS, counted, time, typed, typed_time

GridLike = str | Mapping[str, Any] | Sequence[float]
SHOWN_TIMES = 6  # in a table
OVER_ALL_TIMES = ("p_dominates_always", "p_crosses")  # columns of joint models
# Attributes of a posterior that are also fields of its facts.
UNCHANGED = ["model", "engine", "method", "draws", "seed", "from_store", "instances"]
UNCHANGED += ["evidence_weight", "diagnostics", "fit", "notes"]


@dataclass(frozen=True, repr=False)
class Inferred(Record):
    """A posterior in numbers; fields are the keys of `polarbear infer --json`.

    ``ratings`` and ``pairs`` are rows of `Posterior.summary` and `Posterior.pairs`. Pairs are
    optional; ``joint`` is None unless the model describes all times jointly.
    """

    model: str
    engine: str
    method: str
    draws: int
    seed: int
    seconds: float
    from_store: bool
    instances: int
    evidence_weight: float
    diagnostics: Diagnostics
    fit: NamedFit | None
    notes: tuple[str, ...]
    ratings: list[Facts]
    epsilon: float | None = optional_key()
    pairs: list[Facts] | None = optional_key()
    joint: list[Facts] | None = optional_key()

    def one_line(self) -> str:
        source = "from the store" if self.from_store else f"in {self.seconds:.1f} s"
        return (
            f"{self.model}, instances: {self.instances}; {counted(self.draws, 'draw')} by "
            f"{self.method} ({self.engine}), {source}; "
            f"R-hat {self.diagnostics.r_hat:.3f}, tail ESS {self.diagnostics.ess_tail:.0f}"
        )

    def remarks(self) -> list[str]:
        doubts = [f"do not trust this posterior: {one}" for one in self.diagnostics.problems]
        return [*doubts, *([self.fit.words] if self.fit and self.fit.words else []), *self.notes]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Titles, and a row for each algorithm: its shares of firsts with their intervals."""
        times = sorted({row["t"] for row in self.ratings})
        by_name: dict[str, list[str]] = {}
        for row in self.ratings:
            cell = f"{row['mean']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
            by_name.setdefault(row["algorithm"], [row["algorithm"]]).append(cell)
        return [f"{SHARE_OF_FIRSTS} at t =", *map(time, times)], list(by_name.values())

    def rows(self) -> list[Facts]:
        titles, rows = self.table()
        return [dict(zip(titles, row, strict=True)) for row in rows]


class Posterior:
    """Draws of how likely each algorithm is to win at each time, and their diagnostics.

    ``theta[draw, time, algorithm]`` contains the draws, chain after chain; ``algorithms`` and
    ``times`` name its axes, ``axis`` is the unit of time. ``hyper`` are draws of the model's
    hyperparameters by name, ``joint`` says whether the model describes several times jointly,
    ``evidence_weight`` is the weight of each ranking in a composite likelihood. It is inferred from
    a number of ``instances`` in a number of ``seconds``, or read ``from_store``. Decide nothing if
    ``usable`` is False: ``problems`` are the reasons. ``notes`` are limits of the evidence.
    """

    __slots__ = (
        *("_posterior", "algorithms", "axis", "chains", "diagnostics", "draws"),
        *("engine", "evidence_weight", "from_store", "hyper", "instances", "joint", "method"),
        *("model", "notes", "problems", "seconds", "seed", "theta", "times", "usable"),
    )

    def __init__(self, cached: CachedPosterior, axis: str) -> None:
        posterior = cached.posterior
        self._posterior, self.axis = posterior, axis
        self.algorithms, self.times, self.theta = cached.algorithms, cached.times, posterior.theta
        self.model, self.engine, self.method = posterior.model, posterior.engine, posterior.method
        self.draws, self.chains = posterior.n_draws, posterior.chains
        self.seed, self.seconds = posterior.seed, posterior.seconds
        self.hyper, self.joint = posterior.hyper, posterior.joint
        self.instances, self.from_store = cached.instances, cached.from_store
        self.evidence_weight, self.notes = posterior.evidence_weight, posterior.notes
        self.diagnostics, self.usable = posterior.diagnostics, posterior.usable
        self.problems = posterior.diagnostics.problems

    @property
    def fit(self) -> NamedFit | None:
        """The fit of Plackett-Luce to the rankings; None where it is not assumed."""
        return named(self._posterior.fit, self.algorithms, self.times)

    def summary(self, level: float = 0.95) -> pl.DataFrame:
        """Posterior mean and central interval of each algorithm's share of firsts at each time.

        ``level`` is the probability of the interval.

        >>> posterior.summary().columns
        ['algorithm', 't', 'mean', 'low', 'high']
        """
        mean, (low, high) = self._posterior.mean(), self._posterior.interval(level)
        names = np.array(self.algorithms, dtype=object)
        return pl.DataFrame(
            {
                "algorithm": np.repeat(names, len(self.times)),
                "t": np.tile(self.times, len(names)),
                "mean": mean.T.ravel(),
                "low": low.T.ravel(),
                "high": high.T.ravel(),
            },
            schema_overrides={"algorithm": pl.String},
        )

    def pairs(self, epsilon: float = 0.05) -> pl.DataFrame:
        """Compare each algorithm with each other one, at each time.

        ``p_dominates`` is P(a is better than b at t), ``p_equivalent`` the probability that the win
        probability of a is within ``epsilon`` of even, ``error`` the Monte-Carlo error of the
        first, ``p_wins`` the expected share of instances on which a beats b. For joint models,
        ``p_dominates_always`` is P(a is better at every time), ``p_crosses`` P(neither is).

        >>> posterior.pairs().filter(pl.col("a") == "powell")["p_dominates"].round(2).to_list()
        [1.0, 1.0]
        """
        at = relations.pointwise(self._posterior, epsilon)
        names, n_times = np.array(self.algorithms, dtype=object), len(self.times)
        a, b = np.nonzero(~np.eye(len(names), dtype=bool))
        duels = [self._posterior.head_to_head(int(i), int(j)) for i, j in zip(a, b, strict=True)]
        columns = {
            "a": np.repeat(names[a], n_times),
            "b": np.repeat(names[b], n_times),
            "t": np.tile(self.times, len(a)),
            "p_dominates": at.dominance[:, a, b].T.ravel(),
            "p_equivalent": at.equivalence[:, a, b].T.ravel(),
            "error": at.dominance_error[:, a, b].T.ravel(),
            "p_wins": np.concatenate([won.mean(axis=0) for won in duels]),
        }
        if self.joint:
            over = relations.joint(self._posterior)
            for name, table in zip(OVER_ALL_TIMES, (over.dominance, over.crossing), strict=True):
                columns[name] = np.repeat(table[a, b], n_times)
        return pl.DataFrame(columns, schema_overrides={"a": pl.String, "b": pl.String})

    def facts(
        self, times: Sequence[int] | None = None, pairs: bool = False, epsilon: float = 0.05
    ) -> Inferred:
        """The facts of `polarbear infer`, at all ``times`` or at those with the given indices.

        ``pairs`` adds the comparison of every pair, in which ``epsilon`` is that of `pairs`.

        >>> posterior.facts().model
        'empirical'
        """
        shown = self.times if times is None else self.times[list(times)]
        at = pl.col("t").is_in(shown.tolist())
        same = {name: getattr(self, name) for name in UNCHANGED}
        facts = Inferred(
            **same, seconds=round(self.seconds, 3), ratings=self.summary().filter(at).to_dicts()
        )
        if not pairs:
            return facts
        compared = self.pairs(epsilon).filter(at).drop(OVER_ALL_TIMES, strict=False).to_dicts()
        joint = self._pairs_over() if self.joint else None
        return replace(facts, epsilon=epsilon, pairs=compared, joint=joint)

    def _pairs_over(self) -> list[Facts]:
        """P(a is better than b at all times) and P(the two cross), for every ordered pair."""
        over, names = relations.joint(self._posterior), self.algorithms
        tables = {"p_dominates": over.dominance, "p_crosses": over.crossing}
        tables["error"] = over.dominance_error
        return [
            {"a": names[a], "b": names[b], **{key: float(t[a, b]) for key, t in tables.items()}}
            for a, b in permutations(range(len(names)), 2)
        ]

    def to_arviz(self) -> Any:
        """The draws for ArviZ: theta with dimensions chain, draw, time and algorithm.

        The result is an InferenceData, or a DataTree from ArviZ 1 on.

        >>> posterior.to_arviz().posterior["theta"].dims
        ('chain', 'draw', 'time', 'algorithm')
        """
        from polarbear.formats.arviz import as_dataset, in_groups

        return in_groups(
            as_dataset(self._posterior, self.algorithms, self.times, self.axis, self.instances)
        )

    def __repr__(self) -> str:
        trust = "" if self.usable else ", not to be trusted"
        return (
            f"<Posterior of {self.model}: {len(self.algorithms)} algorithms at "
            f"{len(self.times)} times, instances: {self.instances}, {self.draws} draws by "
            f"{self.method} ({self.engine}){trust}>"
        )

    def _repr_html_(self) -> str:
        return self.facts(some_times(self.times))._repr_html_()


def some_times(times: np.ndarray) -> list[int]:
    """Indices of a few times, including both ends."""
    return [int(place) for place in spread(len(times), SHOWN_TIMES)]


def announce_stan(options: ModelOptions, listener: Listener) -> None:
    """Announce the compilation of a Stan program; raise an error if CmdStan is missing."""
    if options.engine != "stan":
        return
    from polarbear.inference.stan import cmdstan, programs  # most races do not use it

    if not programs.is_compiled(options.model, cmdstan.find_for(options.method)):
        cmdstan.require_build_tools()
        listener.note(f"compiling the Stan program of {options.model}, once: about a minute")


def other_grid(disk: StoreOnDisk, grid: GridLike | None, until: float | None) -> Budget | None:
    """The requested grid, within the budget of the runs; None for the grid of the store.

    A text is a grid as in a configuration, or a list with commas.
    """
    if grid is None and until is None:
        return None
    own = budget = disk.settings.budget
    if isinstance(grid, str):
        text = grid.strip()
        grid = parse_yaml(text if text.startswith(("{", "[")) else f"[{text}]", "the grid")[0]
    if grid is not None:
        wanted = grid if isinstance(grid, Mapping) else list(grid)
        budget = validate(Budget, {"axis": own.axis, "grid": wanted}, Source("infer"))
        if budget.limit > own.limit:
            raise ConfigError(
                f"the grid goes to {typed_time(budget.limit, own.axis)}, but runs in {disk.path} "
                f"only to {typed(own.limit)}"
            )
    if until is not None:
        try:
            budget = budget.cut(until)
        except ValueError as error:
            raise ConfigError(f"until: {error}") from None
    return budget


def infer(
    disk: StoreOnDisk,
    model: str | None = None,
    *,
    algorithms: Sequence[str] | None = None,
    seed: int | None = None,
    tie_tolerance: float = 0.0,
    grid: GridLike | None = None,
    until: float | None = None,
    keep: bool = True,
    listener: Listener | None = None,
    **options: Unpack[ModelKeywords],
) -> Posterior:
    """Infer a posterior from the runs of a store, and keep it there: see `Store.infer`."""
    listener = listener or Listener()
    named = options if model is None else {"model": model, **options}
    wanted = validate(ModelOptions, named, Source("infer"))
    budget = other_grid(disk, grid, until)
    seed = disk.settings.seed if seed is None else seed
    if seed < 0:
        raise ConfigError(f"expected a seed of zero or more, found {seed}")
    announce_stan(wanted, listener)
    evidence = evidence_of(disk, algorithms, tie_tolerance, budget)
    cached = cached_posterior(disk, evidence, wanted, seed)
    if keep and budget is None:
        try:
            with disk.writing():  # which finishes an interrupted change
                if not cached.from_store:
                    store_posterior(disk, evidence, cached)
        except (StoreLockedError, StoreReadOnlyError) as error:
            if not cached.from_store:
                listener.not_kept(str(error))
    for problem in cached.posterior.diagnostics.problems:
        listener.doubts(problem)
    return Posterior(cached, disk.settings.budget.axis)
