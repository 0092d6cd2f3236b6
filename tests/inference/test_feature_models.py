"""The tree over duels and the forest: splits that chance does not explain, weights of problems."""

import builtins
from typing import Any

import numpy as np
import pytest

from polarbear.errors import InferenceError, MissingExtraError
from polarbear.inference.feature_models.duel_tree import Branch, Leaf, grown_tree, leaves
from polarbear.inference.feature_models.encoding import encode_instance, encoded
from polarbear.inference.feature_models.forest import (
    counted_weights,
    effective_number,
    fitted_forest,
)
from polarbear.inference.feature_models.split_test import shortest_between

N_PROBLEMS = 120


def leads_with(rates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Leads of one pair at three times that repeat each other."""
    wins = np.where(rng.random(len(rates)) < rates, 1.0, -1.0)
    return np.repeat(wins[:, np.newaxis], 3, axis=1)


def test_numbers_and_categories_become_columns_without_gaps():
    matrix = encoded(
        {
            "size": [1.0, np.nan, 3.0, 9.0],
            "kind": ["a", "b", None, "b"],
            "same": [4.0, 4.0, 4.0, 4.0],
            "unknown": [np.nan] * 4,
        }
    )
    names = [(column.feature, column.category) for column in matrix.columns]
    assert names == [("size", None), ("kind", "a"), ("kind", "b")]
    assert matrix.values.tolist() == [[1, 1, 0], [3, 0, 1], [3, 0, 0], [9, 0, 1]]
    assert encode_instance(matrix.columns, {"size": "2", "kind": "b"}).tolist() == [2, 0, 1]
    assert encode_instance(matrix.columns, {}).tolist() == [3, 0, 0]
    with pytest.raises(InferenceError, match="did you mean 'size'"):
        encode_instance(matrix.columns, {"sise": 1})
    with pytest.raises(InferenceError, match="'size' is a number, found 'large'"):
        encode_instance(matrix.columns, {"size": "large"})


def test_few_splits_on_noise_features():
    """At most 5 % are allowed: of 60 rules, more than 8 would be a chance of one in 200."""
    n_splits = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        matrix = encoded({f"f{k}": rng.random(N_PROBLEMS).tolist() for k in range(5)})
        leads = leads_with(np.full(N_PROBLEMS, 0.5), rng)
        n_splits += isinstance(grown_tree(leads, matrix, seed), Branch)
    assert n_splits <= 8


def test_planted_rules_are_found_with_their_boundary():
    n_right = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = rng.random((N_PROBLEMS, 5))
        rates = np.where(values[:, 3] <= 0.4, 0.2, 0.8)
        matrix = encoded({f"f{k}": values[:, k].tolist() for k in range(5)})
        tree = grown_tree(leads_with(rates, rng), matrix, seed)
        is_right = isinstance(tree, Branch) and tree.column.feature == "f3"
        n_right += is_right and abs(tree.boundary - 0.4) <= 0.1
    assert n_right >= 19


def test_the_leaves_have_every_problem_once_and_the_conditions_of_their_path():
    rng = np.random.default_rng(1)
    size = rng.random(N_PROBLEMS)
    kind = rng.choice(["a", "b"], N_PROBLEMS)
    rates = np.where(size <= 0.5, 0.0, np.where(kind == "a", 0.95, 0.05))
    matrix = encoded({"size": size.tolist(), "kind": kind.tolist()})
    tree = grown_tree(leads_with(rates, rng), matrix, seed=0)
    all_leaves = list(leaves(tree))
    assert sorted(np.concatenate([leaf.problems for leaf in all_leaves])) == list(range(N_PROBLEMS))
    assert min(len(leaf.problems) for leaf in all_leaves) >= 10
    winning = max(all_leaves, key=lambda leaf: rates[leaf.problems].mean())
    is_inside = np.ones(N_PROBLEMS, dtype=bool)
    for condition in winning.conditions:
        if condition.category is None:
            is_inside &= (size > condition.boundary) == condition.is_above
        else:
            is_inside &= (kind == condition.category) == condition.is_above
    assert np.flatnonzero(is_inside).tolist() == sorted(winning.problems.tolist())
    assert rates[winning.problems].mean() > 0.9


def test_too_few_problems_are_one_leaf():
    leads = np.repeat([[1.0], [-1.0]], 9, axis=0)
    matrix = encoded({"size": list(range(18))})
    assert isinstance(grown_tree(leads, matrix, seed=0), Leaf)


@pytest.mark.parametrize(
    ("low", "high", "between"),
    [(0.31, 0.34, 0.32), (19.2, 23.0, 20), (2, 3, 2), (5.0, 5.0000001, 5.0)],
)
def test_a_boundary_has_few_digits(low: float, high: float, between: float):
    boundary = shortest_between(low, high)
    assert low <= boundary < high
    assert len(f"{boundary:g}") <= len(f"{between:g}")


def test_the_forest_gives_weight_to_problems_that_are_alike():
    rng = np.random.default_rng(2)
    values = rng.random((N_PROBLEMS, 3))
    leads = leads_with(np.where(values[:, 0] <= 0.5, 0.05, 0.95), rng)
    matrix = encoded({f"f{k}": values[:, k].tolist() for k in range(3)})
    names = [f"p{k}" for k in range(N_PROBLEMS)]
    forest = fitted_forest(leads, matrix, names, seed=0)
    weights = forest.weights({"f0": 0.9, "f1": 0.5, "f2": 0.5})
    assert weights.sum() == pytest.approx(1)
    assert weights[values[:, 0] > 0.5].sum() > 0.75
    assert 1 < effective_number(weights) < N_PROBLEMS
    assert counted_weights(weights).sum() == pytest.approx(effective_number(weights))
    assert forest.problems == tuple(names)
    without = forest.weights({"f0": 0.9, "f1": 0.5, "f2": 0.5}, left_out="p7")
    assert without[7] == 0
    assert without.sum() == pytest.approx(1)
    # The arrays send a problem to the leaves that scikit-learn sent it to.
    own_leaves = [forest.weights_of_row(row)[k] for k, row in enumerate(matrix.values)]
    assert min(own_leaves) > 0


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    original_import = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name.startswith("sklearn"):
            raise ImportError(name)
        return original_import(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without)
    matrix = encoded({"size": [1.0, 2.0, 3.0]})
    with pytest.raises(MissingExtraError, match="scikit-learn.*extra 'features'"):
        fitted_forest(np.zeros((3, 1)), matrix, ["a", "b", "c"], seed=0)
    with pytest.raises(InferenceError, match="no feature differs"):
        fitted_forest(np.zeros((3, 1)), encoded({"size": [1.0] * 3}), ["a", "b", "c"], seed=0)
