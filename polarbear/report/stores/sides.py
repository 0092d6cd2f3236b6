"""The stores that are compared: their posteriors, common algorithms and matched times."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from pathlib import Path

import numpy as np

from polarbear.errors import ReportError
from polarbear.report.context import ReportContext
from polarbear.selection.posterior_source import Basis
from polarbear.settings.options import unknown
from polarbear.wording import counted, joined, percent_cell, time, timed

MAX_STORES = 8  # with distinguishable colours
ALIGNMENTS = ("auto", "units", "share")
SHARE = "share of the budget"


@dataclass(frozen=True)
class Side:
    """One of the compared stores: its name among them, and its posterior."""

    name: str
    context: ReportContext
    basis: Basis

    def wins(self, a: str, b: str, places: np.ndarray) -> np.ndarray:
        """P(a beats b on a new instance)[draw, place]."""
        names = self.basis.algorithms
        won = self.basis.posterior.head_to_head(names.index(a), names.index(b))
        return won[:, places].astype(float)


def sides_of(contexts: Sequence[ReportContext]) -> tuple[Side, ...]:
    """The stores to be compared; the others are compared with the first."""
    paths = [context.store.path.resolve() for context in contexts]
    for place, path in enumerate(paths):
        if path in paths[:place]:
            raise ReportError(f"{path} is named twice; a comparison is of different stores")
    if len(paths) > MAX_STORES:
        raise ReportError(f"{len(paths)} stores are too many to compare; name at most {MAX_STORES}")
    made = []
    for name, context in zip(short_paths(paths), contexts, strict=True):
        if context.basis is None:
            raise ReportError(
                f"{context.store.path} holds no posterior yet, and a comparison goes by it; "
                f"`polarbear infer {context.store.path}` makes one"
            )
        made.append(Side(name, context, context.basis))
    return tuple(made)


def common_algorithms(sides: Sequence[Side]) -> tuple[str, ...]:
    """Those that all posteriors know, in the order of the first."""
    first, *others = (side.basis.algorithms for side in sides)
    common = tuple(name for name in first if all(name in known for known in others))
    if common:
        return common
    held = "; ".join(f"{side.name} has {joined(side.basis.algorithms)}" for side in sides)
    raise ReportError(
        f"the stores share no algorithm: {held}; `polarbear rename STORE OLD NEW` gives the same "
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
    """Moments of the comparison, and where on its own grid each store is looked at.

    ``at`` is a time on the axis that all stores have or, where ``axis`` is None, a share of each
    store's budget; ``places[store, moment]`` are the nearest times of each grid, which are
    ``exact`` where all grids have these moments.
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
        value = float(self.at[moment])
        return timed(value, self.axis) if self.axis else f"{self.short(moment)} of the budget"

    def short(self, moment: int) -> str:
        value = float(self.at[moment])
        return time(value) if self.axis else percent_cell(value, 0 if value >= 0.1 else 1)

    @property
    def span(self) -> str:
        """The first and the last moment, in words."""
        last = self.in_words(len(self.at) - 1)
        return f"{self.short(0)} to {last}" if len(self.at) > 1 else last

    def words(self) -> str:
        """From when to when, and how grids that differ are matched."""
        several = f"{counted(len(self.at), 'time')} from " if len(self.at) > 1 else ""
        nearest = "" if self.exact else ", each store at the nearest time of its grid"
        return f"at {several}{self.span}{nearest}"


def matched(sides: Sequence[Side], align: str = "auto") -> Moments:
    """The moments that all stores have.

    By default these are times, where the axes are the same and the grids overlap.
    """
    if align not in ALIGNMENTS:
        raise ReportError(unknown("alignment", align, ALIGNMENTS))
    axes = list(dict.fromkeys(side.basis.axis for side in sides))
    times = [np.asarray(side.basis.times, dtype=float) for side in sides]
    is_log = all(side.context.log_times for side in sides)
    found = None
    if align != "share" and len(axes) == 1:
        found = _overlap(times, axes[0], is_log)
    if align == "units" and found is None:
        why = "stores' grids have no time in common"
        if len(axes) > 1:
            why = f"stores count time in {joined(axes)}"
        raise ReportError(f"the {why}; --align share compares them by share of the budget")
    found = found or _overlap([own / own[-1] for own in times], None, is_log)
    assert found is not None  # every grid ends with the whole of its budget
    return found


def _overlap(grids: Sequence[np.ndarray], axis: str | None, is_log: bool) -> Moments | None:
    """The coarsest grid's times within the range of all; None where there are none."""
    low, high = max(grid[0] for grid in grids), min(grid[-1] for grid in grids)
    slack = 1e-9 * abs(high)
    inside = [grid[(grid >= low - slack) & (grid <= high + slack)] for grid in grids]
    there = [i for i, own in enumerate(inside) if len(own)]
    if not there:
        return None
    at = inside[min(there, key=lambda i: (len(grids[i]), -len(inside[i])))]
    places = np.array([_nearest(grid, at, is_log) for grid in grids])
    # A grid that is coarse there would be looked at twice.
    moved = [(places[:, i] != places[:, j]).all() for i, j in pairwise(range(len(at)))]
    keep = np.flatnonzero([True, *moved])
    at, places = at[keep], places[:, keep]
    exact = all(
        np.allclose(grid[row], at, rtol=1e-9) for grid, row in zip(grids, places, strict=True)
    )
    return Moments(at, places, axis, is_log, exact)


def _nearest(grid: np.ndarray, at: np.ndarray, is_log: bool) -> np.ndarray:
    scaled, wanted = (np.log(grid), np.log(at)) if is_log else (grid, at)
    return np.asarray(np.abs(scaled[:, None] - wanted).argmin(axis=0))
