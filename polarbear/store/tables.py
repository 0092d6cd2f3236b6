"""The stored tables: every column, its type and its meaning. This is their documentation.

A table is a folder of Parquet parts; all parts together are the table. Four rules for whoever
reads them directly:

- A row that stands twice (the same ``run``; the same ``instance``, in rankings with ``t``) counts
  once.
- A run that is listed in the file ``set-aside.parquet``, if there is one, does not count.
- Of several runs of one algorithm on one instance the one with the highest ``attempt`` counts.
- A trajectory whose ``run`` is not in ``runs`` does not count: its writer was killed.

What lies in ``early`` is in neither table, and does not count: runs that a race has begun before a
round asked for them, and that none has used yet.

Parts of ``runs`` that an older version wrote lack the columns ``fingerprint`` or ``worker``.

A posterior is a file of its own, ``posteriors/KEY.parquet``; the JSON in its metadata (under
``polarbear``) names algorithms, times and hyperparameters and holds settings and diagnostics. While
a race goes on, or after it was killed, its last one may have fewer draws than at the race's end.
What it was inferred from stands in ``rankings/`` as ``derived-KEY.parquet`` (the rankings) and
``choice-sets-KEY.parquet`` (what they boil down to for Plackett-Luce, where that was assumed).

Every file carries a checksum (checksums.py), which other readers pass over.

With Polars, the points of all trajectories in long form::

    polars.read_parquet("store/trajectories/*.parquet").explode("t", "y")

With DuckDB::

    select algorithm, instance, unnest(t) as t, unnest(y) as y from 'store/trajectories/*.parquet'
"""

from __future__ import annotations

import pyarrow as pa


def _column(name: str, kind: pa.DataType, meaning: str, nullable: bool = False) -> pa.Field:
    return pa.field(name, kind, nullable, {"meaning": meaning})


INSTANCES = pa.schema(
    [
        _column("instance", pa.string(), "the instance's stable id"),
        _column("index", pa.int64(), "its place in the suite's stream"),
        _column("suite", pa.string(), "the suite it was drawn from"),
        _column("spec", pa.string(), "what it is rebuilt from, as JSON"),
    ]
)

RUNS = pa.schema(
    [
        _column("run", pa.string(), "the run's id"),
        _column("algorithm", pa.string(), "the algorithm's name"),
        _column("instance", pa.string(), "the instance's id"),
        _column("attempt", pa.int32(), "1, then one more each time it had to be run again"),
        _column("seed", pa.int64(), "the seed the algorithm was given"),
        _column("budget", pa.float64(), "how far it was allowed to go on the axis"),
        _column("status", pa.string(), "how it ended: budget, ended, or how it failed"),
        _column("message", pa.string(), "what went wrong, empty where nothing did"),
        _column("reached", pa.float64(), "how far it got; of killed runs: the last improvement"),
        _column("best", pa.float64(), "the last y of its trajectory", nullable=True),
        _column("points", pa.int64(), "improvements in its trajectory"),
        _column("evaluations", pa.int64(), "objective values computed; of killed runs: at least"),
        _column("invalid", pa.int64(), "objective values that were not finite"),
        _column("seconds", pa.float64(), "wall-clock time of the run"),
        _column("started", pa.timestamp("us", "UTC"), "when it was started"),
        _column("host", pa.string(), "the machine it ran on"),
        _column("cpu", pa.string(), "that machine's processor"),
        _column("load", pa.float64(), "processes that wanted a core there, one-minute average"),
        _column("workers", pa.int32(), "how many runs went on at once"),
        _column(
            "worker",
            pa.string(),
            "the process that ran it: its number in the pool, or its address in a cluster",
            nullable=True,
        ),
        _column("version", pa.string(), "the version of PolarBear that ran it"),
        _column(
            "fingerprint",
            pa.string(),
            "what made it, as JSON: options, hashes of files, versions of packages; null where "
            "that was not noted",
            nullable=True,
        ),
    ]
)

