"""What is set differently in several stores: instances, budgets, options of algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polarbear.report.stores.sides import Side
from polarbear.settings.options import spelled

NOTHING = "not set"


def different_settings(
    sides: Sequence[Side], algorithms: Sequence[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """Each setting that not all stores have alike, by its key, with the value of each store.

    Of algorithms only the common ones count; who else is in a store is told elsewhere.
    """
    held = [_flat(_what_matters(side, algorithms)) for side in sides]
    keys = list(dict.fromkeys(key for found in held for key in found))
    rows = [(key, tuple(found.get(key, NOTHING) for found in held)) for key in keys]
    return [(key, values) for key, values in rows if len(set(values)) > 1]


def _what_matters(side: Side, algorithms: Sequence[str]) -> dict[str, Any]:
    config, posterior = side.material.store.config, side.basis.posterior
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
        "made by PolarBear": side.material.store.manifest.tool,
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
