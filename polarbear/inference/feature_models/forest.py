"""A forest over features: how much each past problem tells about a new instance.

The trees split problems at random boundaries (extremely randomised trees, Geurts, Ernst and
Wehenkel 2006) so that those in a leaf have similar scores, the shares of rivals that each algorithm
beats at each time. Leaves are small, and the number of trees smooths. The weight of a problem for a
new instance is the share that it has of the instance's leaf, averaged over trees (Meinshausen 2006,
Athey, Tibshirani and Wager 2019). These weights enter the Bayesian bootstrap: with weights w_i that
sum to 1, n = 1 / sum of w_i^2 is the effective number of problems, and problem i counts as n w_i.

scikit-learn fits the trees. A fitted forest is arrays only, so it needs nothing but NumPy.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from polarbear.errors import InferenceError, MissingExtraError
from polarbear.inference.feature_models.encoding import Column, FeatureMatrix, encode_instance
from polarbear.inference.feature_models.split_test import principal_components

N_TREES = 300
SMALLEST_LEAF = 2  # problems
SHARE_OF_COLUMNS = 1 / 3  # that each split chooses from
NO_COLUMN = -1  # of a leaf


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as arrays over all of their nodes, and the leaf of each problem in each tree.

    A node with ``column`` NO_COLUMN is a leaf. Otherwise instances whose value in the column is at
    most ``boundary`` go to the node ``below``, others to ``above``. ``roots`` are the first nodes
    of the trees, ``leaves`` are [tree, problem].
    """

    columns: tuple[Column, ...]
    problems: tuple[str, ...]
    column: np.ndarray
    boundary: np.ndarray
    below: np.ndarray
    above: np.ndarray
    roots: np.ndarray
    leaves: np.ndarray

    def weights(
        self, features: Mapping[str, str | float], left_out: str | None = None
    ) -> np.ndarray:
        """The weights of all problems for an instance with these features; they sum to 1.

        The problem ``left_out`` has no weight.
        """
        row = encode_instance(self.columns, features)
        index = None if left_out is None else self.problems.index(left_out)
        return self.weights_of_row(row, index)

    def weights_of_row(self, row: np.ndarray, left_out: int | None = None) -> np.ndarray:
        """The weights of all problems for an instance with these values of the columns.

        Trees count in whose leaf there is a problem that is not left out.
        """
        is_neighbour = self.leaves == self._leaves_of(row)[:, np.newaxis]
        if left_out is not None:
            is_neighbour[:, left_out] = False
        n_neighbours = is_neighbour.sum(axis=1, keepdims=True)
        has_neighbours = n_neighbours[:, 0] > 0
        if not has_neighbours.any():
            raise InferenceError("no other problem is similar by its features")
        shares = is_neighbour[has_neighbours] / n_neighbours[has_neighbours]
        return np.asarray(shares.mean(axis=0))

    def _leaves_of(self, row: np.ndarray) -> np.ndarray:
        """The leaf of an instance in each tree."""
        nodes = self.roots
        while True:
            column = self.column[nodes]
            is_inside = column != NO_COLUMN
            if not is_inside.any():
                return nodes
            goes_below = row[np.maximum(column, 0)] <= self.boundary[nodes]
            following = np.where(goes_below, self.below[nodes], self.above[nodes])
            nodes = np.where(is_inside, following, nodes)


def effective_number(weights: np.ndarray) -> float:
    """The effective number of problems with these weights (Kish 1965)."""
    return float(weights.sum() ** 2 / np.square(weights).sum())


def counted_weights(weights: np.ndarray) -> np.ndarray:
    """The number of problems that each problem counts as: weights that sum to their effective
    number."""
    return np.asarray(weights / weights.sum() * effective_number(weights))


def fitted_forest(
    scores: np.ndarray, matrix: FeatureMatrix, problems: Sequence[str], seed: int
) -> Forest:
    """The forest of problems by their scores[problem, item] and features.

    Scores are NaN where they are not known.
    """
    if not matrix.columns:
        raise InferenceError("no feature differs between problems, so none can guide the choice")
    regressor = _regressor(seed)
    values = matrix.values.astype(np.float32)
    regressor.fit(values, principal_components(scores))
    trees = [estimator.tree_ for estimator in regressor.estimators_]
    sizes = np.array([tree.node_count for tree in trees], dtype=np.int64)
    roots = np.cumsum(sizes) - sizes
    is_leaf = np.concatenate([tree.children_left < 0 for tree in trees])
    column = np.concatenate([tree.feature for tree in trees])
    offset = np.repeat(roots, sizes)
    return Forest(
        columns=matrix.columns,
        problems=tuple(problems),
        column=np.where(is_leaf, NO_COLUMN, column).astype(np.int32),
        boundary=np.concatenate([tree.threshold for tree in trees]),
        below=np.concatenate([tree.children_left for tree in trees]) + offset,
        above=np.concatenate([tree.children_right for tree in trees]) + offset,
        roots=roots,
        leaves=regressor.apply(values).T + roots[:, np.newaxis],
    )


def _regressor(seed: int) -> Any:
    """scikit-learn's forest, not yet fitted."""
    try:
        from sklearn.ensemble import ExtraTreesRegressor
    except ImportError:
        raise MissingExtraError("a choice by features", "scikit-learn", "features") from None
    return ExtraTreesRegressor(
        n_estimators=N_TREES,
        min_samples_leaf=SMALLEST_LEAF,
        max_features=SHARE_OF_COLUMNS,
        random_state=seed,
    )
