"""The posterior of the Python interface: draws with names, frames, and ArviZ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from polarbear.driver.posterior_cache import CachedPosterior
from polarbear.inference import relations
from polarbear.inference.fit import NamedFit, named
from polarbear.inference.posterior_draws import Diagnostics
from polarbear.plain import asked, html_table
from polarbear.wording import SHARE_OF_FIRSTS

__all__ = ["Inferred", "PairAt", "PairOver", "Posterior", "some_times"]
SHOWN_TIMES = 6  # in a table


class Rating(NamedTuple):
    """The rating of an algorithm at a time, with a central 95 % interval."""

    algorithm: str
    t: float
    mean: float
    low: float
    high: float


class PairAt(NamedTuple):
    """P(a is better than b) and P(equivalent) at a time; ``error`` is the Monte-Carlo error.

    ``p_wins`` is the expected share of instances on which a beats b.
    """

    a: str
    b: str
    t: float
    p_dominates: float
    p_equivalent: float
    error: float
    p_wins: float


class PairOver(NamedTuple):
    """P(a is better than b at all times), and P(the two cross)."""

    a: str
    b: str
    p_dominates: float
    p_crosses: float
    error: float


@dataclass(frozen=True)
class Inferred:
    """A posterior in numbers; fields are the keys of `polarbear infer --json`.

    Pairs are optional; ``joint`` is None unless the model describes all times jointly.
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
    ratings: tuple[Rating, ...]
    epsilon: float | None = asked()
    pairs: tuple[PairAt, ...] | None = asked()
    joint: tuple[PairOver, ...] | None = asked()


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
        *("_cached", "_posterior", "algorithms", "axis", "chains", "diagnostics", "draws"),
        *("engine", "evidence_weight", "from_store", "hyper", "instances", "joint", "method"),
        *("model", "notes", "problems", "seconds", "seed", "theta", "times", "usable"),
    )

    def __init__(self, cached: CachedPosterior, axis: str) -> None:
        posterior = cached.posterior
        self._cached, self._posterior, self.axis = cached, posterior, axis
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
        """Posterior mean and central interval of each algorithm's share of firsts at each time."""
        mean, (low, high) = self._posterior.mean(), self._posterior.interval(level)
        size = len(self.algorithms)
        return pl.DataFrame(
            {
                "algorithm": np.repeat(np.array(self.algorithms, dtype=object), len(self.times)),
                "t": np.tile(self.times, size),
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
        """
        at = relations.pointwise(self._posterior, epsilon)
        names, n_times = np.array(self.algorithms, dtype=object), len(self.times)
        a, b = np.nonzero(~np.eye(len(names), dtype=bool))
        columns = {
            "a": np.repeat(names[a], n_times),
            "b": np.repeat(names[b], n_times),
            "t": np.tile(self.times, len(a)),
            "p_dominates": at.dominance[:, a, b].T.ravel(),
            "p_equivalent": at.equivalence[:, a, b].T.ravel(),
            "error": at.dominance_error[:, a, b].T.ravel(),
            "p_wins": np.concatenate(
                [
                    self._posterior.head_to_head(int(i), int(j)).mean(axis=0)
                    for i, j in zip(a, b, strict=True)
                ]
            ),
        }
        if self.joint:
            over = relations.joint(self._posterior)
            columns["p_dominates_always"] = np.repeat(over.dominance[a, b], n_times)
            columns["p_crosses"] = np.repeat(over.crossing[a, b], n_times)
        return pl.DataFrame(columns, schema_overrides={"a": pl.String, "b": pl.String})

    def facts(
        self, times: Sequence[int] | None = None, pairs: bool = False, epsilon: float = 0.05
    ) -> Inferred:
        """The facts of `polarbear infer`, at all times or at those with the given indices."""
        shown = self.times if times is None else self.times[list(times)]
        at = pl.col("t").is_in(shown.tolist())
        compared = self.pairs(epsilon).filter(at).select(PairAt._fields).rows() if pairs else []
        return Inferred(
            model=self.model,
            engine=self.engine,
            method=self.method,
            draws=self.draws,
            seed=self.seed,
            seconds=round(self.seconds, 3),
            from_store=self.from_store,
            instances=self.instances,
            evidence_weight=self.evidence_weight,
            diagnostics=self.diagnostics,
            fit=self.fit,
            notes=self.notes,
            ratings=tuple(map(Rating._make, self.summary().filter(at).rows())),
            epsilon=epsilon if pairs else None,
            pairs=tuple(map(PairAt._make, compared)) if pairs else None,
            joint=self._pairs_over() if pairs and self.joint else None,
        )

    def _pairs_over(self) -> tuple[PairOver, ...]:
        """Every ordered pair over all times."""
        over, names = relations.joint(self._posterior), self.algorithms
        tables = over.dominance, over.crossing, over.dominance_error
        return tuple(
            PairOver(names[a], names[b], *(float(table[a, b]) for table in tables))
            for a, b in permutations(range(len(names)), 2)
        )

    def to_arviz(self) -> Any:
        """The draws for ArviZ: theta with dimensions chain, draw, time and algorithm.

        The result is an InferenceData, or a DataTree from ArviZ 1 on.
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
        shown = some_times(self.times)
        mean, (low, high) = self._posterior.mean(), self._posterior.interval()
        rows = [
            [name, *(f"{mean[t, i]:.2f} [{low[t, i]:.2f}, {high[t, i]:.2f}]" for t in shown)]
            for i, name in enumerate(self.algorithms)
        ]
        doubts = [f"do not trust this posterior: {problem}" for problem in self.problems]
        if self.fit is not None and self.fit.words:
            doubts.append(self.fit.words)
        notes = [f"note: {note}" for note in self.notes]
        columns = [f"{SHARE_OF_FIRSTS} at t =", *(f"{self.times[t]:g}" for t in shown)]
        return html_table(repr(self).strip("<>"), columns, rows, [*doubts, *notes])


def some_times(times: np.ndarray) -> list[int]:
    """Indices of a few times, including both ends."""
    if len(times) <= SHOWN_TIMES:
        return list(range(len(times)))
    return [int(i) for i in np.linspace(0, len(times) - 1, SHOWN_TIMES).round()]
