"""The stores that are compared, each with its posterior, and the settings in which they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from polarbear.errors import ReportError
from polarbear.report.context import ReportContext
from polarbear.selection.posterior_source import Basis
from polarbear.settings.options import spelled
from polarbear.wording import joined

MOST = 8  # stores with distinguishable colours


@dataclass(frozen=True)
class Side:
    """A store as one of several: its name among them, and the posterior that speaks for it."""

    name: str
    context: ReportContext
    basis: Basis

    def wins(self, a: str, b: str, places: np.ndarray) -> np.ndarray:
        """P(a beats b on a new instance)[draw, place]."""
        names = self.basis.algorithms
        won = self.basis.posterior.head_to_head(names.index(a), names.index(b))
        return won[:, places].astype(float)


def sides_of(materials: Sequence[ReportContext]) -> tuple[Side, ...]:
    """The stores to be compared; the others are compared with the first."""
    paths = [context.store.path.resolve() for context in materials]
    for place, path in enumerate(paths):
        if path in paths[:place]:
            raise ReportError(f"{path} is named twice; a comparison is of different stores")
    if len(paths) > MOST:
        raise ReportError(f"{len(paths)} stores are too many to compare; name at most {MOST}")
    made = []
    for name, context in zip(short_paths(paths), materials, strict=True):
        if context.basis is None:
            raise ReportError(
                f"{context.store.path} holds no posterior yet, and a comparison goes by it; "
                f"`polarbear infer {context.store.path}` makes one"
            )
        made.append(Side(name, context, context.basis))
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


NOTHING = "not set"


def different_settings(
    sides: Sequence[Side], algorithms: Sequence[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """Each setting that not all stores have alike, by its key, with the value of each store.

    Of the algorithms only the common ones count.
    """
    held = [_flat(_what_matters(side, algorithms)) for side in sides]
    keys = list(dict.fromkeys(key for found in held for key in found))
    rows = [(key, tuple(found.get(key, NOTHING) for found in held)) for key in keys]
    return [(key, values) for key, values in rows if len(set(values)) > 1]


def _what_matters(side: Side, algorithms: Sequence[str]) -> dict[str, Any]:
    config, posterior = side.context.store.config, side.basis.posterior
    return {
        "seed": config["seed"],
        "instances": config["instances"],
        "budget": config["budget"],
        "algorithms": {name: config["algorithms"].get(name) for name in algorithms},
        "posterior": {
            "instances": side.basis.instances,
            "model": posterior.model,
            "engine": posterior.engine,
            "method": posterior.method,
        },
        "made by PolarBear": side.context.store.manifest.tool,
    }


def _flat(settings: Mapping[str, Any], path: tuple[str | int, ...] = ()) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, value in settings.items():
        here = (*path, key)
        if isinstance(value, Mapping):
            found |= _flat(value, here)
        elif value is not None:
            found[spelled(here)] = str(value)
    return found
