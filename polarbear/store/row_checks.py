"""Checks of the values in rows of tables, as far as types do not cover them."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
from pydantic import BaseModel

from polarbear.execution.outcome import Status
from polarbear.problems.specs import OPTIMUM, PROBLEM
from polarbear.problems.weights import WEIGHT, is_weight
from polarbear.store.tables import OBJECTIVE

LATEST = 253402300799999999  # microseconds of the last moment that Python can represent
# Columns with lists of the same length.
LISTS = (("t", "y"), ("algorithm", "position"))


class _Fingerprint(BaseModel):
    """The fields of a run's source that readers need."""

    options: dict[str, Any]
    files: dict[str, str] | None
    packages: dict[str, str]


def check(rows: pl.DataFrame) -> None:
    """Raise a ValueError if a value in any column is none that PolarBear writes."""
    columns = set(rows.columns)
    if "status" in columns:
        unknown_statuses = set(rows["status"].unique()) - set(Status)
        if unknown_statuses:
            raise ValueError(f"{min(unknown_statuses)} is not a status of a run")
    for name in columns & {"started", "since"}:
        if not rows[name].cast(pl.Int64).is_between(0, LATEST).all():
            raise ValueError(f"{name} is beyond all calendars")
    if {"t", "violation"} <= columns:
        violated = rows.filter(pl.col("violation").is_not_null())
        _check_lengths(violated["t"], violated["violation"])
        if not (violated["violation"].explode().drop_nulls() >= 0).all():
            raise ValueError("a violation is negative")
    objectives = [("t", name) for name in columns if OBJECTIVE.fullmatch(name)]
    for first, second in (*LISTS, *objectives):
        if {first, second} <= columns and isinstance(rows[first].dtype, pl.List):
            _check_lengths(rows[first], rows[second])
    if "spec" in columns:
        for spec in rows["spec"]:
            _check_spec(json.loads(spec))
    if {"value", "category", "cost"} <= columns:
        _check_features(rows)
    if "fingerprint" in columns:
        for fingerprint in rows["fingerprint"].drop_nulls().unique():
            _Fingerprint.model_validate(json.loads(fingerprint))


def _check_lengths(first: pl.Series, second: pl.Series) -> None:
    """Raise a ValueError unless two columns have lists of the same length, without nulls."""
    has_nulls = _has_nulls(first) or _has_nulls(second)
    if has_nulls or not first.list.len().equals(second.list.len()):
        raise ValueError(f"{first.name} and {second.name} do not have the same number of values")


def _has_nulls(lists: pl.Series) -> bool:
    """Whether a list has a null in it; an empty list, or none at all, is exploded to one."""
    n_empty = (lists.list.len().fill_null(0) == 0).sum()
    return lists.explode().null_count() > n_empty


def _check_features(rows: pl.DataFrame) -> None:
    """Raise a ValueError unless each feature has one finite value or category, and a cost."""
    if not (rows["value"].is_null() ^ rows["category"].is_null()).all():
        raise ValueError("a feature has a value and a category, or none of both")
    for name in ("value", "cost"):
        if not rows[name].drop_nulls().is_finite().all():
            raise ValueError(f"the {name} of a feature is not a finite number")
    if not (rows["cost"] >= 0).all():
        raise ValueError("the cost of a feature is negative")


def _check_spec(spec: object) -> None:
    if not isinstance(spec, dict):
        raise ValueError("a specification is not a JSON object")
    if not isinstance(spec.get(PROBLEM, ""), str) or not is_weight(spec.get(WEIGHT, 1)):
        raise ValueError(f"{PROBLEM} or {WEIGHT} of a specification has another type")
    optimum = spec.get(OPTIMUM)
    if optimum is not None and not isinstance(optimum, int | float):
        raise ValueError(f"{OPTIMUM} of a specification is not a number")
