"""The numbers of a posterior as tables, and as the record that `polarbear infer` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from polarbear.inference import relations
from polarbear.inference.fit import NamedFit
from polarbear.numerics.arrays import spread
from polarbear.records import Facts, Record, optional_key
from polarbear.wording import (
    MEAN_WIN_RATE,
    SHARE_OF_FIRSTS,
    counted,
    incomparable_words,
    time,
)

if TYPE_CHECKING:
    import polars as pl

    from polarbear.inference.posterior_draws import Diagnostics, Posterior

MAX_TIMES_SHOWN = 6
OVER_ALL_TIMES = ("p_dominates_always", "p_crosses")  # columns of joint models


@dataclass(frozen=True, repr=False)
class Inferred(Record):
    """A posterior in numbers; fields are the keys of `polarbear infer --json`.

    ``key`` is that of the posterior in the store, None if it was not kept there. ``ratings`` and
    ``pairs`` are rows of `Posterior.summary` and `Posterior.pairs`. Pairs are optional;
    ``dominated`` has P(b dominated by a) of each, the lowest P(a is better) at any time of the
    grid; ``joint`` is None unless the model describes all times jointly. With several objectives
    ratings are mean win rates against the others, and ``incomparable`` has the share of duels that
    are incomparable at each time.
    """

    model: str
    engine: str
    method: str
    draws: int
    seed: int
    seconds: float
    from_store: bool
    key: str | None
    instances: int
    evidence_weight: float
    diagnostics: Diagnostics
    fit: NamedFit | None
    notes: tuple[str, ...]
    ratings: list[Facts]
    epsilon: float | None = optional_key()
    pairs: list[Facts] | None = optional_key()
    dominated: list[Facts] | None = optional_key()
    joint: list[Facts] | None = optional_key()
    incomparable: list[Facts] | None = optional_key()

    def one_line(self) -> str:
        source = "from the store" if self.from_store else f"in {self.seconds:.1f} s"
        key = f"; key {self.key}" if self.key else ""
        return (
            f"{self.model}, instances: {self.instances}; {counted(self.draws, 'draw')} by "
            f"{self.method} ({self.engine}), {source}; "
            f"R-hat {self.diagnostics.r_hat:.3f}, tail ESS {self.diagnostics.ess_tail:.0f}{key}"
        )

    def remarks(self) -> list[str]:
        remarks = [*self.diagnostics.warnings]
        if self.fit is not None and self.fit.words:
            remarks.append(self.fit.words)
        if self.incomparable:
            remarks.append(incomparable_words(self.incomparable))
        return [*remarks, *self.notes]

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Titles, and a row for each algorithm: its shares of firsts with their intervals."""
        times = sorted({entry["t"] for entry in self.ratings})
        rating = SHARE_OF_FIRSTS if self.incomparable is None else MEAN_WIN_RATE
        titles = [f"{rating} at t =", *map(time, times)]
        row_of_algorithm: dict[str, list[str]] = {}
        for entry in self.ratings:
            name = entry["algorithm"]
            row = row_of_algorithm.setdefault(name, [name])
            row.append(f"{entry['mean']:.2f} [{entry['low']:.2f}, {entry['high']:.2f}]")
        return titles, list(row_of_algorithm.values())

    def rows(self) -> list[Facts]:
        titles, rows = self.table()
        return [dict(zip(titles, row, strict=True)) for row in rows]


def some_times(times: np.ndarray) -> list[int]:
    """Indices of a few times, including both ends."""
    return [int(index) for index in spread(len(times), MAX_TIMES_SHOWN)]


def summary(posterior: Posterior, level: float) -> pl.DataFrame:
    """The table of `Posterior.summary`."""
    import polars as pl  # not loaded by workers, which infer nothing

    mean = posterior.mean()
    low, high = posterior.interval(level)
    names = np.array(posterior.algorithms, dtype=object)
    return pl.DataFrame(
        {
            "algorithm": np.repeat(names, len(posterior.times)),
            "t": np.tile(posterior.times, len(names)),
            "mean": mean.T.ravel(),
            "low": low.T.ravel(),
            "high": high.T.ravel(),
        },
        schema_overrides={"algorithm": pl.String},
    )


