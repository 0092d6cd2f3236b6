"""Convex functions with linear constraints, as COCO's suite bbob-constrained builds them.

The constrained optimum is drawn first. The gradient of the first constraint is opposite to that of
the objective there, so that with a multiplier of 1 for it, and 0 for all others, the optimality
conditions hold. The gradients of the other constraints are random, and turned so that the gradient
of the objective is a feasible direction. All are scaled by random factors. Of every three
constraints one is inactive at the optimum. Unlike in COCO the numbers are drawn by NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from pydantic import Field

from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Problem, Range, Setting, Spec, Suite
from polarbear.problems.classic import BOUND, in_order_sum, orthonormal, sum_of_squares

LARGEST_COORDINATE = 4.0  # of the optimum, which keeps it away from the bounds
LARGEST_OFFSET = 2.0  # of the optimum from that without constraints, in each rotated coordinate
ORDERS_OF_ALL = 1.0  # a factor of up to this many orders of magnitude scales all constraints
ORDERS_OF_EACH = 2.0  # and one of up to this many each single one
CONDITION_ORDERS = 6.0  # orders of magnitude between the weights of the ellipsoid
EVERY_THIRD = 3

Name = Literal["sphere", "ellipsoid"]


class LinearConstraints(Suite):
    """Sphere and ellipsoid on [-5, 5]^d with linear constraints; the optimum has the value 0."""

    functions: tuple[Name, ...] = Field(
        get_args(Name), min_length=1, description="which functions, each equally likely"
    )
    dimensions: Range = Field(
        Range.model_validate({"from": 2, "to": 10}),
        description="numbers of variables, each equally likely: {from, to}",
    )
    constraints: Range = Field(
        Range.model_validate({"from": 1, "to": 9}),
        description="numbers of constraints, each equally likely; a third of them, rounded down, "
        "is inactive at the optimum",
    )

    kind: ClassVar[Kind] = Kind.CONTINUOUS

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        function = self.functions[rng.integers(len(self.functions))]
        dimension = self.dimensions.draw(rng)
        constraints = self.constraints.draw(rng)
        spec = {
            "function": function,
            "dimension": dimension,
            "constraints": constraints,
            "seed": int(rng.integers(2**31)),
        }
        return f"linear-{index}-{function}-d{dimension}-m{constraints}", spec

    def build(self, spec: Spec, setting: Setting) -> Problem:
        dimension = int(spec["dimension"])
        bound = np.full(dimension, BOUND)
        return Problem(constrained_function(spec), -bound, bound)

    def best_value(self, spec: Spec) -> float:
        return 0.0


@dataclass(frozen=True)
class ConstrainedFunction:
    """A convex quadratic function and linear constraints; called with x it returns both.

    The function is the difference of a weighted sum of squares from its value at the optimum.
    ``normals`` has one constraint per column, ``slacks`` how far each is from active there.
    """

    optimum: Floats
    rotation: Floats
    weights: Floats
    offset: Floats  # of the optimum from that without constraints, in rotated coordinates
    normals: Floats
    slacks: Floats

    def __call__(self, x: object) -> tuple[float, list[float]]:
        step = np.asarray(x, dtype=np.float64) - self.optimum
        rotated = in_order_sum(step[:, np.newaxis] * self.rotation)
        # The difference of two squares, without the rounding error of each.
        value = in_order_sum(self.weights * rotated * (2.0 * self.offset + rotated))
        constraints = in_order_sum(step[:, np.newaxis] * self.normals) - self.slacks
        return float(value), constraints.tolist()

    def gradient_at_optimum(self) -> Floats:
        """The gradient of the function at the constrained optimum."""
        in_rotated_coordinates = 2.0 * self.weights * self.offset
        return in_order_sum(in_rotated_coordinates[:, np.newaxis] * self.rotation.T)


def constrained_function(spec: Spec) -> ConstrainedFunction:
    """The function of a specification, with its constraints."""
    dimension = int(spec["dimension"])
    n_constraints = int(spec["constraints"])
    rng = np.random.default_rng(spec["seed"])
    optimum = rng.uniform(-LARGEST_COORDINATE, LARGEST_COORDINATE, dimension)
    rotation = orthonormal(rng.standard_normal((dimension, dimension)))
    offset = rng.uniform(-LARGEST_OFFSET, LARGEST_OFFSET, dimension)
    weights = np.ones(dimension)
    if spec["function"] == "ellipsoid":
        weights = np.power(10.0, CONDITION_ORDERS * np.linspace(0.0, 1.0, dimension))
    no_constraints = np.empty((dimension, 0))
    function = ConstrainedFunction(optimum, rotation, weights, offset, no_constraints, np.empty(0))
    gradient = function.gradient_at_optimum()
    direction = gradient / np.sqrt(sum_of_squares(gradient))
    normals = rng.standard_normal((dimension, n_constraints))
    normals[:, 0] = -direction
    leads_out = in_order_sum(direction[:, np.newaxis] * normals) > 0
    normals[:, leads_out] *= -1.0
    slacks = rng.uniform(0.0, 1.0, n_constraints)
    is_inactive = np.arange(1, n_constraints + 1) % EVERY_THIRD == 0
    slacks[~is_inactive] = 0.0
    scale = 10.0 ** rng.uniform(0.0, ORDERS_OF_ALL)
    scales = scale * 10.0 ** rng.uniform(0.0, ORDERS_OF_EACH, n_constraints)
    order = rng.permutation(n_constraints)  # the first constraint is not a special one
    return ConstrainedFunction(
        optimum, rotation, weights, offset, (normals * scales)[:, order], (slacks * scales)[order]
    )
