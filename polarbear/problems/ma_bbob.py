"""MA-BBOB: affine combinations of BBOB functions, drawn as its publication or as ioh draws them.

    f(x) = 10^(10 Σ_i w_i (log10(clip(f_i(x + o_i - o) - f_i*)) + 8) / s_i - 8)

with the optimum o, and o_i and f_i* the location and value of the optimum of f_i. Only functions
with a positive weight are built and evaluated; ioh's ManyAffine evaluates all 24.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Problem, Setting, Spec, Suite
from polarbear.problems.numbered_suites import FUNCTIONS, Dimensions

LAST_INSTANCE_ID = 99
LAST_AFFINE_INSTANCE = 2**31 - 1
THRESHOLD = 0.85
# ManyAffine's seeds, minus the instance.
AFFINE_OPTIMUM = 1000
AFFINE_WEIGHTS = 2000
# s_i: makes the 24 functions comparable on a logarithmic scale, as published with MA-BBOB.
SCALES = (
    *(11.0, 17.5, 12.3, 12.6, 11.5, 15.3, 12.1, 15.3, 15.2, 17.4, 13.4, 20.4),
    *(12.9, 10.4, 12.3, 10.3, 9.8, 10.6, 10.0, 14.7, 10.7, 10.8, 9.0, 12.1),
)


class MaBbob(Suite):
    """MA-BBOB: a few BBOB functions mixed into one, its optimum anywhere in the box."""

    dimensions: Dimensions = (30,)
    generator: Literal["publication", "ioh"] = Field(
        "publication",
        description="the generator of instances: the one published with MA-BBOB, or ioh's "
        "ManyAffine(instance, d), which the paper seems to use: fewer functions with small "
        "weights, one instance id for all of them, and the optimum in [-4, 4]^d",
    )
    maximise: Literal[False] = Field(False, description="always false: MA-BBOB is minimised")

    kind = Kind.CONTINUOUS

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        dimension = int(rng.choice(self.dimensions))
        if self.generator == "publication":
            weights = sparse_weights(rng)
            instances = rng.integers(1, LAST_INSTANCE_ID, FUNCTIONS, endpoint=True)
            optimum_from = {"optimum_seed": int(rng.integers(2**53))}
        else:
            instance = int(rng.integers(1, LAST_AFFINE_INSTANCE, endpoint=True))
            weights = affine_weights(instance)
            instances = np.full(FUNCTIONS, instance)
            optimum_from = {"affine_instance": instance}
        active = np.flatnonzero(weights)
        return f"{self.suite}-{index}-d{dimension}", {
            "dimension": dimension,
            "functions": (active + 1).tolist(),
            "weights": weights[active].tolist(),
            "instances": instances[active].tolist(),
            **optimum_from,
        }

    def build(self, spec: Spec, setting: Setting) -> Problem:
        from polarbear.problems.bbob.instances import bbob_function, mixture_problem

        functions = [
            bbob_function(id, instance, spec["dimension"])
            for id, instance in zip(spec["functions"], spec["instances"], strict=True)
        ]
        scales = [SCALES[id - 1] for id in spec["functions"]]
        return mixture_problem(functions, spec["weights"], scales, optimum(spec))

    def best_value(self, spec: Spec) -> float:
        return 0.0


def sparse_weights(rng: np.random.Generator) -> Floats:
    """Weights of the 24 functions: at least two, on average 3.7, are not zero."""
    weights = rng.uniform(size=FUNCTIONS)
    threshold = min(THRESHOLD, np.sort(weights)[-3])
    above = np.maximum(weights - threshold, 0.0)
    return np.asarray(above / above.sum())


def affine_weights(instance: int) -> Floats:
    """Weights as ioh's ManyAffine draws them: those above a threshold, or the two largest."""
    weights = _ioh_uniform(FUNCTIONS, AFFINE_WEIGHTS + instance)
    largest = np.argsort(-weights, kind="stable")[:2]
    weights[largest] = np.maximum(weights[largest], THRESHOLD)
    weights[weights < THRESHOLD] = 0.0
    return np.asarray(weights / np.add.accumulate(weights)[-1])


def _ioh_uniform(count: int, seed: int) -> Floats:
    """Numbers of ioh's generator."""
    from polarbear.problems.bbob import instances, rng

    return np.asarray(rng.uniform(count, instances.as_int(seed)))


def optimum(spec: Spec) -> Floats:
    """The location of the optimum: uniform in the box, or by ioh's generator in [-4, 4]^d.

    It is drawn again rather than stored, to keep specs small; a test pins NumPy's stream.
    """
    if "affine_instance" in spec:
        shares = _ioh_uniform(int(spec["dimension"]), AFFINE_OPTIMUM + spec["affine_instance"])
        return shares * 8.0 - 4.0
    rng = np.random.default_rng(spec["optimum_seed"])
    return rng.uniform(-5.0, 5.0, size=int(spec["dimension"]))
