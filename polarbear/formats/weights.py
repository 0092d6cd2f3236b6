"""The weights in a table: one number an instance, the same in all of its rows."""

from __future__ import annotations

import polars as pl

from polarbear.errors import ImportFailedError
from polarbear.problems.weights import WEIGHT, improper, is_weight


def weights_in(frame: pl.DataFrame, unit: str = "instance") -> dict[str, dict[str, float]]:
    """What is known of each instance by the columns line, instance and weight, if there are any.

    ``unit`` is the column that has one weight for each of its names: a problem's runs share one.
    """
    if "weight" not in frame.columns:
        return {}
    column = frame["weight"]
    if not column.dtype.is_numeric():
        column = column.cast(pl.String).str.strip_chars()
    numbers = column.cast(pl.Float64, strict=False)
    names = frame.select(
        "line",
        "instance",
        unit=pl.coalesce(pl.col(unit).cast(pl.String), "instance"),
        found=numbers,
    ).with_columns(written=column)
    first: dict[str, float] = {}
    known: dict[str, dict[str, float]] = {}
    rows = names.unique(["instance", "unit", "found"], keep="first", maintain_order=True)
    for line, instance, name, found, written in rows.iter_rows():
        if found is None or not is_weight(found):
            value = written if found is None else found
            raise ImportFailedError(f"line {line}: {improper(value, instance)}")
        if first.setdefault(name, found) != found:
            raise ImportFailedError(
                f"line {line}: '{name}' has the weight {found:g}, but {first[name]:g} before; "
                f"{'an instance' if unit == 'instance' else 'a problem'} has one"
            )
        known[instance] = {WEIGHT: found}
    return known
