"""Figures of fronts: what is drawn, and surfaces and their differences against moocore."""

import moocore
import numpy as np
import polars as pl
import pytest

from polarbear.report.figures import duel_shares, fronts
from polarbear.report.figures.fronts import FrontsAtTime


def two_algorithms(seed: int, n_instances: int = 8) -> FrontsAtTime:
    """Points of two algorithms on some instances, whose scales differ by orders of magnitude."""
    rng = np.random.default_rng(seed)
    points = np.empty((n_instances, 2), dtype=object)
    for row in range(n_instances):
        for a in range(2):
            front = rng.random((int(rng.integers(1, 9)), 2)) + 0.2 * a
            points[row, a] = front * 10.0 ** rng.integers(-3, 6)
    names = tuple(f"i{row}" for row in range(n_instances))
    return FrontsAtTime(1.0, names, ("A", "B"), points, 1)


def test_ranks_go_from_the_best_to_the_worst_and_keep_every_order():
    some = two_algorithms(1)
    for row in range(len(some.instances)):
        ranks = np.concatenate(some.ranks(row))
        values = np.concatenate(list(some.points[row]))
        assert ranks.min(axis=0).tolist() == [0, 0]
        assert ranks.max(axis=0).tolist() == [1, 1]
        for k in range(2):
            order = np.argsort(values[:, k])
            assert (np.diff(ranks[order, k]) > 0).all()


def test_ranks_do_not_change_under_increasing_transformations():
    some = two_algorithms(2)
    cubes = np.empty_like(some.points)
    for cell, front in np.ndenumerate(some.points):
        cubes[cell] = np.column_stack([front[:, 0] ** 3, np.log(front[:, 1] + 1)])
    cubed = FrontsAtTime(1.0, some.instances, some.algorithms, cubes, 1)
    for row in range(len(some.instances)):
        for first, other in zip(some.ranks(row), cubed.ranks(row), strict=True):
            assert first.tobytes() == other.tobytes()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_attained_shares_are_those_of_moocores_surfaces(seed: int):
    some = two_algorithms(seed)
    n_instances = len(some.instances)
    levels = np.arange(1, 21) / 20
    shares = fronts.attained_shares(some, levels)
    for a in range(2):
        own = [some.ranks(row)[a] for row in range(n_instances)]
        sets = np.repeat(np.arange(n_instances), [len(front) for front in own])
        for n_attaining in range(1, n_instances + 1):
            percentile = 100 * n_attaining / n_instances
            surface = moocore.eaf(np.concatenate(own), sets, percentiles=[percentile])
            for i, first in enumerate(levels):
                for j, second in enumerate(levels):
                    is_behind = (surface[:, :2] <= [first + 1e-9, second + 1e-9]).all(axis=1)
                    has_share = shares[a, i, j] >= n_attaining / n_instances - 1e-9
                    assert is_behind.any() == has_share


def test_points_in_the_data_of_fronts_dominate_none_of_their_own(kinds):
    data = fronts.data(kinds["objectives"])
    assert data["instance"].n_unique() == fronts.MAX_INSTANCES
    for _, rows in data.group_by("instance", "algorithm"):
        assert moocore.is_nondominated(rows.select("y1", "y2").to_numpy()).all()


def test_surfaces_of_larger_shares_are_not_better(kinds):
    data = fronts.surface_data(kinds["objectives"])
    for name in data["algorithm"].unique():
        own = data.filter(pl.col("algorithm") == name)
        quarter, half = (
            own.filter(pl.col("share") == share).select("rank1", "rank2").to_numpy()
            for share in (0.25, 0.5)
        )
        for corner in half:
            assert (quarter <= corner + 1e-12).all(axis=1).any()


def test_results_of_duels_sum_to_all_of_them(kinds):
    data = duel_shares.data(kinds["objectives"])
    assert data.select("a", "b").n_unique() == 3
    assert (data["duels"] == 6).all()
    results = data.select(pl.sum_horizontal("wins", "draws", "incomparable", "losses"))
    assert (results.to_series() == data["duels"]).all()
