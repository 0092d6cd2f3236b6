"""Compares a configuration with a stored one."""

import json
from collections.abc import Collection, Mapping

from polarbear.config.stored_settings import PlainConfig, StoredSettings

COUNTS = ("count", "weights", "features")  # options of instances that no run depends on


def differences(
    stored: Mapping[str, object], current: Mapping[str, object], path: str = ""
) -> list[str]:
    """The differences between two plain configurations, one line each."""
    lines = []
    for key in sorted({*stored, *current}):
        key_path = f"{path}.{key}" if path else key
        old = stored.get(key)
        new = current.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            lines += differences(old, new, key_path)
        elif old != new:
            lines.append(f"{key_path}: stored {json.dumps(old)}, configuration {json.dumps(new)}")
    return lines


def contradictions(
    stored: StoredSettings,
    current: StoredSettings,
    uses_grid: bool,
    redefined: Collection[str] = (),
) -> list[str]:
    """The differences in a new configuration that would make stored runs invalid.

    New algorithms, more instances, another grid or a longer budget extend a store. Another seed,
    suite or axis, or other options of an algorithm that is not ``redefined``, contradict it.
    """
    in_both = (stored.algorithms.keys() & current.algorithms.keys()) - set(redefined)

    def settings_of_runs(settings: StoredSettings) -> PlainConfig:
        options = settings.instances.options
        return {
            "seed": settings.seed,
            "seeds": settings.seeds,
            "trajectory": settings.trajectory,
            "instances": {key: options[key] for key in options if key not in COUNTS},
            "budget": settings.part("budget") if uses_grid else {"axis": settings.budget.axis},
            "algorithms": {name: settings.algorithms[name].options for name in in_both},
        }

    return differences(settings_of_runs(stored), settings_of_runs(current))
