"""Processor time of BBOB and its mixtures, and their agreement with ioh.

The 24 functions and MA-BBOB are compared with ioh in two ways: one call for each active function,
as a suite would do, and ioh's own ManyAffine, which evaluates all functions. GP-BBOB in 240
dimensions is compared with the base functions that it mixes. Implementations take turns, and
medians of processor time are compared. Exits with 1 when a target is missed.

    python benchmarks/suites.py
    python benchmarks/suites.py --all   # agreement on twenty instances up to 240 variables: an hour
"""

from __future__ import annotations

import os

# A worker has one thread.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

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
MA_DIMENSION = 30
MA_INSTANCES = 20
MA_POINTS = 100
GP_DIMENSION = 240
GP_INSTANCES = 5
GP_POINTS = 4
TURNS = 7


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
    active = np.array(spec["functions"]) - 1
    weights = np.zeros(24)
    weights[active] = spec["weights"]
    instances = np.ones(24, dtype=int)
    instances[active] = spec["instances"]
    return ioh.problem.ManyAffine(
        xopt=optimum(spec).tolist(),
        weights=weights.tolist(),
        instances=instances.tolist(),
        n_variables=spec["dimension"],
    )


def through_ioh(spec: Spec) -> Callable[[Any], float]:
    """The mixture of active functions, each of which is ioh's."""
    functions = [
        ioh.get_problem(function, instance, spec["dimension"], ioh.ProblemClass.BBOB)
        for function, instance in zip(spec["functions"], spec["instances"], strict=True)
    ]
    scales = [SCALES[function - 1] for function in spec["functions"]]
    bests = [function.optimum.y for function in functions]
    parts = list(zip(functions, bests, spec["weights"], scales, strict=True))
    own_optima = np.array([function.optimum.x for function in functions])
    common_optimum = optimum(spec)

    def evaluate(x: Any) -> float:
        points = (own_optima + x) - common_optimum
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
        problem = suite.build(spec, SETTING)
        reference = many_affine(spec)
        points = rng.uniform(-5, 5, (MA_POINTS, MA_DIMENSION))
        # ioh is fastest with lists; algorithms call PolarBear's problems with arrays.
        implementations = [
            (costs.ours, problem.evaluate, points),
            (costs.through_ioh, through_ioh(spec), points),
            (costs.many_affine, reference, points.tolist()),
        ]
        turns: list[list[float]] = [[] for _ in implementations]
        for _ in range(TURNS):
            for microseconds, (_, call, arguments) in zip(turns, implementations, strict=True):
                microseconds.append(1e6 * sum_of_seconds(call, arguments) / MA_POINTS)
        for microseconds, (medians, _, _) in zip(turns, implementations, strict=True):
            medians.append(median(microseconds))
        near_optimum = optimum(spec) + (points[:20] / 5) ** 15
        for point in [*points[:20], *near_optimum]:
            value = reference(point.tolist())
            difference = max(difference, abs(problem.evaluate(point) - value) / value)
    return replace(costs, difference=difference)


def disagreement(dimensions: Iterable[int], instances: Iterable[int]) -> float:
    """The largest difference from ioh over all functions of BBOB and SBOX, at points in the box.

    Differences are relative to the value or to its height above the optimum, whichever is larger.
    """
    rng = np.random.default_rng(2)
    kinds = (("BBOB", bbob_function), ("SBOX", sbox_function))
    largest = 0.0
    for dimension, instance, id, kind in product(dimensions, instances, range(1, 25), kinds):
        problem_class, make = kind
        reference = ioh.get_problem(id, instance, dimension, ioh.ProblemClass[problem_class])
        function = make(id, instance, dimension)
        evaluate = function_problem(function).evaluate
        for x in rng.uniform(-5, 5, (5, dimension)):
            value = reference(x.tolist())
            scale = max(abs(value), abs(value - function.f_opt))
            largest = max(largest, abs(evaluate(x) - value) / scale)
    return largest


def active_functions(spec: Spec, x: Any) -> list[int]:
    """The functions that a mixture evaluates at a point."""
    called: list[int] = []

    def spy(i: int) -> Callable[[Any], float]:
        def evaluate(point: Any) -> float:
            called.append(i)
            return 0.0

        return evaluate

    mixture({i: spy(i) for i in range(FUNCTIONS)}, spec)(x)
    return called


def measure_gp_bbob() -> tuple[list[float], list[float]]:
    """Cost of each point as a multiple of its functions' cost, and seconds until ready."""
    fixed = {"from": GP_DIMENSION, "to": GP_DIMENSION}
    suite = GpBbob.model_validate({"suite": "gp-bbob", "dimension": fixed})
    rng = np.random.default_rng(1)
    ratios = []
    setup_seconds = []
    for index in range(GP_INSTANCES):
        spec = suite.instance(index, SETTING).spec
        points = rng.uniform(-5, 5, (GP_POINTS, GP_DIMENSION))
        start = process_time()
        functions = BaseFunctions(spec["instances"], GP_DIMENSION)
        evaluate = mixture(functions, spec)
        evaluate(points[0])
        setup_seconds.append(process_time() - start)
        for x in points:
            evaluate(x)
            active = active_functions(spec, x)
            mixture_seconds = []
            functions_seconds = []
            for _ in range(TURNS):
                mixture_seconds.append(seconds(evaluate, x))
                functions_seconds.append(sum(seconds(functions[i], x) for i in active))
            ratios.append(median(mixture_seconds) / median(functions_seconds))
    return ratios, setup_seconds


def main() -> int:
    costs = measure_ma_bbob()
    dimensions: tuple[int, ...] = (2, 5, 20, 41)
    instances = range(1, 4)
    if "--all" in sys.argv:
        dimensions = (2, 3, 5, 10, 20, 40, 41, 64, 65, 100, 160, 240)
        instances = range(1, 21)
    difference = disagreement(dimensions, instances)
    ratios, setup_seconds = measure_gp_bbob()
    speed_up = median(costs.through_ioh) / median(costs.ours)
    rows = [
        Row(
            f"MA-BBOB, d = {MA_DIMENSION}: microseconds for a point",
            f"{median(costs.ours):.1f}; through "
            f"ioh's active functions {median(costs.through_ioh):.1f}, by its ManyAffine "
            f"{median(costs.many_affine):.1f}",
            "half of what it takes through ioh (34 us to 15)",
            speed_up >= 34 / 15,
        ),
        Row(
            f"MA-BBOB, d = {MA_DIMENSION}: largest relative difference from ManyAffine",
            f"{costs.difference:.1e}",
            "below 1e-12",
            costs.difference < 1e-12,
        ),
        Row(
            f"BBOB and SBOX, d to {max(dimensions)}: largest difference from ioh",
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
            f"{median(setup_seconds):.2f} "
            f"(from {min(setup_seconds):.2f} to {max(setup_seconds):.2f})",
            "below 3",
            median(setup_seconds) < 3.0,
        ),
    ]
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
