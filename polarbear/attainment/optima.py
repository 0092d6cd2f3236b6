"""The best possible value of each instance, where somebody knows it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from pydantic import ValidationError

from polarbear.errors import PolarBearError
from polarbear.numerics.arrays import Floats
from polarbear.problems import SUITES
from polarbear.problems.specs import OPTIMUM
from polarbear.store import Store


def known_optima(
    store: Store, instances: Sequence[str], given: float | None = None
) -> Floats | None:
    """One value an instance, as stored (negated where larger is better).

    As given, as the suite knows it, or as imported data told it.
    """
    settings = store.config["instances"]
    sign = -1.0 if settings.get("maximise") else 1.0
    if given is not None:
        return np.full(len(instances), sign * given)
    specs = dict(store.instances().select("instance", "spec").iter_rows())
    wanted = [json.loads(specs[instance]) for instance in instances]
    try:
        if settings["suite"] in SUITES:
            suite = SUITES[settings["suite"]].model_validate(settings)
            found = [suite.best_value(spec) for spec in wanted]
        else:  # imported
            found = [spec.get(OPTIMUM) for spec in wanted]
    except (PolarBearError, ValidationError):  # a package of the suite is not installed here
        return None
    known = [value for value in found if value is not None]
    return sign * np.array(known) if len(known) == len(instances) else None
