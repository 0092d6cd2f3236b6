"""Which learner for this data set, at this number of training examples: choices by features.

The learning curves of LCDB (Mohr et al. 2022: 20 learners, 64 meta-features; the archive of the
Python package `lcdb` 0.1.0 has the data inside) are imported into a store as runs whose axis is the
number of training examples, with the meta-features as features of the data sets. Data sets count
on which at least 18 learners were run. A choice is made for each data set and each size by the
other folds, ten folds by data set, and scored by its regret: its error less that of the best
learner there. A learner that was not run on a data set has the error of the worst.

- ``features``: PolarBear's choice by features (`polarbear select --features`);
- ``no features``: PolarBear's choice for all data sets;
- ``forest on ranks``: scikit-learn's random forest, which predicts the rank of each learner;
- ``asf``: a performance model for each size, of the package asf (``--peers``).

    pip download --no-deps --no-binary :all: lcdb==0.1.0
    python studies/features.py lcdb-0.1.0.tar.gz
    python studies/features.py lcdb-0.1.0.tar.gz --small       one repetition, without peers

The score is the share of the gap closed between the single best learner of each size (lowest mean
regret of the other folds) and the best learner of each data set, with a 95 % interval by a Bayesian
bootstrap over data sets. Exit code 1 if the goal is missed.
"""

from __future__ import annotations

import argparse
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common
import numpy as np
import polars as pl
from common import Claims, markdown, told, write_csv

import polarbear as pb
from polarbear.facts.evidence import evidence_of
from polarbear.inference.feature_models.duel_tables import (
    DuelTable,
    duel_table,
    rivals_beaten,
    scores_at_some_times,
)
from polarbear.inference.feature_models.encoding import FeatureMatrix
from polarbear.inference.feature_models.forest import counted_weights, fitted_forest
from polarbear.selection.cross_validation import best_by_duels
from polarbear.selection.feature_choice import problem_features

SIZES = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
SIZE_THAT_COUNTS = 256  # at which learners are counted
MIN_LEARNERS = 18
N_FOLDS = 10
GOAL = 0.36
SINGLE_BEST = "single best"
FEATURES = "features"

# From the data sets of the other folds and of one fold to a choice[data set, size] for the latter.
Chooser = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def rows_of(archive: Path, name: str) -> pl.DataFrame:
    """A table of LCDB, from the package's archive."""
    with tarfile.open(archive) as files:
        member = next(path for path in files.getnames() if path.endswith(f"lcdb/{name}.csv"))
        content = files.extractfile(member)
        assert content is not None
        return pl.read_csv(content.read(), infer_schema_length=None)


def long_table(archive: Path) -> pl.DataFrame:
    """Mean test errors by learner, data set and size, with features, as PolarBear imports them."""
    features = rows_of(archive, "datasets").drop("Name")
    names = [name for name in features.columns if name != "openmlid"]
    features = features.rename({name: f"feature_{name}" for name in names})
    curves = rows_of(archive, "database-accuracy").filter(pl.col("size_train").is_in(SIZES))
    errors = curves.group_by("openmlid", "learner", "size_train").agg(
        (1 - pl.col("score_test")).mean().alias("y")
    )
    at_size = errors.filter(pl.col("size_train") == SIZE_THAT_COUNTS)
    counts = at_size.group_by("openmlid").len().filter(pl.col("len") >= MIN_LEARNERS)
    errors = errors.join(counts, on="openmlid", how="semi").join(features, on="openmlid")
    return (
        errors.with_columns(
            instance=pl.format("openml-{}", "openmlid"), t=pl.col("size_train").cast(float)
        )
        .rename({"learner": "algorithm"})
        .drop("openmlid", "size_train")
        .sort("instance", "algorithm", "t")
    )


