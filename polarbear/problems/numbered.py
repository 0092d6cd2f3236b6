"""The suites of IOHexperimenter whose instances are single functions: BBOB, SBOX and PBO."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isqrt
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, TypeAdapter, field_validator, model_validator

from polarbear.errors import MissingExtraError
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import LARGEST_NUMBER, Kind, Problem, Range, Setting, Spec, Suite
from polarbear.settings.options import describe
from polarbear.wording import joined

SMALLEST_DIMENSION = 2
BITS = frozenset({0, 1})


Functions = Annotated[
    tuple[int, ...], Field(description="ids of the functions to draw from; by default all")
]
Dimensions = Annotated[
    tuple[int, ...], Field(description="numbers of variables to draw from, each at least 2")
]
InstanceIds = Annotated[
    Range | tuple[int, ...],
    Field(description="ioh's instance ids to draw from: {from, to}, or a list"),
]


class IohSuite(Suite):
    """Functions of one of ioh's problem classes; an instance is a function with its dimension."""

    functions: Functions
    dimensions: Dimensions
    instance_ids: InstanceIds

    problem_class: ClassVar[str]
    last_function: ClassVar[int]

    @field_validator("functions")
    @classmethod
    def _known_functions(cls, functions: tuple[int, ...]) -> tuple[int, ...]:
        known = f"the functions of {cls.problem_class} are numbered 1 to {cls.last_function}"
        for function in functions:
            if not 1 <= function <= cls.last_function:
                raise ValueError(f"there is no function {function}; {known}")
        return checked_list(functions, f"leave the key out for all; {known}")

    @field_validator("dimensions")
    @classmethod
    def _possible_dimensions(cls, dimensions: tuple[int, ...]) -> tuple[int, ...]:
        return checked_dimensions(dimensions)

    @field_validator("instance_ids", mode="before")
    @classmethod
    def _range_or_list(cls, ids: Any) -> Any:
        if isinstance(ids, Mapping):
            return Range.model_validate(ids)
        if isinstance(ids, list | tuple):
            whole: tuple[int, ...] = TypeAdapter(tuple[int, ...]).validate_python(ids)
            for instance in whole:
                if not 1 <= instance <= LARGEST_NUMBER:
                    raise ValueError(f"instance ids go from 1 to {LARGEST_NUMBER}, not {instance}")
            return checked_list(whole, "name at least one instance id")
        if isinstance(ids, Range):
            return ids
        raise ValueError(f"expected {{from, to}} or a list of ids, found {describe(ids)}")

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        ioh_package(self.suite)
        function = int(rng.choice(self.functions))
        dimension = int(rng.choice(self.dimensions))
        ids = self.instance_ids
        instance = ids.draw(rng) if isinstance(ids, Range) else int(rng.choice(ids))
        label = f"{self.suite}-{index}-f{function}-d{dimension}-i{instance}"
        return label, {"function": function, "dimension": dimension, "instance": instance}

    def function(self, spec: Spec) -> Any:
        ioh = ioh_package(self.suite)
        return ioh_function(
            ioh, self.problem_class, spec["function"], spec["instance"], spec["dimension"]
        )


class ContinuousIohSuite(IohSuite):
    """The 24 BBOB functions in one of their two forms."""

    functions: Functions = tuple(range(1, 25))
    dimensions: Dimensions = (10,)
    instance_ids: InstanceIds = Range.model_validate({"from": 1, "to": 999})
    maximise: Literal[False] = Field(False, description="always false: BBOB is minimised")

    kind = Kind.CONTINUOUS
    last_function = 24

    def build(self, spec: Spec, setting: Setting) -> Problem:
        function = self.function(spec)
        return Problem(lambda x: function(as_list(x)), *bbob_box(spec["dimension"]))

    def best_value(self, spec: Spec) -> float:
        return float(self.function(spec).optimum.y)


