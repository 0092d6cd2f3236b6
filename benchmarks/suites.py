"""What BBOB and its mixtures cost and how they agree with ioh, as ratios measured in one run.

The 24 functions and MA-BBOB against ioh: as a suite would call it, a function that is active at a
time, and its own ManyAffine, which evaluates all. GP-BBOB in 240 dimensions against the base
functions it mixes. Whatever is compared is measured in turns, in processor time, and medians are
taken. Exits with 1 when a target is missed.

    python benchmarks/suites.py
    python benchmarks/suites.py --all   # agreement on twenty instances up to 240 variables: an hour
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"  # as in a worker

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import log10
from statistics import median
from time import process_time
from typing import Any

import ioh
import numpy as np
from targets import Row, report

from polarbear.problems.base import Setting, Spec
from polarbear.problems.bbob.instances import bbob_function, function_problem, sbox_function
from polarbear.problems.gp_bbob import FUNCTIONS, BaseFunctions, GpBbob, mixture
from polarbear.problems.ma_bbob import SCALES, MaBbob, optimum
from polarbear.settings.grid import Budget

SETTING = Setting(seed=1, budget=Budget.model_validate({"grid": [1]}))
MA_DIMENSION, MA_INSTANCES, MA_POINTS, MA_TURNS = 30, 20, 100, 7
GP_DIMENSION, GP_INSTANCES, GP_POINTS, GP_TURNS = 240, 5, 4, 7


def seconds(call: Callable[[Any], Any], point: Any) -> float:
    start = process_time()
    call(point)
    return process_time() - start


def sum_of_seconds(call: Callable[[Any], Any], arguments: Iterable[Any]) -> float:
    start = process_time()
    for argument in arguments:
        call(argument)
    return process_time() - start


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


def through_ioh(spec: Spec) -> Callable[[Any], float]:
    """The mixture of active functions, each of them ioh's: what PolarBear did before."""
    kind = ioh.ProblemClass.BBOB
    chosen = list(zip(spec["functions"], spec["instances"], strict=True))
    functions = [ioh.get_problem(f, i, spec["dimension"], kind) for f, i in chosen]
    scales = [SCALES[function - 1] for function in spec["functions"]]
    bests = [function.optimum.y for function in functions]
    parts = list(zip(functions, bests, spec["weights"], scales, strict=True))
    own_optima, centre = np.array([function.optimum.x for function in functions]), optimum(spec)

    def evaluate(x: Any) -> float:
        points = (own_optima + x) - centre
        total = 0.0
        for (function, best, weight, scale), point in zip(parts, points.tolist(), strict=True):
            total += weight * (log10(min(max(function(point) - best, 1e-12), 1e20)) + 8.0) / scale
        return float(10.0 ** (10.0 * total - 8.0))

    return evaluate


@dataclass(frozen=True)
class MaBbobCosts:
    """Microseconds of processor time for a point, on each instance."""

    ours: list[float]
    through_ioh: list[float]
    many_affine: list[float]
    difference: float  # the largest, relative to ManyAffine's value


def measure_ma_bbob() -> MaBbobCosts:
    suite = MaBbob.model_validate({"suite": "ma-bbob", "dimensions": [MA_DIMENSION]})
    rng = np.random.default_rng(1)
    costs = MaBbobCosts([], [], [], 0.0)
    difference = 0.0
    for index in range(MA_INSTANCES):
        spec = suite.instance(index, SETTING).spec
        problem, theirs, before = suite.build(spec, SETTING), many_affine(spec), through_ioh(spec)
        points = rng.uniform(-5, 5, (MA_POINTS, MA_DIMENSION))
        lists = points.tolist()  # what ioh takes fastest; arrays are what algorithms hand to us
        ways = [
            (costs.ours, problem.evaluate, points),
            (costs.through_ioh, before, points),
            (costs.many_affine, theirs, lists),
        ]
        turns: list[list[float]] = [[] for _ in ways]
        for _ in range(MA_TURNS):
            for taken, (_, call, arguments) in zip(turns, ways, strict=True):
                taken.append(1e6 * sum_of_seconds(call, arguments) / MA_POINTS)
        for taken, (into, _, _) in zip(turns, ways, strict=True):
            into.append(median(taken))
        for place in [*points[:20], *(optimum(spec) + (points[:20] / 5) ** 15)]:
            value = theirs(place.tolist())
            difference = max(difference, abs(problem.evaluate(place) - value) / value)
    return replace(costs, difference=difference)


def disagreement(dimensions: Iterable[int], instances: Iterable[int]) -> float:
    """The largest difference from ioh over all functions of BBOB and SBOX, in the box, relative to
    the value or to its height above the optimum, whichever is larger."""
    rng, worst = np.random.default_rng(2), 0.0
    for dimension, instance in product(dimensions, instances):
        for id, (kind, make) in product(
            range(1, 25), (("BBOB", bbob_function), ("SBOX", sbox_function))
        ):
            theirs = ioh.get_problem(id, instance, dimension, ioh.ProblemClass[kind])
            function = make(id, instance, dimension)
            ours = function_problem(function).evaluate
            for x in rng.uniform(-5, 5, (5, dimension)):
                value = theirs(x.tolist())
                scale = max(abs(value), abs(value - function.f_opt))
                worst = max(worst, abs(ours(x) - value) / scale)
    return worst


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
        start = process_time()
        functions = BaseFunctions(spec["instances"], GP_DIMENSION)
        evaluate = mixture(functions, spec)
        evaluate(points[0])
        ready.append(process_time() - start)
        for x in points:
            evaluate(x)
            active = active_functions(spec, x)
            whole, parts = [], []
            for _ in range(GP_TURNS):
                whole.append(seconds(evaluate, x))
                parts.append(sum(seconds(functions[i], x) for i in active))
            ratios.append(median(whole) / median(parts))
    return ratios, ready


def main() -> int:
    costs = measure_ma_bbob()
    everything = "--all" in sys.argv
    dimensions = (2, 3, 5, 10, 20, 40, 41, 64, 65, 100, 160, 240) if everything else (2, 5, 20, 41)
    worst = disagreement(dimensions, range(1, 21) if everything else (1, 2, 3))
    ratios, ready = measure_gp_bbob()
    faster = median(costs.through_ioh) / median(costs.ours)
    rows = [
        Row(
            f"MA-BBOB, d = {MA_DIMENSION}: microseconds for a point",
            f"{median(costs.ours):.1f}; through "
            f"ioh's active functions {median(costs.through_ioh):.1f}, by its ManyAffine "
            f"{median(costs.many_affine):.1f}",
            "half of what it takes through ioh (34 us to 15)",
            faster >= 34 / 15,
        ),
        Row(
            f"MA-BBOB, d = {MA_DIMENSION}: largest relative difference from ManyAffine",
            f"{costs.difference:.1e}",
            "below 1e-12",
            costs.difference < 1e-12,
        ),
        Row(
            f"BBOB and SBOX, d to {max(dimensions)}: largest difference from ioh",
            f"{worst:.1e}",
            "below 1e-12",
            worst < 1e-12,
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
