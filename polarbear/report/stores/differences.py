"""Differences between stores: in the share of duels won, and of an algorithm against itself.

An algorithm's number is the share of its duels with the other common algorithms that it wins, with
equal weights for all opponents. Unlike a share of firsts it does not depend on which other
algorithms a store has. A difference uses the draws of both posteriors, taken as independent. On
instances that two stores share, an algorithm is also compared with itself in the other store.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from polarbear.facts.evidence import Evidence, ranked
from polarbear.inference import ModelOptions
from polarbear.inference.win_rates import WinRates
from polarbear.rankings.front_duels import DRAW
from polarbear.rankings.ranking import side_by_side
from polarbear.records import Facts
from polarbear.report.stores.sides import Moments, Side, common_algorithms, matched
from polarbear.store import StoreOnDisk
from polarbear.wording import percent_cell, points

INTERVAL = (0.025, 0.975)
VERSIONS = ("then", "now")  # an algorithm in the first store, and in the other one
PAIR = ["store", "algorithm", "against"]
LEVEL_COLUMNS = ("at", "t", "mean", "low", "high")
DIFFERENCE_COLUMNS = ("at", "first", "other", "difference", "low", "high", "p_more")


@dataclass(frozen=True)
class StoreComparison:
    """Stores side by side.

    ``levels`` has the share of duels won and its interval for each store, algorithm and moment;
    ``against`` is the opponent, null for all common algorithms together. ``differences`` has the
    share in each other store minus the share in the first; ``p_more`` is the probability that it is
    above zero, and ``at`` is null for the mean over all moments.
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


def compared(sides: Sequence[Side], align: str = "auto") -> StoreComparison:
    """Compare stores with the first of them."""
    names = common_algorithms(sides)
    moments = matched(sides, align)
    # The empty tables give the columns their types if there are no duels.
    levels = [_empty_table(LEVEL_COLUMNS)]
    differences = [_empty_table(DIFFERENCE_COLUMNS)]
    for algorithm, against, rates_by_store in _duels(sides, names, moments):
        stores = zip(sides, rates_by_store, moments.places, strict=True)
        for side, rates, places in stores:
            labels = {"store": side.name, "algorithm": algorithm, "against": against}
            levels.append(_levels(labels, rates, moments.at, side.basis.times[places]))
            if side is not sides[0]:
                differences.append(_differences(labels, rates_by_store[0], rates, moments.at))
    return StoreComparison(
        tuple(sides),
        names,
        moments,
        pl.concat(levels, how="vertical_relaxed"),
        pl.concat(differences, how="vertical_relaxed"),
    )


