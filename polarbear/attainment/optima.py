"""The best possible value of each instance, where somebody knows it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from pydantic import ValidationError

from polarbear.errors import PolarBearError
from polarbear.numerics.arrays import Floats
from polarbear.problems import SUITES
from polarbear.store import Store


def known_optima(
    store: Store, instances: Sequence[str], given: float | None = None
) -> Floats | None:
    """One value an instance, as stored (negated where larger is better): given, or the suite's."""
    settings = store.config["instances"]
    sign = -1.0 if settings.get("maximise") else 1.0
    if given is not None:
        return np.full(len(instances), sign * given)
    if settings["suite"] not in SUITES:  # imported data has no suite that could know
        return None
    try:
        suite = SUITES[settings["suite"]].model_validate(settings)
        specs = dict(store.instances().select("instance", "spec").iter_rows())
        found = [suite.best_value(json.loads(specs[instance])) for instance in instances]
    except (PolarBearError, ValidationError):  # a package of the suite is not installed here
        return None
    known = [value for value in found if value is not None]
    return sign * np.array(known) if len(known) == len(instances) else None