class Curves:
    """The data sets of a store: errors, duels and features in one order of data sets."""

    def __init__(self, store: Path) -> None:
        disk = pb.open(store)._disk
        evidence = evidence_of(disk)
        self.matrix: FeatureMatrix = problem_features(disk, evidence).matrix
        self.duels: DuelTable = duel_table(evidence.duels)
        self.names = evidence.grid.instances
        self.times = evidence.grid.times
        values = evidence.grid.values
        is_known = np.isfinite(values)
        worst = np.where(is_known, values, 0).max(axis=1, keepdims=True)
        errors = np.where(is_known, values, worst)
        self.regret = errors - errors.min(axis=1, keepdims=True)
        self.ranks = errors.argsort(axis=1).argsort(axis=1).astype(float)
        self.beaten = scores_at_some_times(rivals_beaten(self.duels))

    def single_best(self, others: np.ndarray, inside: np.ndarray, seed: int) -> np.ndarray:
        best = self.regret[others].mean(axis=0).argmin(axis=0)
        return np.tile(best, (len(inside), 1))

    def without_features(self, others: np.ndarray, inside: np.ndarray, seed: int) -> np.ndarray:
        choice = best_by_duels(self.duels.rows(others), np.ones(len(others)))
        return np.tile(choice, (len(inside), 1))

    def by_features(self, others: np.ndarray, inside: np.ndarray, seed: int) -> np.ndarray:
        names = [self.names[k] for k in others]
        forest = fitted_forest(self.beaten[others], self.matrix.rows(others), names, seed)
        duels = self.duels.rows(others)
        rows = [forest.weights_of_row(self.matrix.values[k]) for k in inside]
        return np.stack([best_by_duels(duels, counted_weights(weights)) for weights in rows])

    def forest_on_ranks(self, others: np.ndarray, inside: np.ndarray, seed: int) -> np.ndarray:
        from sklearn.ensemble import RandomForestRegressor

        forest = RandomForestRegressor(100, random_state=seed)
        forest.fit(self.matrix.values[others], self.ranks[others].reshape(len(others), -1))
        predicted = forest.predict(self.matrix.values[inside])
        return np.asarray(predicted.reshape(len(inside), *self.ranks.shape[1:]).argmin(axis=1))

    def asf(self, others: np.ndarray, inside: np.ndarray, seed: int) -> np.ndarray:
        import pandas as pd
        from asf.predictors import RandomForestRegressorWrapper
        from asf.preprocessing.performance_scaling import MinMaxNormalization
        from asf.selectors import PerformanceModel

        columns = [f"f{k}" for k in range(self.matrix.values.shape[1])]
        features = pd.DataFrame(self.matrix.values, columns=columns)
        choices = np.empty((len(inside), len(self.times)), dtype=int)
        for k in range(len(self.times)):
            learners = [f"a{a}" for a in range(self.regret.shape[1])]
            regrets = pd.DataFrame(self.regret[:, :, k], columns=learners)
            selector: Any = PerformanceModel(
                RandomForestRegressorWrapper, normalize=MinMaxNormalization
            )
            selector.fit(features.iloc[others], regrets.iloc[others])
            predicted = selector.predict(features.iloc[inside])
            for row, problem in enumerate(inside):
                schedule = predicted[features.index[problem]]
                choices[row, k] = int(schedule[0][0].removeprefix("a"))
        return choices


def regrets_of(curves: Curves, choosers: dict[str, Chooser], seeds: int) -> dict[str, np.ndarray]:
    """Mean regrets over the repetitions: [data set, size] by chooser."""
    n_problems = len(curves.names)
    sizes = np.arange(len(curves.times))
    regrets = {name: np.zeros((n_problems, len(sizes))) for name in choosers}
    for seed in range(seeds):
        fold = np.random.default_rng(seed).permutation(n_problems) % N_FOLDS
        for k in range(N_FOLDS):
            others = np.flatnonzero(fold != k)
            inside = np.flatnonzero(fold == k)
            for name, chooser in choosers.items():
                chosen = chooser(others, inside, seed)
                regret = curves.regret[inside[:, np.newaxis], chosen, sizes]
                regrets[name][inside] += regret / seeds
        print(f"repetition {seed + 1} of {seeds}", file=sys.stderr, flush=True)
    return regrets


def summary_of(regrets: dict[str, np.ndarray], times: np.ndarray) -> list[common.Row]:
    """The share of the gap closed by each chooser, with its interval, and at each size."""
    single_best = regrets[SINGLE_BEST]
    weights = np.random.default_rng(0).standard_exponential((2000, len(single_best)))
    rows = []
    for name, regret in regrets.items():
        gain = (single_best - regret).mean(axis=1)
        draws = (weights @ gain) / (weights @ single_best.mean(axis=1))
        low, high = np.quantile(draws, [0.025, 0.975])
        by_size = 1 - regret.mean(axis=0) / single_best.mean(axis=0)
        row: common.Row = {
            "choice": name,
            "regret": round(float(regret.mean()), 5),
            "gap closed": round(float(gain.mean() / single_best.mean()), 3),
            "interval": f"{low:.2f} to {high:.2f}",
        }
        for t, share in zip(times, by_size, strict=True):
            row[f"{t:g}"] = round(float(share), 2)
        rows.append(row)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("archive", type=Path, help="lcdb-0.1.0.tar.gz")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "features")
    parser.add_argument("--store", type=Path, help="where the curves are; by default in --out")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="one repetition, without peers")
    parser.add_argument("--peers", action="store_true", help="also asf, which takes far longer")
    options = parser.parse_args()
    store = options.store or options.out / "store"
    if not store.exists():
        options.out.mkdir(parents=True, exist_ok=True)
        table = options.out / "lcdb.parquet"
        long_table(options.archive).write_parquet(table)
        pb.import_data(
            table,
            store,
            format="table",
            trajectory="last",
            axis="examples",
        )
    curves = Curves(store)
    choosers: dict[str, Chooser] = {
        SINGLE_BEST: curves.single_best,
        "no features": curves.without_features,
        FEATURES: curves.by_features,
        "forest on ranks": curves.forest_on_ranks,
    }
    if options.peers and not options.small:
        choosers["asf"] = curves.asf
    seeds = 1 if options.small else options.repetitions
    rows = summary_of(regrets_of(curves, choosers, seeds), curves.times)
    write_csv(options.out / "summary.csv", rows)
    claims = Claims()
    share = next(row["gap closed"] for row in rows if row["choice"] == FEATURES)
    claims.check(
        f"choices by features close {share:.1%} of the gap on {len(curves.names)} data sets, at "
        f"least {GOAL:.0%}",
        share >= GOAL,
    )
    parts = [(f"{len(curves.names)} data sets, {seeds} x {N_FOLDS} folds", markdown(rows))]
    print(told(options.out, "LCDB: which learner at which size", parts, claims))
    return int(bool(claims.failed))


if __name__ == "__main__":
    sys.exit(main())
