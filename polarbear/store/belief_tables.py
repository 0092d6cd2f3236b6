"""The beliefs after a round as the store's two tables, and back."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from polarbear.inference.beliefs import Beliefs
from polarbear.store import tables
from polarbear.store.parquet import frame_of


def beliefs_to_tables(beliefs: Beliefs) -> tuple[pa.Table, pa.Table]:
    """Ratings over time, and relations of pairs: at each time, then over all times."""
    times, n = beliefs.times, len(beliefs.algorithms)
    names = pl.Series(beliefs.algorithms, dtype=pl.String)
    ratings = pl.DataFrame(
        {
            "algorithm": names.gather(np.repeat(np.arange(n), len(times))),
            "t": np.tile(times, n),
            "mean": beliefs.mean.ravel(),
            "low": beliefs.low.ravel(),
            "high": beliefs.high.ravel(),
            "p_best": beliefs.best.ravel(),
        }
    )
    a, b = np.triu_indices(n, 1)
    pairs = [frame_of(tables.ROUND_PAIRS, [])]

    def add(t: np.ndarray | None, **values: np.ndarray) -> None:
        repeat = 1 if t is None else len(t)
        sides = {side: names.gather(np.repeat(i, repeat)) for side, i in (("a", a), ("b", b))}
        at = pl.Series([None] * len(a), dtype=pl.Float64) if t is None else np.tile(t, len(a))
        columns = {name: value.T.ravel() for name, value in values.items()}
        pairs.append(pl.DataFrame({**sides, "t": at, **columns}))

    if beliefs.trusted:
        add(
            times,
            p_above=beliefs.above[:, a, b],
            p_below=beliefs.above[:, b, a],
            p_alike=beliefs.alike[:, a, b],
            error=beliefs.above_error[:, a, b],
        )
    always, error, crossing = beliefs.always_above, beliefs.always_above_error, beliefs.crossing
    if always is not None and error is not None and crossing is not None:
        add(
            None,
            p_above=always[a, b],
            p_below=always[b, a],
            p_alike=crossing[a, b],
            error=error[a, b],
        )
    return (
        ratings.to_arrow().cast(tables.ROUND_RATINGS),
        pl.concat(pairs).to_arrow().cast(tables.ROUND_PAIRS),
    )


def beliefs_from_tables(ratings: pa.Table, pairs: pa.Table) -> Beliefs:
    """Beliefs from the tables of a round; a pair's one error stands for both of its sides."""
    rated, related = frame_of(ratings.schema, [ratings]), frame_of(pairs.schema, [pairs])
    names = tuple(rated["algorithm"].unique(maintain_order=True))
    n, size = len(names), len(rated) // len(names)
    mean, low, high, best = (
        rated[c].to_numpy().reshape(n, size) for c in ("mean", "low", "high", "p_best")
    )
    above, error, alike = (np.full((size, n, n), np.nan) for _ in range(3))
    always_above = always_above_error = crossing = None
    a, b = np.triu_indices(n, 1)
    whole = related["t"].is_null()
    probabilities = related.select("p_above", "p_below", "p_alike", "error")
    if not whole.all():
        at = {c.name: c.to_numpy().reshape(-1, size).T for c in probabilities.filter(~whole)}
        above[:, a, b], above[:, b, a] = at["p_above"], at["p_below"]
        alike[:, a, b] = alike[:, b, a] = at["p_alike"]
        error[:, a, b] = error[:, b, a] = at["error"]
    if whole.any():
        always_above, always_above_error, crossing = (np.full((n, n), np.nan) for _ in range(3))
        over = {c.name: c.to_numpy() for c in probabilities.filter(whole)}
        always_above[a, b], always_above[b, a] = over["p_above"], over["p_below"]
        crossing[a, b] = crossing[b, a] = over["p_alike"]
        always_above_error[a, b] = always_above_error[b, a] = over["error"]
    return Beliefs(
        algorithms=names,
        times=rated["t"].to_numpy()[:size],
        mean=mean,
        low=low,
        high=high,
        best=best,
        above=above,
        above_error=error,
        alike=alike,
        always_above=always_above,
        always_above_error=always_above_error,
        crossing=crossing,
    )
