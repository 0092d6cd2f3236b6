"""The split of problems that separates their duels best, and whether chance explains it.

A split at a boundary of a feature is judged by all pairs and times together: it is the one that
reduces the squared error of the leads (win 1, draw 0, loss -1) most,

    Q(k) = N / (k (N - k)) |S_k|^2,

where S_k is the sum of the centred leads of the k problems below the boundary. The highest Q over
all features and boundaries is compared with its distribution when problems are permuted, so its
p-value is corrected for the number of features and boundaries tried, and holds jointly over time.
"""

from dataclasses import dataclass

import numpy as np

from polarbear.inference.feature_models.encoding import FeatureMatrix

ALPHA = 0.05  # P(a split) where no feature matters
N_PERMUTATIONS = 199
MOST_EXCEEDANCES = int(ALPHA * (N_PERMUTATIONS + 1)) - 1  # of a p-value of at most ALPHA
MAX_COMPONENTS = 16  # principal components of the leads that enter the test
MAX_NUMBERS = 2**22  # in one table of cumulative sums: bounds memory


@dataclass(frozen=True)
class Split:
    """Problems whose ``column`` is at most ``boundary`` are below, all others above.

    ``p_value`` is corrected for the number of features and boundaries.
    """

    column: int
    boundary: float
    p_value: float


def tested_split(
    leads: np.ndarray, matrix: FeatureMatrix, smallest: int, rng: np.random.Generator
) -> Split | None:
    """The best split, if its p-value is at most ALPHA.

    ``leads`` are [problem, item], NaN where a pair has not met. Each side has at least ``smallest``
    problems.
    """
    scores = principal_components(leads)
    orders = _Orders.of(matrix.values, smallest)
    if not orders.is_boundary.any() or not scores.any():
        return None
    gains = orders.gains(scores)
    column, index = np.unravel_index(int(gains.argmax()), gains.shape)
    highest = gains[column, index]
    n_higher = 0
    for _ in range(N_PERMUTATIONS):
        permuted = scores[rng.permutation(len(scores))]
        n_higher += bool(orders.gains(permuted).max() >= highest)
        if n_higher > MOST_EXCEEDANCES:
            return None
    return Split(
        column=int(column),
        boundary=orders.boundary(int(column), int(index)),
        p_value=(n_higher + 1) / (N_PERMUTATIONS + 1),
    )


def principal_components(table: np.ndarray) -> np.ndarray:
    """The centred rows of a table, by their first principal components: [problem, component].

    NaN counts as the mean of its column. Distances between problems change little, and the test
    needs far less time.
    """
    is_known = np.isfinite(table)
    n_known = np.maximum(is_known.sum(axis=0), 1)
    mean = np.where(is_known, table, 0).sum(axis=0) / n_known
    centred = np.where(is_known, table - mean, 0)
    if centred.shape[1] <= MAX_COMPONENTS:
        return centred
    left_vectors, singular_values, _ = np.linalg.svd(centred, full_matrices=False)
    components = left_vectors[:, :MAX_COMPONENTS] * singular_values[:MAX_COMPONENTS]
    return np.asarray(components)


@dataclass(frozen=True, eq=False)
class _Orders:
    """The problems in the order of each feature.

    ``order`` is [column, rank], ``values`` are sorted accordingly, and ``is_boundary`` says where
    a boundary may follow a rank: between different values, with enough problems on both sides.
    """

    order: np.ndarray
    values: np.ndarray
    is_boundary: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, smallest: int) -> "_Orders":
        order = values.argsort(axis=0, kind="stable").T
        in_order = np.take_along_axis(values.T, order, axis=1)
        n_below = np.arange(1, len(values))
        is_large_enough = (n_below >= smallest) & (len(values) - n_below >= smallest)
        is_boundary = (in_order[:, 1:] > in_order[:, :-1]) & is_large_enough
        return cls(order, in_order, is_boundary)

    def gains(self, scores: np.ndarray) -> np.ndarray:
        """Q of each boundary: [column, number below - 1]; 0 where there is none."""
        n_columns, n_problems = self.order.shape
        n_below = np.arange(1, n_problems)
        factor = n_problems / (n_below * (n_problems - n_below))
        gains = np.zeros((n_columns, n_problems - 1))
        stride = max(1, MAX_NUMBERS // scores.size)
        for start in range(0, n_columns, stride):
            columns = slice(start, start + stride)
            sums = scores[self.order[columns, :-1]].cumsum(axis=1)
            gains[columns] = factor * np.square(sums).sum(axis=2)
        return np.where(self.is_boundary, gains, 0)

    def boundary(self, column: int, index: int) -> float:
        """A number with few digits between the values on both sides of a boundary."""
        return shortest_between(self.values[column, index], self.values[column, index + 1])


def shortest_between(low: float, high: float) -> float:
    """The number with the fewest significant digits in [low, high)."""
    middle = low + (high - low) / 2
    for digits in range(1, 17):
        rounded = float(f"{middle:.{digits}g}")
        if low <= rounded < high:
            return rounded
    return float(low)
