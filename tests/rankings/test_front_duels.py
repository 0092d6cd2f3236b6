"""Duels of fronts: brute force, indicators, invariance, and what they give for one objective."""

from collections.abc import Callable

import moocore
import numpy as np
import pytest

from polarbear.errors import InferenceError, RankingError
from polarbear.facts.evidence import Evidence, ranked
from polarbear.inference import ModelOptions
from polarbear.numerics.arrays import Floats
from polarbear.rankings import GridValues
from polarbear.rankings.archives import non_dominated
from polarbear.rankings.front_duels import (
    DRAW,
    INCOMPARABLE,
    LOSS,
    MARGIN,
    NOT_MET,
    WIN,
    DuelRule,
    DuelSettings,
    FrontsOfRun,
    results_of_pair,
    union_of_runs,
)

SCALE_FREE = [DuelRule.COVERAGE, DuelRule.DOMINANCE]
NAMES = ("a", "b", "c")


def front(n_objectives: int, seed: int, n: int = 6, largest: int = 7) -> Floats:
    points = np.random.default_rng(seed).integers(0, largest, (n, n_objectives))
    return non_dominated(points.astype(float))


def run_of(*fronts: Floats, violations: list[float] | None = None) -> FrontsOfRun:
    array = np.empty(len(fronts), dtype=object)
    array[:] = list(fronts)
    known = None if violations is None else np.array(violations)
    return FrontsOfRun(array, np.ones(len(fronts), dtype=bool), known)


def result(a: Floats, b: Floats, rule: DuelRule, reference: tuple[float, ...] | None = None) -> int:
    return int(results_of_pair(run_of(a), run_of(b), DuelSettings(rule, reference))[0])


def share_covered(points: Floats, others: Floats) -> float:
    covered = [any((other <= point).all() for other in others) for point in points]
    return sum(covered) / len(covered)


def sign(difference: float) -> int:
    return int(np.sign(difference))


@pytest.mark.parametrize("n_objectives", [2, 3, 4])
@pytest.mark.parametrize("seed", range(0, 60, 2))
def test_coverage_and_dominance_are_those_of_their_definitions(n_objectives: int, seed: int):
    a = front(n_objectives, seed)
    b = front(n_objectives, seed + 1)
    of_b = share_covered(b, a)
    of_a = share_covered(a, b)
    is_equal = {*map(tuple, a.tolist())} == {*map(tuple, b.tolist())}
    neither = DRAW if is_equal else INCOMPARABLE
    assert result(a, b, DuelRule.COVERAGE) == (sign(of_b - of_a) or neither)
    expected = sign((of_b == 1) - (of_a == 1)) or neither
    assert result(a, b, DuelRule.DOMINANCE) == expected
    for rule in SCALE_FREE:
        assert result(b, a, rule) == {WIN: LOSS, LOSS: WIN}.get(
            result(a, b, rule), result(a, b, rule)
        )


@pytest.mark.parametrize("seed", range(10))
def test_indicators_are_those_of_moocore(seed: int):
    a = front(2, seed, largest=50)
    b = front(2, seed + 100, largest=50)
    points = np.concatenate([a, b])
    worst = points.max(axis=0)
    default = worst + MARGIN * (worst - points.min(axis=0))
    together = moocore.filter_dominated(points)

    def hypervolume(reference: Floats) -> float:
        return float(moocore.hypervolume(a, reference) - moocore.hypervolume(b, reference))

    assert result(a, b, DuelRule.HYPERVOLUME) == sign(hypervolume(default))
    far = (100.0, 60.0)
    assert result(a, b, DuelRule.HYPERVOLUME, far) == sign(hypervolume(np.array(far)))
    epsilon = moocore.epsilon_additive(b, a) - moocore.epsilon_additive(a, b)
    assert result(a, b, DuelRule.EPSILON) == (sign(epsilon) or INCOMPARABLE)
    distance = moocore.igd_plus(b, together) - moocore.igd_plus(a, together)
    assert result(a, b, DuelRule.IGD_PLUS) == (sign(distance) or INCOMPARABLE)


@pytest.mark.parametrize("rule", DuelRule)
def test_less_violation_wins_and_a_front_is_better_than_none(rule: DuelRule):
    good = np.array([[0.0, 0.0]])
    bad = np.array([[9.0, 9.0]])
    nothing = np.empty((0, 2))
    a = run_of(good, good, bad, nothing, nothing, violations=[2.0, 1.0, 0.0, np.inf, np.inf])
    b = run_of(bad, bad, good, bad, nothing, violations=[1.0, 1.0, 0.0, 3.0, np.inf])
    results = results_of_pair(a, b, DuelSettings(rule))
    assert results.tolist() == [LOSS, WIN, LOSS, LOSS, DRAW]
    absent = b._replace(present=np.array([True, False, True, True, False]))
    assert results_of_pair(a, absent, DuelSettings(rule)).tolist() == [
        *(LOSS, NOT_MET, LOSS, LOSS, NOT_MET)
    ]