SET_ASIDE = pa.schema(
    [
        _column("run", pa.string(), "the id of a run that does not count"),
        _column("algorithm", pa.string(), "the algorithm's name"),
        _column("instance", pa.string(), "the instance's id"),
        _column("attempt", pa.int32(), "which attempt it was"),
        _column("reason", pa.string(), "forgotten, changed or dropped"),
        _column("since", pa.timestamp("us", "UTC"), "when it was set aside"),
    ]
)

TRAJECTORIES = pa.schema(
    [
        _column("run", pa.string(), "the run's id"),
        _column("algorithm", pa.string(), "the algorithm's name"),
        _column("instance", pa.string(), "the instance's id"),
        _column("t", pa.list_(pa.float64()), "where on the axis each improvement was found"),
        _column("y", pa.list_(pa.float64()), "the best value from there on; negated if maximised"),
    ]
)

# Runs that no round has used, each with its trajectory: the folder ``early``.
EARLY = pa.schema([*RUNS, TRAJECTORIES.field("t"), TRAJECTORIES.field("y")])

RANKINGS = pa.schema(
    [
        _column("instance", pa.string(), "the instance's id"),
        _column("t", pa.float64(), "the time of the ranking"),
        _column("algorithm", pa.list_(pa.string()), "the algorithms present"),
        _column(
            "position",
            pa.list_(pa.float64()),
            "their positions: lower is better, equal ties; infinite: below, and not recorded",
        ),
    ]
)

CHOICE_SETS = pa.schema(
    [
        _column("t", pa.float64(), "the time of the rankings"),
        _column("choice", pa.list_(pa.string()), "algorithms that remained to be chosen from"),
        _column("count", pa.float64(), "how often just these remained; of single ones: wins"),
    ]
)

POSTERIOR = pa.schema(
    [
        _column("draw", pa.int32(), "the number of the draw"),
        _column("chain", pa.int16(), "the chain it comes from"),
        _column(
            "theta", pa.list_(pa.float32()), "win probabilities: time after time, by algorithm"
        ),
        _column("hyper", pa.list_(pa.float64()), "hyperparameters of the model"),
    ]
)

# Beside these, where duels do not follow from theta: the empirical model's.
POSTERIOR_WINS = _column(
    "wins",
    pa.list_(pa.float32()),
    "head to head: time after time (of the facts' knots, if there are any), by pair in the order "
    "of names",
)

ROUND_RATINGS = pa.schema(
    [
        _column("algorithm", pa.string(), "the algorithm's name"),
        _column("t", pa.float64(), "the time"),
        _column("mean", pa.float64(), "posterior mean of its win probability"),
        _column("low", pa.float64(), "lower end of the central 95 % interval"),
        _column("high", pa.float64(), "upper end of the central 95 % interval"),
        _column("p_best", pa.float64(), "P(best at t) by duels among the candidates"),
    ]
)

ROUND_PAIRS = pa.schema(
    [
        _column("a", pa.string(), "an algorithm's name"),
        _column("b", pa.string(), "another's"),
        _column("t", pa.float64(), "the time; null for all times at once", nullable=True),
        _column("p_above", pa.float64(), "P(a is above b)"),
        _column("p_below", pa.float64(), "P(b is above a)"),
        _column("p_alike", pa.float64(), "P(equivalent); for all times at once: P(they cross)"),
        _column("error", pa.float64(), "Monte-Carlo error of p_above"),
    ]
)

ALL = {
    "instances": INSTANCES,
    "runs": RUNS,
    "trajectories": TRAJECTORIES,
    "rankings": RANKINGS,
}

# In which order the rows of a table are given, and what tells them apart.
ORDER = {
    "instances": (("index", "instance"), ("instance",)),
    "runs": (("algorithm", "instance", "attempt"), ("run",)),
    "rankings": (("instance", "t"), ("instance", "t")),
}

ROW_GROUPS = {"trajectories": "algorithm"}  # a group for each of these: readers often want some