class Bbob(ContinuousIohSuite):
    """BBOB: 24 functions on [-5, 5]^d, defined outside the box as well."""

    problem_class = "BBOB"


class Sbox(ContinuousIohSuite):
    """SBOX-COST: the BBOB functions with optima anywhere in the box, and inf outside of it."""

    problem_class = "SBOX"


class Pbo(IohSuite):
    """PBO: 25 pseudo-Boolean problems on {0, 1}^d, to be maximised."""

    functions: Functions = tuple(range(1, 26))
    dimensions: Dimensions = (64,)
    instance_ids: InstanceIds = Range.model_validate({"from": 1, "to": 100})
    maximise: Literal[True] = Field(True, description="always true: PBO is maximised")

    kind = Kind.INTEGER
    problem_class = "PBO"
    last_function = 25
    # IsingTorus, IsingTriangular, NQueens. ioh itself lets the torus pass, and ignores variables.
    on_square_grids: ClassVar[tuple[int, ...]] = (20, 21, 23)

    @model_validator(mode="after")
    def _square_where_needed(self) -> Pbo:
        gridded = [f for f in self.on_square_grids if f in self.functions]
        for dimension in self.dimensions if gridded else ():
            root = isqrt(dimension)
            if root**2 != dimension:
                squares = sorted({max(root, 2) ** 2, (root + 1) ** 2})
                raise ValueError(
                    f"functions {', '.join(map(str, self.on_square_grids))} live on square grids, "
                    f"so dimension {dimension} is not possible: take "
                    f"{joined([str(square) for square in squares], 'or')}, or leave these "
                    "functions out"
                )
        return self

    def build(self, spec: Spec, setting: Setting) -> Problem:
        function = self.function(spec)
        lower, upper = (np.array(b, dtype=float) for b in (function.bounds.lb, function.bounds.ub))
        return Problem(_on_bits(function), lower, upper, maximise=True)


def _on_bits(function: Any) -> Callable[[Any], float]:
    def evaluate(x: Any) -> float:
        point = as_list(x)
        # ioh evaluates anything: twos would beat the optimum of OneMax.
        if not BITS.issuperset(point):
            wrong = next(value for value in point if value not in BITS)
            raise ValueError(f"points of PBO consist of zeros and ones, found {wrong}")
        return float(function([int(bit) for bit in point]))

    return evaluate


def ioh_package(suite: str) -> Any:
    """The package ioh, or an error that says how to get it."""
    try:
        import ioh
    except ImportError as error:
        raise MissingExtraError(f"suite '{suite}'", "ioh", "bbob") from error
    return ioh


def ioh_function(ioh: Any, problem_class: str, function: int, instance: int, dimension: int) -> Any:
    """One of ioh's functions, ready to be called."""
    return ioh.get_problem(function, instance, dimension, ioh.ProblemClass[problem_class])


def as_list(x: Any) -> Any:
    """A point as ioh takes it fastest: reading an array takes it several times as long."""
    return x.tolist() if isinstance(x, np.ndarray) else x


def bbob_box(dimension: int) -> tuple[Floats, Floats]:
    return np.full(dimension, -5.0), np.full(dimension, 5.0)


def checked_dimensions(dimensions: tuple[int, ...]) -> tuple[int, ...]:
    for dimension in dimensions:
        if dimension < SMALLEST_DIMENSION:
            raise ValueError(
                f"dimension {dimension} is not possible; these functions need at least "
                f"{SMALLEST_DIMENSION} variables"
            )
    return checked_list(dimensions, "name at least one dimension")


def checked_list(values: tuple[int, ...], remedy: str) -> tuple[int, ...]:
    """The values, if there are any and no two are the same."""
    if not values:
        raise ValueError(f"the list is empty; {remedy}")
    for position, value in enumerate(values):
        if value in values[:position]:
            raise ValueError(f"{value} is listed twice, but all are drawn equally often")
    return values
