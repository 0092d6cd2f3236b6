"""Facts about a store's instances: number of variables, function, best possible value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import ValidationError

from polarbear.errors import PolarBearError, ReportError
from polarbear.numerics.arrays import Floats
from polarbear.problems import SUITES
from polarbear.problems.specs import DIMENSION, FUNCTION, OPTIMUM
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import Store

PER_DIMENSION = f"{EVALUATIONS} per {DIMENSION}"


def dimensions(store: Store, axis: str) -> dict[str, int]:
    """The number of variables of each instance that was run; an error if one is unknown."""
    if axis != EVALUATIONS:
        raise ReportError(
            f"--per-dimension divides {EVALUATIONS}, but {store.path} counts {axis}: leave it out"
        )
    ran = set(store.runs()["instance"])
    found: dict[str, int] = {}
    for name, spec in store.specs().items():
        if name not in ran:
            continue
        dimension = spec.get(DIMENSION)
        if not isinstance(dimension, int) or dimension < 1:
            raise ReportError(
                f"--per-dimension needs the number of variables of every instance; that of {name} "
                f"in {store.path} is unknown: leave it out"
            )
        found[name] = dimension
    return found


def by_function(store: Store, instances: Sequence[str]) -> dict[str, list[int]]:
    """Indices of the instances of each function in each dimension; empty if one is unknown."""
    specs = store.specs()
    found: dict[str, list[int]] = {}
    for index, instance in enumerate(instances):
        spec = specs[instance]
        if FUNCTION not in spec or DIMENSION not in spec:
            return {}
        name = spec[FUNCTION]
        label = f"f{name}" if isinstance(name, int) else str(name)
        found.setdefault(f"{label}-d{spec[DIMENSION]}", []).append(index)
    return found


def best_values(store: Store, instances: Sequence[str]) -> list[float | None]:
    """The best possible values, by the suite or by imported data; None where they are unknown."""
    settings, specs = store.config["instances"], store.specs()
    wanted = [specs[instance] for instance in instances]
    if settings["suite"] not in SUITES:
        return [spec.get(OPTIMUM) for spec in wanted]
    try:
        suite = SUITES[settings["suite"]].model_validate(settings)
        return [suite.best_value(spec) for spec in wanted]
    except (PolarBearError, ValidationError):  # a package of the suite is not installed
        return [None] * len(wanted)


def known_optima(
    store: Store, instances: Sequence[str], given: float | None = None
) -> Floats | None:
    """The best possible values as stored (negated if maximised); None unless all are known."""
    values = best_values(store, instances) if given is None else [given] * len(instances)
    if any(value is None for value in values):
        return None
    return (-1.0 if store.maximise else 1.0) * np.array(values, dtype=float)
