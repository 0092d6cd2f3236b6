"""What the mixtures of BBOB functions cost, as ratios measured in one run.

MA-BBOB in 30 dimensions against ioh's own ManyAffine, and GP-BBOB in 240 dimensions against the
base functions it mixes. Whatever is compared is measured in turns, and medians are taken. Exits
with 1 when a target is missed.

    python benchmarks/suites.py
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # as in a worker

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import ioh
import numpy as np
from targets import Row, report

from polarbear.problems.base import Setting, Spec
from polarbear.problems.gp_bbob import FUNCTIONS, BaseFunctions, GpBbob, mixture
from polarbear.problems.ma_bbob import MaBbob, optimum
from polarbear.settings.grid import Budget

SETTING = Setting(seed=1, budget=Budget.model_validate({"grid": [1]}))
MA_DIMENSION, MA_INSTANCES, MA_POINTS = 30, 20, 200
GP_DIMENSION, GP_INSTANCES, GP_POINTS, GP_TURNS = 240, 9, 8, 15


def seconds(call: Callable[[Any], float], point: Any) -> float:
    start = perf_counter()
    call(point)
    return perf_counter() - start


def many_affine(spec: Spec) -> Any:
    weights, instances = np.zeros(24), np.ones(24, dtype=int)
    active = np.array(spec["functions"]) - 1
    weights[active], instances[active] = spec["weights"], spec["instances"]
    return ioh.problem.ManyAffine(
        xopt=optimum(spec).tolist(),
        weights=weights.tolist(),
        instances=instances.tolist(),
        n_variables=spec["dimension"],
    )


def measure_ma_bbob() -> tuple[list[float], float]:
    """The speed-up on each instance, and the largest relative difference."""
    suite = MaBbob.model_validate({"suite": "ma-bbob", "dimensions": [MA_DIMENSION]})
    rng = np.random.default_rng(1)
    speed_ups, difference = [], 0.0
    for index in range(MA_INSTANCES):
        spec = suite.instance(index, SETTING).spec
        ours, theirs = suite.build(spec, SETTING).evaluate, many_affine(spec)
        our_times, their_times = [], []
        for x in rng.uniform(-5, 5, (MA_POINTS, MA_DIMENSION)):
            # Lists are what ioh takes fastest; arrays are what algorithms hand to us.
            their_times.append(seconds(theirs, x.tolist()))
            our_times.append(seconds(ours, x))
            near = optimum(spec) + (x / 5) ** 15
            for place in (x, near):
                value = theirs(place.tolist())
                difference = max(difference, abs(ours(place) - value) / value)
        speed_ups.append(median(their_times) / median(our_times))
    return speed_ups, difference


def active_functions(spec: Spec, x: Any) -> list[int]:
    called: list[int] = []

    def spy(i: int) -> Callable[[Any], float]:
        return lambda point: called.append(i) or 0.0

    mixture({i: spy(i) for i in range(FUNCTIONS)}, spec)(x)
    return called


def measure_gp_bbob() -> tuple[list[float], list[float]]:
    """Cost of each point as a multiple of its functions' cost, and seconds until ready."""
    fixed = {"from": GP_DIMENSION, "to": GP_DIMENSION}
    suite = GpBbob.model_validate({"suite": "gp-bbob", "dimension": fixed})
    rng = np.random.default_rng(1)
    ratios, ready = [], []
    for index in range(GP_INSTANCES):
        spec = suite.instance(index, SETTING).spec
        points = rng.uniform(-5, 5, (GP_POINTS, GP_DIMENSION))
        start = perf_counter()
        functions = BaseFunctions(ioh, spec["instances"], GP_DIMENSION)
        evaluate = mixture(functions, spec)
        evaluate(points[0])
        ready.append(perf_counter() - start)
        for x in points:
            evaluate(x)
            active, point = active_functions(spec, x), x.tolist()
            whole, parts = [], []
            for _ in range(GP_TURNS):
                whole.append(seconds(evaluate, x))
                parts.append(sum(seconds(functions[i], point) for i in active))
            ratios.append(median(whole) / median(parts))
    return ratios, ready


def main() -> int:
    speed_ups, difference = measure_ma_bbob()
    ratios, ready = measure_gp_bbob()
    rows = [
        Row(
            f"MA-BBOB, d = {MA_DIMENSION}: speed-up over ManyAffine",
            f"{median(speed_ups):.1f} (from {min(speed_ups):.1f} to {max(speed_ups):.1f})",
            "at least 2.5",
            median(speed_ups) >= 2.5,
        ),
        Row(
            f"MA-BBOB, d = {MA_DIMENSION}: largest relative difference",
            f"{difference:.1e}",
            "below 1e-12",
            difference < 1e-12,
        ),
        Row(
            f"GP-BBOB, d = {GP_DIMENSION}: cost of a point / cost of its functions",
            f"{median(ratios):.2f} (from {min(ratios):.2f} to {max(ratios):.2f})",
            "at most 2",
            median(ratios) <= 2.0,
        ),
        Row(
            f"GP-BBOB, d = {GP_DIMENSION}: seconds until an instance is ready",
            f"{median(ready):.2f} (from {min(ready):.2f} to {max(ready):.2f})",
            "below 3",
            median(ready) < 3.0,
        ),
    ]
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
