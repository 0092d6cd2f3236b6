"""Compares a configuration with a stored one."""

import json
from collections.abc import Collection, Mapping

from polarbear.config.configuration import PlainConfig

COUNTS = ("count", "weights")  # of instances: no run depends on them


def differences(
    stored: Mapping[str, object], wanted: Mapping[str, object], path: str = ""
) -> list[str]:
    """The differences between two plain configurations, one line each."""
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
    """The differences in a new configuration that would make stored runs invalid.

    New algorithms, more instances, another grid or a longer budget extend a store. Another seed,
    suite or axis, or other options of an algorithm that is not ``redefined``, contradict it.
    """
    both = (stored["algorithms"].keys() & wanted["algorithms"].keys()) - set(redefined)

    def relevant(config: PlainConfig) -> PlainConfig:
        return {
            "seed": config["seed"],
            "seeds": config.get("seeds", "separate"),  # imported stores have none
            "trajectory": config.get("trajectory", "best"),
            "instances": {k: v for k, v in config["instances"].items() if k not in COUNTS},
            "budget": config["budget"] if uses_grid else {"axis": config["budget"]["axis"]},
            "algorithms": {name: config["algorithms"][name] for name in both},
        }

    return differences(relevant(stored), relevant(wanted))
