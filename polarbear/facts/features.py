"""The features of a store's instances: what suites know, and the table of features.

A feature is a number or a category. Its cost is what its computation takes on the axis, and is 0
for what a suite knows, since that is known before anything is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.errors import InferenceError
from polarbear.numerics.arrays import Floats
from polarbear.problems.specs import features_in
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk

Categories = tuple[str | None, ...]
FeatureValue = float | str


@dataclass(frozen=True, eq=False)
class FeatureColumn:
    """A feature of all instances: numbers, NaN where missing, or categories, None where missing."""

    name: str
    values: Floats | Categories

    @property
    def is_numeric(self) -> bool:
        return isinstance(self.values, np.ndarray)

    @property
    def is_missing(self) -> np.ndarray:
        """Whether an instance has no value: bool[instance]."""
        if isinstance(self.values, np.ndarray):
            return np.isnan(self.values)
        return np.array([category is None for category in self.values], dtype=bool)

    def value(self, row: int) -> FeatureValue | None:
        """The value of an instance; None if it is missing."""
        if isinstance(self.values, np.ndarray):
            number = float(self.values[row])
            return None if np.isnan(number) else number
        return self.values[row]


@dataclass(frozen=True, eq=False)
class Features:
    """The features of some instances, in columns.

    ``costs`` is what the computation of all features of an instance takes, on the axis of the
    store; ``costs_of_columns`` has those of each feature, by its name.
    """

    instances: tuple[str, ...]
    columns: tuple[FeatureColumn, ...]
    costs: Floats
    costs_of_columns: Mapping[str, Floats]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def column(self, name: str) -> FeatureColumn:
        """The feature of this name; an error that suggests the nearest if there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        if not self.columns:
            raise InferenceError(
                f"there is no feature '{name}': no instance of the store has features; give them "
                "with `instances: {features: FILE.csv}`, or import them"
            )
        raise InferenceError(unknown("feature", name, self.names))

    def of(self, instances: Sequence[str]) -> Features:
        """The features of these instances, in this order; missing where one is not there."""
        row_of = {instance: row for row, instance in enumerate(self.instances)}
        values: dict[str, dict[str, FeatureValue]] = {instance: {} for instance in instances}
        costs: dict[str, dict[str, float]] = {instance: {} for instance in instances}
        for column in self.columns:
            costs_of_column = self.costs_of_columns[column.name]
            for instance in instances:
                row = row_of.get(instance)
                value = None if row is None else column.value(row)
                if row is not None and value is not None:
                    values[instance][column.name] = value
                    costs[instance][column.name] = float(costs_of_column[row])
        return _in_columns(instances, self.names, values, costs)


def features(store: StoreOnDisk) -> Features:
    """The features of all instances of a store, in the order of its instances.

    A feature in the table of features replaces that of the suite with the same name.
    """
    values: dict[str, dict[str, FeatureValue]] = {}
    costs: dict[str, dict[str, float]] = {}
    for instance, spec in store.specs().items():
        values[instance] = dict(features_in(spec))
        costs[instance] = {}
    for instance, name, number, category, cost in store.features().iter_rows():
        if instance in values:
            values[instance][name] = category if number is None else number
            costs[instance][name] = cost
    names = dict.fromkeys(name for of_instance in values.values() for name in of_instance)
    return _in_columns(tuple(values), tuple(names), values, costs)


def _in_columns(
    instances: Sequence[str],
    names: Iterable[str],
    values: Mapping[str, Mapping[str, FeatureValue]],
    costs: Mapping[str, Mapping[str, float]],
) -> Features:
    """Features from the values and costs of each instance by name.

    A feature is numeric if all its values are numbers.
    """
    columns = []
    costs_of_columns = {}
    for name in names:
        of_instances = [values[instance].get(name) for instance in instances]
        columns.append(_column(name, of_instances))
        costs_of_columns[name] = np.array(
            [costs[instance].get(name, 0.0) for instance in instances]
        )
    total = np.zeros(len(instances))
    for costs_of_column in costs_of_columns.values():
        total = total + costs_of_column
    return Features(tuple(instances), tuple(columns), total, costs_of_columns)


def _column(name: str, values: Sequence[FeatureValue | None]) -> FeatureColumn:
    if any(isinstance(value, str) for value in values):
        categories = tuple(None if value is None else category_of(value) for value in values)
        return FeatureColumn(name, categories)
    numbers = [np.nan if value is None else float(value) for value in values]
    return FeatureColumn(name, np.array(numbers, dtype=float))


def category_of(value: FeatureValue) -> str:
    """A value as a category: a whole number has no decimal point."""
    return value if isinstance(value, str) else f"{value:g}"
