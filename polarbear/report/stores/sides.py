"""The stores that are compared: their posteriors, common algorithms and matched times."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path

import numpy as np

from polarbear.errors import ReportError
from polarbear.inference.win_rates import WinRates
from polarbear.report.context import ReportContext
from polarbear.selection.posterior_source import Basis
from polarbear.settings.options import unknown
from polarbear.wording import counted, joined, percent_cell, time, timed

MAX_STORES = 8  # More could not be told apart by their colours.
RELATIVE_TOLERANCE = 1e-9  # within which two times are equal
ALIGNMENTS = ("auto", "units", "share")
SHARE = "share of the budget"


@dataclass(frozen=True)
class Side:
    """One of the compared stores: its name among them, and its posterior."""

    name: str
    context: ReportContext
    basis: Basis

    def win_rates(self, a: str, b: str, places: np.ndarray) -> WinRates:
        """The win rates of a against b at some places of the grid."""
        names = self.basis.algorithms
        return WinRates.of_pair(self.basis.posterior, names.index(a), names.index(b)).at(places)


def sides_of(contexts: Sequence[ReportContext]) -> tuple[Side, ...]:
    """The stores to be compared; the others are compared with the first."""
    paths = [context.store.path.resolve() for context in contexts]
    for i, path in enumerate(paths):
        if path in paths[:i]:
            raise ReportError(f"{path} is named twice; a comparison is of different stores")
    if len(paths) > MAX_STORES:
        raise ReportError(f"{len(paths)} stores are too many to compare; name at most {MAX_STORES}")
    sides = []
    for name, context in zip(short_paths(paths), contexts, strict=True):
        if context.basis is None:
            raise ReportError(
                f"{context.store.path} holds no posterior yet, and a comparison goes by it; "
                f"`polarbear infer {context.store.path}` makes one"
            )
        sides.append(Side(name, context, context.basis))
    return tuple(sides)


def common_algorithms(sides: Sequence[Side]) -> tuple[str, ...]:
    """The algorithms that are in all posteriors, in the order of the first."""
    common = tuple(
        name
        for name in sides[0].basis.algorithms
        if all(name in side.basis.algorithms for side in sides)
    )
    if common:
        return common
    names = "; ".join(f"{side.name} has {joined(side.basis.algorithms)}" for side in sides)
    raise ReportError(
        f"the stores share no algorithm: {names}; `polarbear rename STORE OLD NEW` gives the same "
        "algorithm the same name"
    )


def short_paths(paths: Sequence[Path]) -> list[str]:
    """The shortest ends of paths that differ."""
    for parts in count(1):
        names = ["/".join(path.parts[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            break
    return names


@dataclass(frozen=True)
class Moments:
    """The moments of a comparison, and the nearest time to each on the grid of every store.

    ``at`` are times on the axis that all stores have or, if ``axis`` is None, shares of each
    store's budget. ``places[store, moment]`` are indices into each store's grid; ``exact`` says
    that all grids have these moments.
    """

    at: np.ndarray
    places: np.ndarray
    axis: str | None
    is_log: bool
    exact: bool

    @property
    def label(self) -> str:
        return self.axis or SHARE

    def in_words(self, moment: int) -> str:
        """A moment in words: 236 evaluations, or 12% of the budget."""
        if self.axis is None:
            return f"{self.short(moment)} of the budget"
        return timed(float(self.at[moment]), self.axis)

    def short(self, moment: int) -> str:
        """A moment without its unit: 236, or 12%."""
        at = float(self.at[moment])
        if self.axis is not None:
            return time(at)
        return percent_cell(at, 0 if at >= 0.1 else 1)

    @property
    def span(self) -> str:
        """The first and the last moment, in words."""
        last = self.in_words(len(self.at) - 1)
        return f"{self.short(0)} to {last}" if len(self.at) > 1 else last

    def words(self) -> str:
        """The span of the moments, and how grids that differ are matched."""
        number = f"{counted(len(self.at), 'time')} from " if len(self.at) > 1 else ""
        nearest = "" if self.exact else ", each store at the nearest time of its grid"
        return f"at {number}{self.span}{nearest}"


def matched(sides: Sequence[Side], align: str = "auto") -> Moments:
    """The moments that all stores have.

    By default these are times, where the axes are the same and the grids overlap.
    """
    if align not in ALIGNMENTS:
        raise ReportError(unknown("alignment", align, ALIGNMENTS))
    axes = list(dict.fromkeys(side.basis.axis for side in sides))
    times = [np.asarray(side.basis.times, dtype=float) for side in sides]
    is_log = all(side.context.log_times for side in sides)
    if align != "share" and len(axes) == 1:
        moments = _overlap(times, axes[0], is_log)
        if moments is not None:
            return moments
    if align == "units":
        if len(axes) > 1:
            reason = f"stores count time in {joined(axes)}"
        else:
            reason = "stores' grids have no time in common"
        raise ReportError(f"the {reason}; --align share compares them by share of the budget")
    moments = _overlap([grid / grid[-1] for grid in times], None, is_log)
    assert moments is not None  # Every grid ends with its whole budget.
    return moments


def _overlap(grids: Sequence[np.ndarray], axis: str | None, is_log: bool) -> Moments | None:
    """The coarsest grid's times within the range of all grids; None if there are none."""
    low = max(grid[0] for grid in grids)
    high = min(grid[-1] for grid in grids)
    tolerance = RELATIVE_TOLERANCE * abs(high)
    inside = [grid[(grid >= low - tolerance) & (grid <= high + tolerance)] for grid in grids]
    grids_inside = [i for i, times in enumerate(inside) if len(times)]
    if not grids_inside:
        return None
    coarsest = min(grids_inside, key=lambda i: (len(grids[i]), -len(inside[i])))
    at = inside[coarsest]
    places = np.array([_nearest(grid, at, is_log) for grid in grids])
    # A moment is left out if a grid has the same nearest time for it and for the one before.
    has_new_times = [(places[:, i] != places[:, j]).all() for i, j in pairwise(range(len(at)))]
    kept = np.flatnonzero([True, *has_new_times])
    at = at[kept]
    places = places[:, kept]
    exact = all(
        np.allclose(grid[row], at, rtol=RELATIVE_TOLERANCE)
        for grid, row in zip(grids, places, strict=True)
    )
    return Moments(at, places, axis, is_log, exact)


def _nearest(grid: np.ndarray, at: np.ndarray, is_log: bool) -> np.ndarray:
    """The indices of the times of a grid that are nearest to some moments."""
    if is_log:
        grid = np.log(grid)
        at = np.log(at)
    return np.asarray(np.abs(grid[:, None] - at).argmin(axis=0))
