"""Checks of the values in rows of tables, as far as types do not cover them."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
from pydantic import BaseModel

from polarbear.execution.outcome import Status
from polarbear.problems.specs import OPTIMUM, PROBLEM
from polarbear.problems.weights import WEIGHT, is_weight

LATEST = 253402300799999999  # microseconds of the last moment that Python can represent
LISTS = (("t", "y"), ("algorithm", "position"))  # columns with lists of the same length


class _Fingerprint(BaseModel):
    """What readers need of the source of a run."""

    options: dict[str, Any]
    files: dict[str, str] | None
    packages: dict[str, str]


def check(rows: pl.DataFrame) -> None:
    """Raise a ValueError if a value in any column is none that PolarBear writes."""
    there = set(rows.columns)
    if "status" in there and (unknown := set(rows["status"]) - set(Status)):
        raise ValueError(f"{min(unknown)} is not a status of a run")
    for name in there & {"started", "since"}:
        if not rows[name].cast(pl.Int64).is_between(0, LATEST).all():
            raise ValueError(f"{name} is beyond all calendars")
    for one, other in LISTS:
        if {one, other} <= there and isinstance(rows[one].dtype, pl.List):
            pair = rows[one].list, rows[other].list
            lengths = [
                *(lists.len() for lists in pair),
                *(lists.drop_nulls().list.len() for lists in pair),
            ]
            if not all(lengths[0].equals(length) for length in lengths):
                raise ValueError(f"{one} and {other} do not have the same number of values")
    for spec in rows["spec"] if "spec" in there else ():
        _check_spec(json.loads(spec))
    for made_by in rows["fingerprint"].drop_nulls().unique() if "fingerprint" in there else ():
        _Fingerprint.model_validate(json.loads(made_by))


def _check_spec(spec: object) -> None:
    if not isinstance(spec, dict):
        raise ValueError("a specification is not a JSON object")
    if not isinstance(spec.get(PROBLEM, ""), str) or not is_weight(spec.get(WEIGHT, 1)):
        raise ValueError(f"{PROBLEM} or {WEIGHT} of a specification has another type")
    optimum = spec.get(OPTIMUM)
    if optimum is not None and not isinstance(optimum, int | float):
        raise ValueError(f"{OPTIMUM} of a specification is not a number")
