"""Suites whose instances have a function number, a dimension and an instance number.

BBOB and SBOX-COST are here: single instances of the 24 functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, TypeAdapter, field_validator

from polarbear.problems.base import LARGEST_NUMBER, Kind, Problem, Range, Setting, Spec, Suite
from polarbear.settings.options import describe

SMALLEST_DIMENSION = 2

Functions = Annotated[
    tuple[int, ...], Field(description="ids of the functions to draw from; by default all")
]
Dimensions = Annotated[
    tuple[int, ...], Field(description="numbers of variables to draw from, each at least 2")
]
InstanceIds = Annotated[
    Range | tuple[int, ...],
    Field(description="the functions' instance ids to draw from: {from, to}, or a list"),
]


class NumberedSuite(Suite):
    """Numbered functions; an instance is a function, a dimension and an instance id."""

    functions: Functions
    dimensions: Dimensions
    instance_ids: InstanceIds

    title: ClassVar[str]
    last_function: ClassVar[int]

    @field_validator("functions")
    @classmethod
    def _known_functions(cls, functions: tuple[int, ...]) -> tuple[int, ...]:
        known = f"the functions of {cls.title} are numbered 1 to {cls.last_function}"
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
        function = int(rng.choice(self.functions))
        dimension = int(rng.choice(self.dimensions))
        ids = self.instance_ids
        instance = ids.draw(rng) if isinstance(ids, Range) else int(rng.choice(ids))
        label = f"{self.suite}-{index}-f{function}-d{dimension}-i{instance}"
        return label, {"function": function, "dimension": dimension, "instance": instance}


# Compiled modules are imported where problems are built: other commands start faster without them.


class BbobSuite(NumberedSuite):
    """The 24 BBOB functions in one of their two forms."""

    functions: Functions = tuple(range(1, 25))
    dimensions: Dimensions = (10,)
    instance_ids: InstanceIds = Range.model_validate({"from": 1, "to": 999})
    maximise: Literal[False] = Field(False, description="always false: BBOB is minimised")

    kind = Kind.CONTINUOUS
    last_function = 24
    boxed: ClassVar[bool]

    def build(self, spec: Spec, setting: Setting) -> Problem:
        from polarbear.problems.bbob import instances, problem

        make = instances.sbox_function if self.boxed else instances.bbob_function
        function = make(spec["function"], spec["instance"], spec["dimension"])
        return problem.function_problem(function)

    def best_value(self, spec: Spec) -> float:
        from polarbear.problems.bbob.instances import best_value

        return best_value(spec["function"], spec["instance"])


class Bbob(BbobSuite):
    """BBOB: 24 functions on [-5, 5]^d, defined outside the box as well."""

    title = "BBOB"
    boxed = False


class Sbox(BbobSuite):
    """SBOX-COST: the BBOB functions with optima anywhere in the box, and inf outside of it."""

    title = "SBOX"
    boxed = True


def checked_dimensions(dimensions: tuple[int, ...]) -> tuple[int, ...]:
    for dimension in dimensions:
        if dimension < SMALLEST_DIMENSION:
            raise ValueError(
                f"dimension {dimension} is not possible; these functions need at least "
                f"{SMALLEST_DIMENSION} variables"
            )
    return checked_list(dimensions, "name at least one dimension")


def checked_list(values: tuple[int, ...], remedy: str) -> tuple[int, ...]:
    """The values, if there are any and all differ."""
    if not values:
        raise ValueError(f"the list is empty; {remedy}")
    for position, value in enumerate(values):
        if value in values[:position]:
            raise ValueError(f"{value} is listed twice, but all are drawn equally often")
    return values
