"""Features in the columns of a table of runs or rankings, by the prefix of their names."""

from collections.abc import Mapping, Sequence

import polars as pl

from polarbear.errors import ImportFailedError
from polarbear.formats.table_files import TableFile
from polarbear.problems.base import Instance
from polarbear.problems.instance_features import GivenFeatures, given_features
from polarbear.problems.specs import PROBLEM
from polarbear.store import StoreOnDisk
from polarbear.store.catalog import empty
from polarbear.store.tables import FEATURES
from polarbear.wording import visible

PREFIX = "feature_"
COST = f"{PREFIX}cost"


def feature_columns(schema: pl.Schema, prefix: str) -> list[str]:
    """The columns of a table that are features."""
    if not prefix:
        return []
    return [name for name in schema if name.startswith(prefix) and name != prefix]


def features_in_columns(
    table: TableFile, instance_column: str, prefix: str, instances: Sequence[Instance]
) -> pl.DataFrame | None:
    """The features of imported instances, from the columns of their table; None if it has none.

    All rows of an instance have the same features, or none.
    """
    columns = feature_columns(table.schema, prefix)
    if not columns:
        return None
    rows = table.read([instance_column, *columns]).select(
        pl.col(instance_column).cast(pl.String).str.strip_chars(),
        *(_as_number_or_text(table.schema[name], name) for name in columns),
    )
    features_by_instance: dict[str, GivenFeatures] = {}
    values_of_instances = rows.group_by(instance_column, maintain_order=True).agg(
        pl.col(columns).drop_nulls().unique(maintain_order=True)
    )
    for row in values_of_instances.iter_rows(named=True):
        name = row[instance_column]
        values = {}
        for column in columns:
            if len(row[column]) > 1:
                raise ImportFailedError(
                    f"'{visible(column)}' has several values on the instance '{visible(name)}' in "
                    f"{table.path}: a feature has one"
                )
            values[column.removeprefix(prefix)] = _value(row[column])
        try:
            features_by_instance[name] = given_features(values)
        except ValueError as error:
            raise ImportFailedError(f"{table.path}: {error}") from None
    return feature_table(features_by_instance, instances)


def _as_number_or_text(kind: pl.DataType, name: str) -> pl.Expr:
    column = pl.col(name)
    if kind.is_numeric() or kind == pl.Boolean:
        return column
    text = column.cast(pl.String).str.strip_chars()
    return pl.when(text != "").then(text).alias(name)


def _value(values: Sequence[float | str]) -> float | str | None:
    """The only value, as a number where it is one."""
    if not values:
        return None
    value = values[0]
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return value


def feature_table(
    features_by_instance: Mapping[str, GivenFeatures], instances: Sequence[Instance]
) -> pl.DataFrame | None:
    """The table of the features of imported instances, which are named in the source as given.

    The instances of several seeds have the features of their problem.
    """
    rows = []
    for instance in instances:
        problem = str(instance.spec.get(PROBLEM, ""))
        for name in (instance.id, problem, instance.id.rpartition("#")[0]):
            if name in features_by_instance:
                rows += list(features_by_instance[name].rows(instance.id))
                break
    return pl.DataFrame(rows, schema=empty(FEATURES).schema) if rows else None


def exported_columns(store: StoreOnDisk) -> dict[str, dict[str, object]]:
    """The columns of an export, with the features of each instance and their cost, if any."""
    features = store.features()
    columns: dict[str, dict[str, object]] = {}
    for instance, name, number, category, _ in features.iter_rows():
        value = category if number is None else number
        columns.setdefault(f"{PREFIX}{name}", {})[instance] = value
    total = features.group_by("instance").agg(pl.col("cost").sum())
    if total["cost"].sum() > 0:
        columns[COST] = dict(total.iter_rows())
    return columns
