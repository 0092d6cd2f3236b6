"""Features as a matrix of numbers, one column for each number and for each category."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.errors import InferenceError
from polarbear.settings.options import unknown


@dataclass(frozen=True)
class Column:
    """A column of the matrix: a feature, or whether a feature has a category.

    ``median`` replaces a missing value.
    """

    feature: str
    category: str | None
    median: float


@dataclass(frozen=True, eq=False)
class FeatureMatrix:
    """Values of features without gaps: values[problem, column]."""

    columns: tuple[Column, ...]
    values: np.ndarray

    def rows(self, problems: np.ndarray) -> "FeatureMatrix":
        """The matrix of some problems."""
        return FeatureMatrix(self.columns, self.values[problems])


FeatureValues = Sequence[float] | Sequence[str | None] | np.ndarray


def encoded(features: Mapping[str, FeatureValues]) -> FeatureMatrix:
    """The matrix of features by name, each a number or a text for every problem.

    A missing number (NaN) counts as the median of the others, a missing text as no category.
    Features with the same value everywhere are left out.
    """
    columns = []
    values = []
    for name, given_values in features.items():
        for column, column_values in _columns_of(name, given_values):
            if column_values.min(initial=np.inf) < column_values.max(initial=-np.inf):
                columns.append(column)
                values.append(column_values)
    n_problems = len(next(iter(features.values()), ()))
    matrix = np.stack(values, axis=1) if values else np.empty((n_problems, 0))
    return FeatureMatrix(tuple(columns), matrix)


def _columns_of(name: str, given_values: FeatureValues) -> list[tuple[Column, np.ndarray]]:
    """The columns of a feature, with their values."""
    is_text = any(isinstance(value, str) for value in given_values)
    if is_text:
        categories = sorted({value for value in given_values if isinstance(value, str)})
        return [
            (
                Column(name, category, 0.0),
                np.array([float(value == category) for value in given_values]),
            )
            for category in categories
        ]
    numbers = np.asarray(given_values, dtype=float)
    is_known = np.isfinite(numbers)
    if not is_known.any():
        return []
    median = float(np.median(numbers[is_known]))
    return [(Column(name, None, median), np.where(is_known, numbers, median))]


def encode_instance(columns: Sequence[Column], features: Mapping[str, str | float]) -> np.ndarray:
    """The row of a new instance, by the columns of a matrix.

    A feature that is not given counts as missing.
    """
    names = list(dict.fromkeys(column.feature for column in columns))
    for name in features:
        if name not in names:
            raise InferenceError(unknown("feature", name, names))
    row = np.empty(len(columns))
    for k, column in enumerate(columns):
        value = features.get(column.feature)
        if value is None:
            row[k] = column.median
        elif column.category is not None:
            row[k] = float(str(value) == column.category)
        else:
            row[k] = _number(column.feature, value)
    return row


def _number(feature: str, value: str | float) -> float:
    try:
        return float(value)
    except ValueError:
        raise InferenceError(f"the feature '{feature}' is a number, found '{value}'") from None