def test_a_union_has_the_points_of_those_with_the_least_violation():
    first = run_of(np.array([[1.0, 3.0]]), np.array([[1.0, 3.0]]), violations=[0.0, 0.0])
    second = run_of(np.array([[0.0, 0.0]]), np.array([[3.0, 1.0]]), violations=[1.0, 0.0])
    union = union_of_runs([first, second])
    assert union.fronts[0].tolist() == [[1, 3]]
    assert sorted(union.fronts[1].tolist()) == [[1, 3], [3, 1]]


def grid_of_fronts(n_objectives: int, seed: int, violated: bool = False) -> GridValues:
    rng = np.random.default_rng(seed)
    shape = (20, 3, 4)
    fronts = np.empty(shape, dtype=object)
    for cell in np.ndindex(shape):
        points = rng.random((5, n_objectives)) + 0.2 * cell[1] / (1 + cell[2])
        fronts[cell] = non_dominated(points)
    violations = rng.integers(0, 2, shape) * rng.random(shape) if violated else None
    instances = tuple(f"i{k}" for k in range(shape[0]))
    values = np.zeros(shape)
    values[rng.random(shape) < 0.05] = np.nan
    return GridValues(instances, NAMES, np.arange(1.0, 5), values, violations, fronts)


def evidence(grid: GridValues, rule: DuelRule = DuelRule.COVERAGE) -> Evidence:
    return ranked(grid, np.linspace(0, 1, 4), duels=DuelSettings(rule))


def transformed(grid: GridValues, *functions: Callable[[Floats], Floats]) -> GridValues:
    assert grid.fronts is not None
    fronts = np.empty_like(grid.fronts)
    for cell in np.ndindex(fronts.shape):
        columns = [function(y) for function, y in zip(functions, grid.fronts[cell].T, strict=True)]
        fronts[cell] = np.stack(columns, axis=1)
    violations = None if grid.violations is None else grid.violations**3
    return GridValues(grid.instances, grid.algorithms, grid.times, grid.values, violations, fronts)


@pytest.mark.parametrize("rule", SCALE_FREE)
@pytest.mark.parametrize("violated", [False, True])
def test_increasing_transformations_of_each_objective_change_nothing(
    rule: DuelRule, violated: bool
):
    grid = grid_of_fronts(2, 5, violated)
    other = transformed(grid, np.exp, lambda y: y**3 - 7)
    before = evidence(grid, rule)
    after = evidence(other, rule)
    assert before.key == after.key
    options = ModelOptions(draws=400)
    theta = before.posterior(options, 1).theta
    assert np.array_equal(theta, after.posterior(options, 1).theta)


def test_hypervolume_depends_on_units():
    grid = grid_of_fronts(2, 5)
    other = transformed(grid, lambda y: np.exp(5 * y), lambda y: y)
    rule = DuelRule.HYPERVOLUME
    assert evidence(grid, rule).key != evidence(other, rule).key


@pytest.mark.parametrize("rule", DuelRule)
def test_fronts_of_one_objective_give_the_duels_of_values(rule: DuelRule):
    rng = np.random.default_rng(3)
    shape = (20, 3, 4)
    values = rng.integers(0, 5, shape).astype(float)
    violations = rng.integers(0, 2, shape).astype(float)
    fronts = np.empty(shape, dtype=object)
    for cell in np.ndindex(shape):
        fronts[cell] = values[cell].reshape(1, 1)
    instances = tuple(f"i{k}" for k in range(20))
    times = np.arange(1.0, 5)
    of_values = evidence(GridValues(instances, NAMES, times, values, violations))
    of_fronts = evidence(
        GridValues(instances, NAMES, times, np.zeros(shape), violations, fronts), rule
    )
    record = of_values.duels.record()
    record_of_fronts = of_fronts.duels.record()
    for name in ("wins", "losses", "draws", "shared"):
        assert np.array_equal(getattr(record, name), getattr(record_of_fronts, name))
    assert record_of_fronts.incomparable is not None
    assert not record_of_fronts.incomparable.any()
    options = ModelOptions(draws=400)
    posterior = of_values.posterior(options, 1)
    posterior_of_fronts = of_fronts.posterior(options, 1)
    assert np.array_equal(posterior.wins, posterior_of_fronts.wins)
    assert np.array_equal(posterior.p_better(0, 1), posterior_of_fronts.p_better(0, 1))


def test_incomparable_duels_are_counted():
    grid = grid_of_fronts(3, 8)
    record = evidence(grid, DuelRule.DOMINANCE).duels.record()
    results = grid.duel_results(DuelSettings(DuelRule.DOMINANCE))
    assert results is not None
    assert record.incomparable is not None
    assert np.array_equal(record.incomparable, (results == INCOMPARABLE).sum(axis=0).T)
    shares = record.incomparable_shares()
    assert shares is not None
    assert np.allclose(shares, record.incomparable.sum(axis=1) / record.shared.sum(axis=1))


def test_what_needs_a_total_order_is_refused():
    of_fronts = evidence(grid_of_fronts(2, 1))
    with pytest.raises(InferenceError, match="no total order"):
        of_fronts.posterior(ModelOptions(model="dirichlet"), 1)
    with pytest.raises(RankingError, match="no first places"):
        of_fronts.duels.first_scores(slice(0, 1), [0, 1])
    with pytest.raises(RankingError, match="no positions"):
        of_fronts.grid.positions()
    with pytest.raises(RankingError, match="no rankings"):
        _ = of_fronts.choice_sets
