"""Preferences that stand in a file: budgets of the past, and weights over time."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field

from polarbear.errors import SelectionError
from polarbear.preferences.base import Context, Preference, Valuation, Weighted
from polarbear.preferences.integrals import at_points, normalised, over_density
from polarbear.wording import typed, visible


class PastBudgets(Preference):
    """The budget will be like those of the past, which a file lists."""

    file: str = Field(description="a text file or CSV with one budget a line")

    spoken: ClassVar[tuple[str, ...]] = ("file",)

    def words(self, context: Context) -> str:
        return f"the budget is one of those in {self.file}, each equally likely"

    def on(self, context: Context) -> Valuation:
        budgets = np.array([row[0] for row in _rows(context.folder, self.file, 1, "a budget")])
        inside = budgets[(budgets >= context.first) & (budgets <= context.last)]
        if not len(inside):
            raise SelectionError(
                f"{self.file}: none of its {len(budgets)} budgets is on the grid, which goes "
                f"{context.span}; they go from {typed(budgets.min())} to {typed(budgets.max())}"
            )
        left_out = len(budgets) - len(inside)
        note = f"{left_out} of {len(budgets)} budgets in {self.file} are outside the grid: left out"
        weights = normalised(at_points(context.times, inside).sum(axis=0))
        return Weighted(weights, (note,) if left_out else ())


class Weights(Preference):
    """Each time counts as much as a file says."""

    file: str = Field(description="a CSV with columns t and weight; linear in between, none beyond")

    spoken: ClassVar[tuple[str, ...]] = ("file",)

    def words(self, context: Context) -> str:
        return f"each time counts as much as {self.file} says"

    def on(self, context: Context) -> Valuation:
        rows = np.array(_rows(context.folder, self.file, 2, "t and weight"))
        points, density = rows[np.argsort(rows[:, 0], kind="stable")].T
        for t in points:
            context.check(t, self.file)
        if np.any(np.diff(points) == 0):
            twice = points[1:][np.diff(points) == 0][0]
            raise SelectionError(f"{self.file}: t = {typed(twice)} stands there twice")
        if np.any(density < 0):
            worst = points[density < 0][0]
            raise SelectionError(
                f"{self.file}: the weight at t = {typed(worst)} is negative; a weight is at least "
                "zero, since more winning is never worse"
            )
        if not np.any(density > 0):
            raise SelectionError(f"{self.file}: all weights are zero; at least one must be above")
        times = context.times
        within = times[(times > points[0]) & (times < points[-1])]
        every = np.union1d(points, within)
        return Weighted(over_density(times, every, np.interp(every, points, density)))


def _rows(folder: str, file: str, width: int, what: str) -> list[tuple[float, ...]]:
    """The numbers in a file, row by row; one line at the top may hold titles."""
    path = Path(folder) / file
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            lines = list(csv.reader(stream))
    except OSError as error:
        raise SelectionError(f"cannot read {str(path)[:300]}: {error.strerror}") from None
    except (ValueError, csv.Error):  # not UTF-8, or a path that no file can have
        raise SelectionError(f"{str(path)[:300]} is not a text file in UTF-8") from None
    rows = []
    for place, cells in enumerate(lines, start=1):
        cells = [cell.strip() for cell in cells if cell.strip()]
        if not cells:
            continue
        try:
            row = tuple(float(cell) for cell in cells)
            fits = len(row) == width and all(map(math.isfinite, row))
        except ValueError:
            if place == 1:
                continue
            fits = False
        if not fits:
            raise SelectionError(
                f"{path}, line {place}: expected {what}, found '{visible(','.join(cells)[:60])}'"
            )
        rows.append(row)
    if not rows:
        raise SelectionError(f"{path} has no rows; expected {what} in each")
    return rows
