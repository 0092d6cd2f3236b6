"""Where two configurations differ, and which differences would make stored runs untrue."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polarbear.config.configuration import PlainConfig

COUNTS = ("count", "weights")  # how many instances are run, or count as: no run depends on it


def differences(stored: Mapping[str, Any], wanted: Mapping[str, Any], path: str = "") -> list[str]:
    """Where two plain configurations say different things, one readable line each."""
    found = []
    for key in sorted({*stored, *wanted}):
        here = f"{path}.{key}" if path else key
        old, new = stored.get(key), wanted.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found += differences(old, new, here)
        elif old != new:
            found.append(f"{here}: stored {json.dumps(old)}, configuration {json.dumps(new)}")
    return found


def contradictions(
    stored: PlainConfig, wanted: PlainConfig, uses_grid: bool, redefined: Collection[str] = ()
) -> list[str]:
    """What of a new configuration would make stored runs untrue.

    New algorithms, more instances, another grid or a longer budget extend a store; another seed,
    suite or axis, or another meaning of a known name, contradict it, unless that is ``redefined``.
    """
    both = (stored["algorithms"].keys() & wanted["algorithms"].keys()) - set(redefined)

    def what_runs_depend_on(config: PlainConfig) -> PlainConfig:
        return {
            "seed": config["seed"],
            "seeds": config.get("seeds", "separate"),  # older stores do not say
            "trajectory": config.get("trajectory", "best"),
            "instances": {k: v for k, v in config["instances"].items() if k not in COUNTS},
            "budget": config["budget"] if uses_grid else {"axis": config["budget"]["axis"]},
            "algorithms": {name: config["algorithms"][name] for name in both},
        }

    return differences(what_runs_depend_on(stored), what_runs_depend_on(wanted))
