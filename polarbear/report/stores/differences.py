"""Differences between stores: in the share of duels won, and of an algorithm against itself.

An algorithm's number is the share of its duels with the other common algorithms that it wins, with
equal weights for all opponents. Unlike a share of firsts it does not depend on which other
algorithms a store has. A difference uses the draws of both posteriors, taken as independent. On
instances that two stores share, an algorithm also has duels with itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from polarbear.facts.evidence import Evidence, ranked
from polarbear.inference import ModelOptions
from polarbear.rankings import GridValues
from polarbear.records import Facts
from polarbear.report.stores.sides import Moments, Side, common_algorithms, matched
from polarbear.store import StoreOnDisk
from polarbear.wording import percent_cell, points

INTERVAL = (0.025, 0.975)
PAIR = ["store", "algorithm", "against"]
NUMBERS = ("at", "t", "mean", "low", "high")
CHANGES = ("at", "first", "other", "difference", "low", "high", "p_more")


@dataclass(frozen=True)
class Compared:
    """Stores side by side.

    ``levels``: for each store, algorithm and moment the share of duels won, and its interval;
    ``against`` is the opponent, null for all common ones together. ``differences``: that of each
    other store minus that of the first, ``p_more`` how probable it is that it is above zero; ``at``
    is null for the mean over all moments.
    """

    sides: tuple[Side, ...]
    algorithms: tuple[str, ...]
    moments: Moments
    levels: pl.DataFrame
    differences: pl.DataFrame

    def over_time(self, pairs: bool) -> pl.DataFrame:
        """Differences of means over all moments: of pairs, or of algorithms."""
        of_pairs = pl.col("against").is_not_null()
        return self.differences.filter(pl.col("at").is_null(), of_pairs if pairs else ~of_pairs)


def compared(sides: Sequence[Side], align: str = "auto") -> Compared:
    """Compare stores with the first of them."""
    names = common_algorithms(sides)
    moments = matched(sides, align)
    levels, differences = (
        [pl.DataFrame(schema=dict.fromkeys(PAIR, pl.String) | dict.fromkeys(columns, pl.Float64))]
        for columns in (NUMBERS, CHANGES)
    )
    for algorithm, against, won in _duels(sides, names, moments):
        for side, draws, places in zip(sides, won, moments.places, strict=True):
            low, high = np.quantile(draws, INTERVAL, axis=0)
            numbers = (moments.at, side.basis.times[places], draws.mean(axis=0), low, high)
            texts = {"store": side.name, "algorithm": algorithm, "against": against}
            levels.append(pl.DataFrame(texts | dict(zip(NUMBERS, numbers, strict=True))))
            if side is not sides[0]:
                differences.append(_differences(texts, won[0], draws, moments.at))
    found = (pl.concat(frames, how="vertical_relaxed") for frames in (levels, differences))
    return Compared(tuple(sides), names, moments, *found)


def _duels(
    sides: Sequence[Side], names: Sequence[str], moments: Moments
) -> Iterator[tuple[str, str | None, list[np.ndarray]]]:
    """Of each pair, then of each algorithm: the share of duels won[store][draw, moment].

    A single common algorithm has no duels; it is only compared with itself.
    """
    if len(names) == 1:
        return
    totals = {name: [np.zeros(1) for _ in sides] for name in names}
    for a, b in combinations(names, 2):
        won = [side.wins(a, b, places) for side, places in zip(sides, moments.places, strict=True)]
        for place, draws in enumerate(won):
            totals[a][place] = totals[a][place] + draws
            totals[b][place] = totals[b][place] + 1 - draws
        yield a, b, won
    for name in names:
        yield name, None, [total / (len(names) - 1) for total in totals[name]]


def _differences(
    texts: Mapping[str, str | None], first: np.ndarray, other: np.ndarray, at: np.ndarray
) -> pl.DataFrame:
    """Rows of one pair or algorithm: first the mean over all moments, then each of them."""
    size = min(len(first), len(other))
    # Draws of one chain follow each other in both; spread evenly, all chains have their share.
    one, two = (draws[np.arange(size) * len(draws) // size] for draws in (first, other))
    before, after = (np.column_stack([x.mean(axis=1), x]) for x in (one, two))
    change = after - before
    low, high = np.quantile(change, INTERVAL, axis=0)
    more = (change > 0).mean(axis=0) + 0.5 * (change == 0).mean(axis=0)
    means = (part.mean(axis=0) for part in (before, after, change))
    columns = ([None, *at.tolist()], *means, low, high, more)
    return pl.DataFrame({**texts, **dict(zip(CHANGES, columns, strict=True))})


def stretches(found: Compared) -> list[str]:
    """Neighbouring times at which one of a pair wins more in another store, the widest first.

    At each of them the 95 % interval of the difference excludes zero.
    """
    sign = (pl.col("low") > 0).cast(int) - (pl.col("high") < 0).cast(int)
    width = pl.col("difference").abs()
    shown = (
        found.differences.drop_nulls(["against", "at"])
        .with_columns(sign=sign, place=pl.int_range(pl.len()).over(PAIR))
        .with_columns(stretch=pl.col("sign").rle_id().over(PAIR))
        .filter(pl.col("sign") != 0)
        .group_by(*PAIR, "stretch", maintain_order=True)
        .agg(
            pl.all().sort_by(width).last(),
            begin=pl.col("place").min(),
            end=pl.col("place").max(),
        )
        .sort(width, descending=True, maintain_order=True)
    )
    return [_stretch_words(row, found) for row in shown.iter_rows(named=True)]


def _stretch_words(row: Facts, found: Compared) -> str:
    moments, begin, end = found.moments, row["begin"], row["end"]
    a, b, first, other = (row[key] for key in ("algorithm", "against", "first", "other"))
    low, high = row["low"], row["high"]
    if row["sign"] < 0:
        a, b, first, other, low, high = b, a, 1 - first, 1 - other, -high, -low
    if begin == 0 and end == len(moments.at) - 1 and end > 0:
        when = "At all times"
    elif begin != end:
        when = f"From {moments.short(begin)} to {moments.in_words(end)}"
    else:
        when = f"At {moments.in_words(begin)}"
    at = "" if begin == end else f" at {moments.short(row['place'])}"
    return (
        f"{when} {a} beats {b} more often in {row['store']}:{at} on {percent_cell(other)} of "
        f"instances, in {found.sides[0].name} on {percent_cell(first)} (difference {points(low)} "
        f"to {points(high)})"
    )


@dataclass(frozen=True)
class Change:
    """An algorithm in another store against itself in the first, over all times and at the last.

    ``wins`` is the share of instances on which the other store's is better, ties halved, on average
    over the times, with its 95 % interval by duels alone; ``p_better`` how probable it is, by the
    default model, that this share is above a half. ``same`` means that all values are equal at all
    times.
    """

    store: str
    algorithm: str
    instances: int
    same: bool
    wins: float
    low: float
    high: float
    p_better: float
    wins_at_last: float
    low_at_last: float
    high_at_last: float

    @property
    def shown(self) -> bool:
        """Whether it is 97.5 % sure which way it goes."""
        low, high = INTERVAL
        return not low < self.p_better < high


def shared_instances(one: StoreOnDisk, two: StoreOnDisk) -> list[str]:
    """Instances that are the same in both stores: their suite, and what rebuilds them."""
    columns = ["instance", "suite", "spec"]
    other = set(two.instances().select(columns).iter_rows())
    return [row[0] for row in one.instances().select(columns).iter_rows() if row in other]


def changes(sides: Sequence[Side], names: Sequence[str], moments: Moments) -> list[Change]:
    """Each algorithm against itself in the first store, where there are runs of both to compare.

    That takes the same instances, run by the clock of the same axis.
    """
    if moments.axis is None:
        return []
    one, *others = (side.context.store for side in sides)
    problem, weight = one.problems(), one.weights()
    made = []
    for side, two in zip(sides[1:], others, strict=True):
        shared = shared_instances(one, two)
        directions = {store.settings.instances.maximise for store in (one, two)}
        no_runs = any(store.runs().is_empty() or len(store.rankings()) for store in (one, two))
        if not shared or no_runs or len(directions) > 1:
            continue
        grids = [store.on_grid(moments.at, names) for store in (one, two)]
        both = [name for name in shared if all(name in grid.instances for grid in grids)]
        values = [grid.values[[grid.instances.index(name) for name in both]] for grid in grids]
        for place, name in enumerate(names):
            held = np.stack([part[:, place] for part in values], axis=1)
            met = np.flatnonzero(np.all(np.any(~np.isnan(held), axis=2), axis=1))
            if len(met):
                seen = tuple(both[i] for i in met)
                evidence = ranked(
                    GridValues(seen, ("then", "now"), moments.at, held[met]),
                    np.linspace(0, 1, len(moments.at)),  # the model does not smooth over time
                    problems=[problem.get(instance, instance) for instance in seen],
                    weights=[weight.get(instance, 1.0) for instance in seen],
                )
                made.append(_change(side.name, name, evidence))
    return made


def _change(store: str, algorithm: str, evidence: Evidence) -> Change:
    """The two as a race between them, by the empirical model."""
    posterior = evidence.posterior(ModelOptions(), seed=0)
    won = posterior.head_to_head(1, 0)  # [draw, time]
    mean, last = won.mean(axis=1), won[:, -1]
    (low, high), (last_low, last_high) = (np.quantile(x, INTERVAL).tolist() for x in (mean, last))
    then, now = evidence.grid.values[:, 0], evidence.grid.values[:, 1]
    met = ~(np.isnan(then) | np.isnan(now))
    return Change(
        store=store,
        algorithm=algorithm,
        instances=evidence.n_problems,
        same=bool((then[met] == now[met]).all()),
        wins=float(mean.mean()),
        low=low,
        high=high,
        p_better=float((mean > 0.5).mean()),
        wins_at_last=float(last.mean()),
        low_at_last=last_low,
        high_at_last=last_high,
    )
