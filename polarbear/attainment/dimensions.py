"""How many variables each instance has, for time that is counted per dimension."""

from __future__ import annotations

import json

from polarbear.errors import ReportError
from polarbear.problems.specs import DIMENSION, FUNCTION
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import Store

PER_DIMENSION = f"{EVALUATIONS} per {DIMENSION}"


def dimensions(store: Store, axis: str) -> dict[str, int]:
    """The number of variables of each instance that was run; an error if one is not known."""
    if axis != EVALUATIONS:
        raise ReportError(
            f"--per-dimension divides {EVALUATIONS}, and {store.path} counts {axis}: leave it out"
        )
    ran = set(store.runs()["instance"])
    found = {}
    for instance, spec in store.instances().select("instance", "spec").iter_rows():
        if instance not in ran:
            continue
        known = json.loads(spec).get(DIMENSION)
        if not isinstance(known, int) or known < 1:
            raise ReportError(
                f"--per-dimension needs the number of variables of every instance; of {instance} "
                f"in {store.path} it is not known: leave it out"
            )
        found[instance] = known
    return found


def groups(store: Store, instances: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Places of the instances of each function in each dimension; none where that is not known."""
    specs = dict(store.instances().select("instance", "spec").iter_rows())
    found: dict[str, list[int]] = {}
    for place, instance in enumerate(instances):
        spec = json.loads(specs[instance])
        if FUNCTION not in spec or DIMENSION not in spec:
            return {}
        name = spec[FUNCTION]
        label = f"f{name}" if isinstance(name, int) else str(name)
        found.setdefault(f"{label}-d{spec[DIMENSION]}", []).append(place)
    return {label: tuple(places) for label, places in found.items()}
