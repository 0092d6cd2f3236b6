"""Stores as sides of a comparison: their names, and the algorithms that all of them know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from polarbear.errors import ReportError
from polarbear.report.material import Material
from polarbear.select import Basis
from polarbear.wording import joined

MOST = 8  # stores, whose colours can be told apart


@dataclass(frozen=True)
class Side:
    """A store as one of several: its name among them, and the posterior that speaks for it."""

    name: str
    material: Material
    basis: Basis

    def wins(self, a: str, b: str, places: np.ndarray) -> np.ndarray:
        """P(a beats b on a new instance)[draw, place]."""
        names = self.basis.algorithms
        won = self.basis.posterior.head_to_head(names.index(a), names.index(b))
        return won[:, places].astype(float)


def sides_of(materials: Sequence[Material]) -> tuple[Side, ...]:
    """The stores to be compared, the first of which is what the others are held against."""
    paths = [material.store.path.resolve() for material in materials]
    for place, path in enumerate(paths):
        if path in paths[:place]:
            raise ReportError(f"{path} is named twice; a comparison is of different stores")
    if len(paths) > MOST:
        raise ReportError(f"{len(paths)} stores are too many to compare; name at most {MOST}")
    made = []
    for name, material in zip(short_paths(paths), materials, strict=True):
        if material.basis is None:
            raise ReportError(
                f"{material.store.path} holds no posterior yet, and a comparison goes by it; "
                f"`polarbear infer {material.store.path}` makes one"
            )
        made.append(Side(name, material, material.basis))
    return tuple(made)


def common_algorithms(sides: Sequence[Side]) -> tuple[str, ...]:
    """Those that all posteriors know, in the order of the first; at least two."""
    first, *others = (side.basis.algorithms for side in sides)
    common = tuple(name for name in first if all(name in known for known in others))
    if len(common) >= 2:
        return common
    held = "; ".join(f"{side.name} has {joined(side.basis.algorithms)}" for side in sides)
    if common:
        raise ReportError(
            f"the stores share one algorithm only, {common[0]}, and what is compared are duels "
            f"with the others they share: {held}"
        )
    raise ReportError(
        f"the stores share no algorithm: {held}; `polarbear rename STORE OLD NEW` gives the same "
        "algorithm the same name"
    )


def short_paths(paths: Sequence[Path]) -> list[str]:
    """The last parts of each path, as many as tell them apart."""
    longest = max(len(path.parts) for path in paths)
    for parts in range(1, longest + 1):
        names = ["/".join(path.parts[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in paths]
