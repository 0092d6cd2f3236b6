"""What was believed after a round, as the store's two tables, and back."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from polarbear.inference.beliefs import Beliefs
from polarbear.store import tables
from polarbear.store.from_plain import column_from
from polarbear.store.numbers import column_of, numbers


def beliefs_to_tables(beliefs: Beliefs) -> tuple[pa.Table, pa.Table]:
    """Ratings over time, and relations of pairs: at each time, then over all of them."""
    times, n = beliefs.times, len(beliefs.algorithms)
    names = column_from(beliefs.algorithms, pa.string())
    ratings = pa.table(
        {
            "algorithm": names.take(column_of(np.repeat(np.arange(n), len(times)))),
            "t": column_of(np.tile(times, n)),
            "mean": column_of(beliefs.mean.ravel()),
            "low": column_of(beliefs.low.ravel()),
            "high": column_of(beliefs.high.ravel()),
            "p_best": column_of(beliefs.best.ravel()),
        },
        schema=tables.ROUND_RATINGS,
    )
    a, b = np.triu_indices(n, 1)
    parts = [pa.Table.from_batches([], tables.ROUND_PAIRS)]

    def add(t: pa.Array, repeat: int, **values: np.ndarray) -> None:
        who = {"a": np.repeat(a, repeat), "b": np.repeat(b, repeat)}
        columns = {side: names.take(column_of(one)) for side, one in who.items()} | {"t": t}
        columns |= {name: column_of(value.T.ravel()) for name, value in values.items()}
        parts.append(pa.table(columns, schema=tables.ROUND_PAIRS))

    if beliefs.trusted:
        add(
            column_of(np.tile(times, len(a))),
            len(times),
            p_above=beliefs.above[:, a, b],
            p_below=beliefs.above[:, b, a],
            p_alike=beliefs.alike[:, a, b],
            error=beliefs.above_error[:, a, b],
        )
    always, error, crossing = beliefs.always_above, beliefs.always_above_error, beliefs.crossing
    if always is not None and error is not None and crossing is not None:
        add(
            pa.nulls(len(a), pa.float64()),
            1,
            p_above=always[a, b],
            p_below=always[b, a],
            p_alike=crossing[a, b],
            error=error[a, b],
        )
    return ratings, pa.concat_tables(parts).combine_chunks()


def beliefs_from_tables(ratings: pa.Table, pairs: pa.Table) -> Beliefs:
    """Beliefs as a round kept them; a pair's one error stands for both of its sides."""
    names = tuple(dict.fromkeys(ratings["algorithm"].to_pylist()))
    n, size = len(names), len(ratings) // len(names)
    mean, low, high, best = (
        numbers(ratings[c], np.float64).reshape(n, size) for c in ("mean", "low", "high", "p_best")
    )
    above, error, alike = (np.full((size, n, n), np.nan) for _ in range(3))
    always_above = always_above_error = crossing = None
    a, b = np.triu_indices(n, 1)
    whole = np.array([t is None for t in pairs["t"].to_pylist()], dtype=bool)
    column = {c: numbers(pairs[c], np.float64) for c in ("p_above", "p_below", "p_alike", "error")}
    if not whole.all():
        at = {c: values[~whole].reshape(-1, size).T for c, values in column.items()}
        above[:, a, b], above[:, b, a] = at["p_above"], at["p_below"]
        alike[:, a, b] = alike[:, b, a] = at["p_alike"]
        error[:, a, b] = error[:, b, a] = at["error"]
    if whole.any():
        always_above, always_above_error, crossing = (np.full((n, n), np.nan) for _ in range(3))
        over = {c: values[whole] for c, values in column.items()}
        always_above[a, b], always_above[b, a] = over["p_above"], over["p_below"]
        crossing[a, b] = crossing[b, a] = over["p_alike"]
        always_above_error[a, b] = always_above_error[b, a] = over["error"]
    return Beliefs(
        algorithms=names,
        times=numbers(ratings["t"], np.float64)[:size],
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