def _empty_table(columns: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(schema=dict.fromkeys(PAIR, pl.String) | dict.fromkeys(columns, pl.Float64))


def _duels(
    sides: Sequence[Side], names: Sequence[str], moments: Moments
) -> Iterator[tuple[str, str | None, list[WinRates]]]:
    """The win rates by store, of each pair, then of each algorithm against all others.

    A single common algorithm has no duels; it is only compared with itself.
    """
    if len(names) == 1:
        return
    places_of_sides = list(zip(sides, moments.places, strict=True))
    for a, b in combinations(names, 2):
        yield a, b, [side.win_rates(a, b, places) for side, places in places_of_sides]
    for name in names:
        others = [other for other in names if other != name]
        yield (
            name,
            None,
            [
                WinRates.average([side.win_rates(name, other, places) for other in others])
                for side, places in places_of_sides
            ],
        )


def _levels(
    labels: Mapping[str, str | None], rates: WinRates, at: np.ndarray, times: np.ndarray
) -> pl.DataFrame:
    """The rows of one store and one pair or algorithm: a row for each moment."""
    low, high = rates.interval()
    columns = {"at": at, "t": times, "mean": rates.mean, "low": low, "high": high}
    return pl.DataFrame({**labels, **columns})


def _differences(
    labels: Mapping[str, str | None], first: WinRates, other: WinRates, at: np.ndarray
) -> pl.DataFrame:
    """The rows of one pair or algorithm: the mean over all moments, then each moment."""
    n_draws = min(len(first.draws), len(other.draws))
    drawn_in_first = _with_mean_over_moments(thinned(first.draws, n_draws))
    drawn_in_other = _with_mean_over_moments(thinned(other.draws, n_draws))
    difference = drawn_in_other - drawn_in_first
    mean_in_first = np.append(first.mean.mean(), first.mean)
    mean_in_other = np.append(other.mean.mean(), other.mean)
    low, high = np.quantile(difference, INTERVAL, axis=0)
    p_more = (difference > 0).mean(axis=0) + 0.5 * (difference == 0).mean(axis=0)
    return pl.DataFrame(
        {
            **labels,
            "at": [None, *at.tolist()],
            "first": mean_in_first,
            "other": mean_in_other,
            "difference": mean_in_other - mean_in_first,
            "low": low,
            "high": high,
            "p_more": p_more,
        }
    )


def thinned(draws: np.ndarray, n_draws: int) -> np.ndarray:
    """Keep ``n_draws`` of the draws, evenly spread.

    The draws of one chain follow each other, so that every chain keeps its share.
    """
    kept = np.arange(n_draws) * len(draws) // n_draws
    return np.asarray(draws[kept])


def _with_mean_over_moments(draws: np.ndarray) -> np.ndarray:
    """The draws[draw, moment], with the mean over all moments as first column."""
    return np.column_stack([draws.mean(axis=1), draws])


def stretches(comparison: StoreComparison) -> list[str]:
    """Sentences about neighbouring times at which a pair differs, the largest difference first.

    At each of these times the 95 % interval of the difference between two stores excludes zero.
    """
    sign = (pl.col("low") > 0).cast(int) - (pl.col("high") < 0).cast(int)
    size = pl.col("difference").abs()
    rows = (
        comparison.differences.drop_nulls(["against", "at"])
        .with_columns(sign=sign, moment=pl.int_range(pl.len()).over(PAIR))
        .with_columns(stretch=pl.col("sign").rle_id().over(PAIR))
        .filter(pl.col("sign") != 0)
        .group_by(*PAIR, "stretch", maintain_order=True)
        .agg(
            pl.all().sort_by(size).last(),
            begin=pl.col("moment").min(),
            end=pl.col("moment").max(),
        )
        .sort(size, descending=True, maintain_order=True)
    )
    return [_stretch_words(row, comparison) for row in rows.iter_rows(named=True)]


def _stretch_words(row: Facts, comparison: StoreComparison) -> str:
    moments = comparison.moments
    begin = row["begin"]
    end = row["end"]
    if begin == 0 and end == len(moments.at) - 1 and end > 0:
        when = "At all times"
    elif begin != end:
        when = f"From {moments.short(begin)} to {moments.in_words(end)}"
    else:
        when = f"At {moments.in_words(begin)}"
    at = "" if begin == end else f" at {moments.short(row['moment'])}"
    if row["sign"] > 0:
        winner = row["algorithm"]
        loser = row["against"]
        in_first = row["first"]
        in_other = row["other"]
        low = row["low"]
        high = row["high"]
    else:
        # The opponent wins more often in the other store: the same numbers from its point of view.
        winner = row["against"]
        loser = row["algorithm"]
        in_first = 1 - row["first"]
        in_other = 1 - row["other"]
        low = -row["high"]
        high = -row["low"]
    return (
        f"{when} {winner} beats {loser} more often in {row['store']}:{at} on "
        f"{percent_cell(in_other)} of instances, in {comparison.sides[0].name} on "
        f"{percent_cell(in_first)} (difference {points(low)} to {points(high)})"
    )


@dataclass(frozen=True)
class AlgorithmChange:
    """An algorithm in another store against itself in the first, over all times and at the last.

    ``wins`` is the share of instances on which it is better in the other store, ties halved, on
    average over the times; ``low`` and ``high`` are its 95 % interval by duels alone. ``p_better``
    is the probability, by the default model, that this share is above a half. ``same`` means that
    all values are equal at all times.
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
    def is_shown(self) -> bool:
        """Whether the direction of the change has a probability of 97.5 % or more."""
        low, high = INTERVAL
        return not low < self.p_better < high


def shared_instances(first: StoreOnDisk, other: StoreOnDisk) -> list[str]:
    """Instances that are the same in both stores: they have the same id, suite and spec."""
    columns = ["instance", "suite", "spec"]
    in_other = set(other.instances().select(columns).iter_rows())
    return [row[0] for row in first.instances().select(columns).iter_rows() if row in in_other]


def changes(sides: Sequence[Side], names: Sequence[str], moments: Moments) -> list[AlgorithmChange]:
    """Each algorithm in the other stores against itself in the first store.

    Runs are compared if both stores have them on the same instances and count the same axis.
    """
    if moments.axis is None:
        return []
    changed = []
    for side in sides[1:]:
        if _have_comparable_runs(sides[0].context.store, side.context.store):
            changed += _changes_between(sides[0], side, names, moments)
    return changed


def _have_comparable_runs(first: StoreOnDisk, other: StoreOnDisk) -> bool:
    stores = (first, other)
    directions = {store.settings.instances.maximise for store in stores}
    have_runs = all(not store.runs().is_empty() and not len(store.rankings()) for store in stores)
    return have_runs and len(directions) == 1


def _changes_between(
    first: Side, other: Side, names: Sequence[str], moments: Moments
) -> list[AlgorithmChange]:
    """Each algorithm in one store against itself in the first."""
    first_store = first.context.store
    other_store = other.context.store
    shared = shared_instances(first_store, other_store)
    if not shared:
        return []
    problems = first_store.problems()
    weights = first_store.weights()
    first_grid = first_store.on_grid(moments.at, names)
    other_grid = other_store.on_grid(moments.at, names)
    instances = [
        instance
        for instance in shared
        if instance in first_grid.instances and instance in other_grid.instances
    ]
    changed = []
    for name in names:
        pairs = side_by_side(
            first_grid.pick(instances, [name]), other_grid.pick(instances, [name]), VERSIONS
        )
        has_both = np.all(np.any(pairs.present, axis=2), axis=1)
        if not has_both.any():
            continue
        used = tuple(instances[i] for i in np.flatnonzero(has_both))
        evidence = ranked(
            pairs.pick(used, VERSIONS),
            # Any positions will do, because the model does not smooth over time.
            np.linspace(0, 1, len(moments.at)),
            problems=[problems.get(instance, instance) for instance in used],
            weights=[weights.get(instance, 1.0) for instance in used],
            duels=first_store.settings.duels,
        )
        changed.append(_change(other.name, name, evidence))
    return changed


def _change(store: str, algorithm: str, evidence: Evidence) -> AlgorithmChange:
    """The two versions of an algorithm as a race between them, by the empirical model."""
    posterior = evidence.posterior(ModelOptions(), seed=0)
    rates = WinRates.of_pair(posterior, 1, 0)
    over_time = rates.over_time()
    low, high = over_time.interval()[:, 0].tolist()
    low_at_last, high_at_last = rates.interval()[:, -1].tolist()
    is_compared = evidence.grid.present.all(axis=1)
    if evidence.results is None:
        positions = evidence.grid.positions()
        is_same = positions[:, 0] == positions[:, 1]
    else:
        is_same = evidence.results[:, 0] == DRAW
    return AlgorithmChange(
        store=store,
        algorithm=algorithm,
        instances=evidence.n_problems,
        same=bool(is_same[is_compared].all()),
        wins=float(over_time.mean[0]),
        low=low,
        high=high,
        p_better=float((over_time.draws > 0.5).mean()),
        wins_at_last=float(rates.mean[-1]),
        low_at_last=low_at_last,
        high_at_last=high_at_last,
    )
