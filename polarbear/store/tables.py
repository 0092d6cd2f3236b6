"""The stored tables: every column, its type and its meaning. This is their documentation.

A table is a folder of Parquet parts; all parts together are the table. Rules for direct readers:

- A row that occurs twice (the same ``run``; the same ``instance``, in rankings with ``t``, in
  features with ``name``) counts once.
- A part of ``features`` has either a value or a category in each row. There is no such folder where
  no features were given; the dimension, the function and the family of an instance are in its
  ``spec``.
- A run that is listed in ``set-aside-*.parquet``, if there is such a file, does not count.
- A part of ``trajectories`` has the column ``violation`` only if a value in it is infeasible. Of
  two outcomes the one with less violation is better; of equal violations, that with the smaller y.
- With several objectives ``trajectories`` has the columns ``y1``, ``y2`` and so on instead of
  ``y``. Its points are those that entered the archive of a run. The archive at a time has those
  found until then with the least violation, without those that another one dominates.
- Of several runs of one algorithm on one instance the one with the highest ``attempt`` counts. An
  algorithm whose options in ``polarbear.json`` have a ``contract`` has one run for each of several
  budgets, and of several runs with one budget the one with the highest ``attempt`` counts.

The folder ``speculative`` holds runs that a race has started before a round asked for them, and
that no round has used yet. They do not count.

A posterior is one file, ``posteriors/KEY-*.parquet``. The JSON in its metadata (under
``polarbear``) names algorithms, times and hyperparameters and holds settings, diagnostics and the
numbers of won, lost and drawn duels. While a race goes on, or after it was killed, its last
posterior may have fewer draws than at its end. The rankings that it was inferred from are
``rankings/derived-EVIDENCE-*.parquet``, where EVIDENCE is in that JSON.

A forest, by which `select` uses features, is one file, ``forests/KEY-*.parquet``, with a row for
each tree. Its nodes are numbered over all trees. The JSON in its metadata names the columns of
features and the problems.

The name of every Parquet file ends in the first 32 hexadecimal digits of the SHA-256 of its
content. ``polarbear.json`` lists all files with these checksums; a file that is not listed is not
part of the store. Every JSON file has the checksum of the text above it as its last key.

With Polars, the points of all trajectories in long form::

    polars.read_parquet("store/trajectories/*.parquet").explode("t", "y")

With DuckDB::

    select algorithm, instance, unnest(t) as t, unnest(y) as y from 'store/trajectories/*.parquet'
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import pyarrow as pa


def _column(name: str, kind: pa.DataType, meaning: str, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable, {"meaning": meaning})


def _table(*columns: pa.Field) -> pa.Schema:
    return pa.schema(columns)


INSTANCES = _table(
    _column("instance", pa.string(), "the instance's stable id"),
    _column("index", pa.int64(), "its place in the suite's stream"),
    _column("suite", pa.string(), "the suite it was drawn from"),
    _column("spec", pa.string(), "the specification that it is rebuilt from, as JSON"),
)

RUNS = _table(
    _column("run", pa.string(), "the run's id"),
    _column("algorithm", pa.string(), "the algorithm's name"),
    _column("instance", pa.string(), "the instance's id"),
    _column("attempt", pa.int32(), "1, and one more for each time that it was run again"),
    _column("seed", pa.int64(), "the seed the algorithm was given"),
    _column("budget", pa.float64(), "the end of the run on the axis"),
    _column(
        "status",
        pa.string(),
        "how it ended: budget, ended, proven, infeasible, limit, or the kind of failure",
    ),
    _column("message", pa.string(), "the error message, empty if there was none"),
    _column("reached", pa.float64(), "the last time reached; if killed: the last improvement"),
    _column("best", pa.float64(), "the last feasible y of its trajectory", nullable=True),
    _column("points", pa.int64(), "number of improvements in its trajectory"),
    _column("evaluations", pa.int64(), "objective values computed; of killed runs: at least"),
    _column("invalid", pa.int64(), "objective values that were not finite"),
    _column("seconds", pa.float64(), "wall-clock time of the run"),
    _column("started", pa.timestamp("us", "UTC"), "when it was started"),
    _column("host", pa.string(), "the machine it ran on"),
    _column("cpu", pa.string(), "that machine's processor"),
    _column("load", pa.float64(), "one-minute load average of that machine"),
    _column("workers", pa.int32(), "number of runs executed at once"),
    _column("worker", pa.string(), "its process: number in the pool, or address", nullable=True),
    _column("version", pa.string(), "the version of PolarBear that ran it"),
    _column("fingerprint", pa.string(), "its source as JSON; null if imported", nullable=True),
)

SET_ASIDE = _table(
    _column("run", pa.string(), "the id of a run that does not count"),
    _column("algorithm", pa.string(), "the algorithm's name"),
    _column("instance", pa.string(), "the instance's id"),
    _column("attempt", pa.int32(), "which attempt it was"),
    _column("reason", pa.string(), "forgotten, changed or dropped"),
    _column("since", pa.timestamp("us", "UTC"), "when it was set aside"),
)

TRAJECTORIES = _table(
    _column("run", pa.string(), "the run's id"),
    _column("algorithm", pa.string(), "the algorithm's name"),
    _column("instance", pa.string(), "the instance's id"),
    _column("t", pa.list_(pa.float64()), "times of the improvements on the axis"),
    _column("y", pa.list_(pa.float64()), "best values from then on; negated if maximised"),
    _column(
        "violation",
        pa.list_(pa.float64()),
        "violations of these values; null if all are 0, which is feasible",
        nullable=True,
    ),
)

OBJECTIVE = re.compile("y[1-9][0-9]*")  # the column of one of several objectives


def value_columns(n_objectives: int) -> list[str]:
    """The columns of the values of trajectories."""
    if n_objectives == 1:
        return ["y"]
    return [f"y{k}" for k in range(1, n_objectives + 1)]


def count_objectives(columns: Iterable[str]) -> int:
    """The number of objectives of trajectories in a table with these columns."""
    return max(1, sum(OBJECTIVE.fullmatch(name) is not None for name in columns))


def with_objectives(schema: pa.Schema, n_objectives: int) -> pa.Schema:
    """A schema of trajectories with a column for each of several objectives."""
    if n_objectives == 1 or "y" not in schema.names:
        return schema
    fields = []
    for field in schema:
        if field.name != "y":
            fields.append(field)
            continue
        for k, name in enumerate(value_columns(n_objectives), 1):
            meaning = f"objective {k} of points that entered the archive; negated if maximised"
            fields.append(_column(name, field.type, meaning))
    return pa.schema(fields)


# Columns that a part lacks in which no row has a value.
OPTIONAL = frozenset({"violation"})

# Runs with their trajectories.
SPECULATIVE = pa.schema([*RUNS, *map(TRAJECTORIES.field, ("t", "y", "violation"))])

RANKINGS = _table(
    _column("instance", pa.string(), "the instance's id"),
    _column("t", pa.float64(), "the time of the ranking"),
    _column("algorithm", pa.list_(pa.string()), "the algorithms present"),
    _column("position", pa.list_(pa.float64()), "lower is better; infinite: below, not recorded"),
)

POSTERIOR = _table(
    _column("draw", pa.int32(), "the number of the draw"),
    _column("chain", pa.int16(), "the chain it comes from"),
    _column("theta", pa.list_(pa.float32()), "win probabilities, by time, then algorithm"),
    _column("hyper", pa.list_(pa.float64()), "hyperparameters of the model"),
)

# A further column of the empirical model, in which duels do not follow from theta.
POSTERIOR_WINS = _column("wins", pa.list_(pa.float32()), "P(win), by time, then pair of names")

FEATURES = _table(
    _column("instance", pa.string(), "the instance's id"),
    _column("name", pa.string(), "the feature's name"),
    _column("value", pa.float64(), "its value, where it is a number", nullable=True),
    _column("category", pa.string(), "its value, where it is a category", nullable=True),
    _column("cost", pa.float64(), "its share of the cost of computing features, on the axis"),
)

FOREST = _table(
    _column("column", pa.list_(pa.int32()), "of each node of a tree: a feature; -1 of a leaf"),
    _column("boundary", pa.list_(pa.float64()), "values of at most this go below"),
    _column("below", pa.list_(pa.int64()), "the node of these"),
    _column("above", pa.list_(pa.int64()), "the node of all others"),
    _column("leaves", pa.list_(pa.int64()), "the leaf of each problem in this tree"),
)

ROUND_RATINGS = _table(
    _column("algorithm", pa.string(), "the algorithm's name"),
    _column("t", pa.float64(), "the time"),
    _column("mean", pa.float64(), "posterior mean of its win probability"),
    _column("low", pa.float64(), "lower end of the central 95 % interval"),
    _column("high", pa.float64(), "upper end of the central 95 % interval"),
    _column("p_best", pa.float64(), "P(best at t) by duels among the candidates"),
)

ROUND_PAIRS = _table(
    _column("a", pa.string(), "an algorithm's name"),
    _column("b", pa.string(), "another's"),
    _column("t", pa.float64(), "the time; null for all times at once", nullable=True),
    _column("p_above", pa.float64(), "P(a is above b)"),
    _column("p_below", pa.float64(), "P(b is above a)"),
    _column("p_alike", pa.float64(), "P(equivalent); for all times at once: P(they cross)"),
    _column("error", pa.float64(), "Monte-Carlo error of p_above"),
)

ALL = {
    "instances": INSTANCES,
    "runs": RUNS,
    "trajectories": TRAJECTORIES,
    "rankings": RANKINGS,
    "features": FEATURES,
    "speculative": SPECULATIVE,
}

# Columns by which the rows of a table are sorted, and columns in which they differ.
ORDER = {
    "instances": (("index", "instance"), ("instance",)),
    "runs": (("algorithm", "instance", "attempt", "budget"), ("run",)),
    "rankings": (("instance", "t"), ("instance", "t")),
    "features": (("instance", "name"), ("instance", "name")),
    "speculative": (("algorithm", "instance", "started", "budget"),) * 2,
}
