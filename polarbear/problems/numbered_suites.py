"""Suites whose instances have a function number, a dimension and an instance number.

BBOB and SBOX-COST: single instances of the 24 functions in `bbob`. PBO: pseudo-Boolean problems,
through IOHexperimenter's package ioh.
"""

from __future__ import annotations

import importlib
from math import isqrt
from types import ModuleType
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Discriminator, Field, Tag, model_validator

from polarbear.errors import MissingExtraError
from polarbear.problems.base import LARGEST_NUMBER, Kind, Problem, Range, Setting, Spec, Suite
from polarbear.wording import joined

SMALLEST_DIMENSION = 2
FUNCTIONS = 24  # of BBOB
BITS = frozenset({0, 1})
FUNCTION_IDS = "ids of the functions to draw from; by default all"

Dimensions = Annotated[
    tuple[Annotated[int, Field(ge=SMALLEST_DIMENSION)], ...],
    Field(min_length=1, description="numbers of variables to draw from, each at least 2"),
]
IdList = Annotated[tuple[Annotated[int, Field(ge=1, le=LARGEST_NUMBER)], ...], Field(min_length=1)]
InstanceIds = Annotated[  # tags with a blank are not shown in messages
    Annotated[Range, Tag("a range")] | Annotated[IdList, Tag("a list")],
    Discriminator(lambda ids: "a list" if isinstance(ids, list | tuple) else "a range"),
    Field(description="the functions' instance ids to draw from: {from, to}, or a list"),
]


class NumberedSuite(Suite):
    """Numbered functions; an instance is a function, a dimension and an instance id."""

    functions: tuple[int, ...]
    dimensions: Dimensions
    instance_ids: InstanceIds

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        function = int(rng.choice(self.functions))
        dimension = int(rng.choice(self.dimensions))
        ids = self.instance_ids
        instance = ids.draw(rng) if isinstance(ids, Range) else int(rng.choice(ids))
        label = f"{self.suite}-{index}-f{function}-d{dimension}-i{instance}"
        return label, {"function": function, "dimension": dimension, "instance": instance}


class Bbob(NumberedSuite):
    """BBOB: 24 functions on [-5, 5]^d, defined outside the box as well."""

    functions: tuple[Annotated[int, Field(ge=1, le=24)], ...] = Field(
        tuple(range(1, 25)), min_length=1, description=FUNCTION_IDS
    )
    dimensions: Dimensions = (10,)
    instance_ids: InstanceIds = Range.model_validate({"from": 1, "to": 999})
    maximise: Literal[False] = Field(False, description="always false: BBOB is minimised")

    kind = Kind.CONTINUOUS
    boxed: ClassVar[bool] = False

    # Compiled modules are imported where they are used: other commands start faster without them.

    def build(self, spec: Spec, setting: Setting) -> Problem:
        from polarbear.problems.bbob import instances

        make = instances.sbox_function if self.boxed else instances.bbob_function
        function = make(spec["function"], spec["instance"], spec["dimension"])
        return instances.function_problem(function)

    def best_value(self, spec: Spec) -> float:
        from polarbear.problems.bbob.instances import best_value

        return best_value(spec["function"], spec["instance"])


class Sbox(Bbob):
    """SBOX-COST: the BBOB functions with optima anywhere in the box, and inf outside of it."""

    boxed: ClassVar[bool] = True


class Pbo(NumberedSuite):
    """PBO: 25 pseudo-Boolean problems on {0, 1}^d, to be maximised."""

    functions: tuple[Annotated[int, Field(ge=1, le=25)], ...] = Field(
        tuple(range(1, 26)), min_length=1, description=FUNCTION_IDS
    )
    dimensions: Dimensions = (64,)
    instance_ids: InstanceIds = Range.model_validate({"from": 1, "to": 100})
    maximise: Literal[True] = Field(True, description="always true: PBO is maximised")

    kind = Kind.INTEGER
    # IsingTorus, IsingTriangular, NQueens; for the torus ioh ignores surplus variables silently.
    on_square_grids: ClassVar[tuple[int, ...]] = (20, 21, 23)

    @model_validator(mode="after")
    def _square_where_needed(self) -> Self:
        if not set(self.functions).isdisjoint(self.on_square_grids):
            for dimension in self.dimensions:
                root = isqrt(dimension)
                if root**2 != dimension:
                    squares = sorted({max(root, 2) ** 2, (root + 1) ** 2})
                    raise ValueError(
                        f"functions {', '.join(map(str, self.on_square_grids))} need square grids, "
                        f"so dimension {dimension} is not possible: take "
                        f"{joined([str(square) for square in squares], 'or')}, or leave these "
                        "functions out"
                    )
        return self

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        _ioh()
        return super().draw(index, rng, setting)

    def build(self, spec: Spec, setting: Setting) -> Problem:
        dimension = spec["dimension"]
        function = _ioh().get_problem(
            spec["function"], spec["instance"], dimension, _ioh().ProblemClass.PBO
        )

        def evaluate(x: Any) -> float:
            point = x.tolist() if isinstance(x, np.ndarray) else x
            # ioh evaluates any numbers: twos would beat the optimum of OneMax.
            if not BITS.issuperset(point):
                wrong = next(value for value in point if value not in BITS)
                raise ValueError(f"points of PBO consist of zeros and ones, found {wrong}")
            return float(function([int(bit) for bit in point]))

        return Problem(evaluate, np.zeros(dimension), np.ones(dimension), maximise=True)


def _ioh() -> ModuleType:
    """The package ioh; an error with the command to install it if it is missing."""
    try:
        return importlib.import_module("ioh")
    except ImportError as error:
        raise MissingExtraError("suite 'pbo'", "ioh", "bbob") from error
