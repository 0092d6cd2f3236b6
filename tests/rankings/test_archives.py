"""Archives are compared with a brute-force definition of non-dominated points."""

import numpy as np
import pytest

from polarbear.rankings.archives import Archive, entered, fronts_at
from polarbear.rankings.outcomes import Improvements


def dominates(a: np.ndarray, b: np.ndarray) -> bool:
    return bool((a <= b).all() and (a < b).any())


def front_of(points: np.ndarray, violations: np.ndarray) -> set[tuple[float, ...]]:
    """The least violating points that no other one dominates."""
    if not len(points):
        return set()
    best = points[violations == violations.min()]
    return {tuple(p) for p in best.tolist() if not any(dominates(q, np.array(p)) for q in best)}


def sequence(n_objectives: int, seed: int, n: int = 120) -> Improvements:
    """Points with many equal values, of which the first ones are often infeasible."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 8, (n, n_objectives)).astype(float)
    violations = rng.integers(0, 3, n) * (rng.random(n) < 0.8) * 1.0
    violations[:5] += 1
    return Improvements(np.arange(1.0, n + 1), values, violations)


@pytest.mark.parametrize("n_objectives", [2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_the_archive_at_each_time_has_the_least_violating_points_that_none_dominates(
    n_objectives: int, seed: int
):
    points = sequence(n_objectives, seed)
    recorded = entered(points, n_objectives)
    times = np.array([0.5, 1, 7, 30, 30.5, 120, 500])
    for t, front in zip(times, fronts_at(recorded, times), strict=True):
        n = int((points.times <= t).sum())
        expected = front_of(points.values[:n], points.all_violations()[:n])
        assert {tuple(point) for point in front.tolist()} == expected
        assert len(front) == len(expected)


@pytest.mark.parametrize("n_objectives", [2, 3])
def test_a_point_enters_once_and_only_if_none_in_the_archive_is_as_good(n_objectives: int):
    points = sequence(n_objectives, 9)
    recorded = entered(points, n_objectives)
    seen: list[int] = []
    for k in range(len(points.times)):
        before = front_of(points.values[:k], points.all_violations()[:k])
        after = front_of(points.values[: k + 1], points.all_violations()[: k + 1])
        if after != before:
            seen.append(k)
    # A change from one violation to a smaller one may leave equal values.
    times = set(recorded.times.tolist())
    assert times >= {k + 1.0 for k in seen}
    assert len(times) == len(recorded.times)


@pytest.mark.parametrize("n_objectives", [2, 3])
def test_a_full_archive_takes_only_points_that_dominate_one_in_it(n_objectives: int):
    archive = Archive(n_objectives, limit=2)
    rest = (0.0,) * (n_objectives - 2)
    assert archive.add((0.0, 4.0, *rest), 0.0)
    assert archive.add((4.0, 0.0, *rest), 0.0)
    assert not archive.add((2.0, 2.0, *rest), 0.0)
    assert archive.add((3.0, -1.0, *rest), 0.0)
    assert len(archive) == 2