def pairs(posterior: Posterior, epsilon: float) -> pl.DataFrame:
    """The table of `Posterior.pairs`."""
    import polars as pl

    pointwise = relations.pointwise(posterior, epsilon)
    names = np.array(posterior.algorithms, dtype=object)
    n_times = len(posterior.times)
    a, b = np.nonzero(~np.eye(len(names), dtype=bool))
    win_rates = [
        posterior.win_rate(int(first), int(second)) for first, second in zip(a, b, strict=True)
    ]
    columns = {
        "a": np.repeat(names[a], n_times),
        "b": np.repeat(names[b], n_times),
        "t": np.tile(posterior.times, len(a)),
        "p_dominates": pointwise.dominance[:, a, b].T.ravel(),
        "p_equivalent": pointwise.equivalence[:, a, b].T.ravel(),
        "error": pointwise.dominance_error[:, a, b].T.ravel(),
        "p_wins": np.concatenate(win_rates),
    }
    if posterior.joint:
        over_times = relations.joint(posterior)
        columns["p_dominates_always"] = np.repeat(over_times.dominance[a, b], n_times)
        columns["p_crosses"] = np.repeat(over_times.crossing[a, b], n_times)
    return pl.DataFrame(columns, schema_overrides={"a": pl.String, "b": pl.String})


def facts(
    posterior: Posterior, times: Sequence[int] | None, with_pairs: bool, epsilon: float
) -> Inferred:
    """The record of `Posterior.facts`."""
    import polars as pl

    chosen_times = posterior.times if times is None else posterior.times[list(times)]
    is_chosen = pl.col("t").is_in(chosen_times.tolist())
    ratings = posterior.summary().filter(is_chosen).to_dicts()
    inferred = Inferred(
        model=posterior.model,
        engine=posterior.engine,
        method=posterior.method,
        draws=posterior.draws,
        seed=posterior.seed,
        seconds=round(posterior.seconds, 3),
        from_store=posterior.from_store,
        key=posterior.key or None,
        instances=posterior.instances,
        evidence_weight=posterior.evidence_weight,
        diagnostics=posterior.diagnostics,
        fit=posterior.fit,
        notes=posterior.notes,
        ratings=ratings,
        incomparable=_incomparable(posterior, chosen_times),
    )
    if not with_pairs:
        return inferred
    compared = pairs(posterior, epsilon)
    lowest = pl.col("p_dominates").min().alias("p_dominated")
    dominated = compared.group_by("a", "b", maintain_order=True).agg(lowest)
    at_times = compared.filter(is_chosen).drop(OVER_ALL_TIMES, strict=False)
    return replace(
        inferred,
        epsilon=epsilon,
        pairs=at_times.to_dicts(),
        dominated=dominated.to_dicts(),
        joint=_pairs_over_all_times(posterior) if posterior.joint else None,
    )


def _incomparable(posterior: Posterior, times: np.ndarray) -> list[Facts] | None:
    """The share of incomparable duels at some times; None with one objective."""
    shares = None if posterior.duels is None else posterior.duels.incomparable_shares()
    if shares is None:
        return None
    by_time = zip(posterior.times.tolist(), shares.tolist(), strict=True)
    return [{"t": t, "share": share} for t, share in by_time if t in times]


def _pairs_over_all_times(posterior: Posterior) -> list[Facts]:
    """P(a is better than b at all times) and P(the two cross), for every ordered pair."""
    over_times = relations.joint(posterior)
    names = posterior.algorithms
    return [
        {
            "a": names[a],
            "b": names[b],
            "p_dominates": float(over_times.dominance[a, b]),
            "p_crosses": float(over_times.crossing[a, b]),
            "error": float(over_times.dominance_error[a, b]),
        }
        for a, b in permutations(range(len(names)), 2)
    ]
