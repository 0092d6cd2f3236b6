"""The features of instances that a configuration asks for: a table, a function, or a landscape."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from polarbear.errors import ProblemError
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Instance, Problem, Setting, Suite
from polarbear.problems.feature_sources import LANDSCAPE
from polarbear.problems.landscape import landscape_features
from polarbear.settings.grid import EVALUATIONS
from polarbear.settings.names import flaw_in_name
from polarbear.settings.options import describe
from polarbear.settings.user_code import load_function
from polarbear.wording import joined, visible

INSTANCE = "instance"
COST = "cost"  # the column, or the key of a function's result, that holds the cost of all features
MAX_TABLE_BYTES = 2**28
MISSING = ("", "NA", "nan", "NaN", "?")  # texts in a CSV file that stand for no value
LONGEST_TEXT = 200  # characters of a feature's name, or of a category
FeatureValue = float | str
FeatureRow = dict[str, object]  # a row of the store's table of features


@dataclass(frozen=True)
class GivenFeatures:
    """The features of one instance, and what their computation takes on the axis."""

    values: Mapping[str, FeatureValue]
    cost: float = 0.0

    def rows(self, instance: str) -> Iterator[FeatureRow]:
        """Rows of the table of features, which share the cost."""
        for name, value in self.values.items():
            is_text = isinstance(value, str)
            yield {
                "instance": instance,
                "name": name,
                "value": None if is_text else value,
                "category": value if is_text else None,
                "cost": self.cost / len(self.values),
            }


def features_in_table(path: Path) -> dict[str, GivenFeatures]:
    """The features of each instance in a table with a column ``instance``.

    Other columns are features, of numbers or of texts; a column ``cost`` is what all of them take.
    """
    table = _read_table(path)
    if INSTANCE not in table.columns:
        raise ProblemError(
            f"{path} has no column '{INSTANCE}'; it has: {joined(table.columns[:20])}"
        )
    names = [name for name in table.columns if name not in (INSTANCE, COST)]
    if not names:
        raise ProblemError(f"{path} has no column besides '{INSTANCE}': each feature is a column")
    if COST in table.columns and not table[COST].dtype.is_numeric():
        raise ProblemError(f"{path}: the column '{COST}' has no numbers")
    features_by_instance: dict[str, GivenFeatures] = {}
    for row in table.iter_rows(named=True):
        instance = str(row[INSTANCE])
        if instance in features_by_instance:
            raise ProblemError(f"{path} has two rows for the instance '{visible(instance)}'")
        try:
            features_by_instance[instance] = given_features(row)
        except ValueError as error:
            raise ProblemError(f"{path}, instance '{visible(instance)}': {error}") from None
    return features_by_instance


def _read_table(path: Path) -> pl.DataFrame:
    try:
        if path.stat().st_size > MAX_TABLE_BYTES:
            raise ProblemError(f"{path} has more than {MAX_TABLE_BYTES:,} bytes")
        if path.suffix == ".parquet":
            return pl.read_parquet(path)
        return pl.read_csv(
            path, infer_schema_length=None, null_values=["", "NA", "nan", "NaN", "?"]
        )
    except OSError as error:
        raise ProblemError(f"cannot read {path}: {error.strerror or error}") from None
    except pl.exceptions.PolarsError as error:
        first_line = str(error).partition("\n")[0]
        raise ProblemError(f"cannot read {path}: {first_line}") from None


def given_features(values: Mapping[str, Any], cost: float = 0.0) -> GivenFeatures:
    """Features by name; those without a value are left out. A key ``cost`` replaces the cost."""
    features: dict[str, FeatureValue] = {}
    for name, value in values.items():
        if name in (INSTANCE, COST):
            continue
        _check_text(name)
        if isinstance(value, bool | np.bool_):
            features[name] = "yes" if value else "no"
        elif isinstance(value, str):
            text = value.strip()
            if text:
                _check_text(text)
                features[name] = text
        elif isinstance(value, int | float | np.number):
            if math.isfinite(value):
                features[name] = float(value)
        elif value is not None:
            raise ValueError(f"the feature '{name}' is {describe(value)}, not a number or a text")
    given_cost = values.get(COST)
    total = cost if given_cost is None else float(given_cost)
    if not (math.isfinite(total) and total >= 0):
        raise ValueError(f"the cost of its features is {total:g}, but must be 0 or more")
    return GivenFeatures(features, total)


def _check_text(text: str) -> None:
    """Raise a ValueError if the name of a feature, or a category, cannot be displayed."""
    flaw = flaw_in_name(text, LONGEST_TEXT)
    if flaw:
        raise ValueError(f"'{visible(text[:60])}' is not the name of a feature or category: {flaw}")


class FeatureFunction:
    """Computes the features of single instances, and measures their cost.

    The cost is the number of evaluations that the computation made, or on an axis of time the
    seconds that it took by ``clock``.
    """

    def __init__(
        self, suite: Suite, setting: Setting, source: str, clock: Callable[[], float]
    ) -> None:
        self._suite = suite
        self._setting = setting
        self._source = source
        self._clock = clock
        self._function: Callable[..., Any] | None = None
        if source != LANDSCAPE:
            self._function = load_function(source, setting.folder)

    def __call__(self, instance: Instance) -> GivenFeatures:
        """The features of an instance; ValueError if what the function returned has none."""
        problem = self._suite.build(instance.spec, self._setting)
        counter = _Counter()
        if isinstance(problem, Problem):
            problem = counter.counting(problem)
        start = self._clock()
        if self._function is not None:
            returned = self._function(problem)
        elif isinstance(problem, Problem):
            returned = landscape_features(problem, instance.id, self._suite.maximise)
        else:
            raise ValueError("the features of a landscape need a box, which this problem lacks")
        seconds = self._clock() - start
        if not isinstance(returned, Mapping):
            raise ValueError(
                f"'{self._source}' returned {describe(returned)}; expected a mapping from names of "
                "features to numbers or texts"
            )
        axis = self._setting.budget.axis
        cost = seconds if self._setting.budget.is_timed else 0.0
        if axis == EVALUATIONS:
            cost = float(counter.count)
        return given_features(returned, cost)


class _Counter:
    """Counts the evaluations of a problem."""

    def __init__(self) -> None:
        self.count = 0

    def counting(self, problem: Problem) -> Problem:
        """The same problem, whose evaluations are counted."""
        evaluate = problem.evaluate
        evaluate_many = problem.evaluate_many

        def counted(x: Any) -> Any:
            self.count += 1
            return evaluate(x)

        def counted_many(points: Floats) -> Floats:
            self.count += len(points)
            assert evaluate_many is not None
            return evaluate_many(points)

        many = None if evaluate_many is None else counted_many
        return replace(problem, evaluate=counted, evaluate_many=many)
