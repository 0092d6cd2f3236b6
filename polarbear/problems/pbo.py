"""PBO: pseudo-Boolean problems, through IOHexperimenter's package ioh."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from polarbear.errors import MissingExtraError
from polarbear.problems.base import Kind, Problem, Range, Setting, Spec
from polarbear.problems.numbered_suites import Dimensions, Functions, InstanceIds, NumberedSuite
from polarbear.wording import joined

BITS = frozenset({0, 1})


class Pbo(NumberedSuite):
    """PBO: 25 pseudo-Boolean problems on {0, 1}^d, to be maximised."""

    functions: Functions = tuple(range(1, 26))
    dimensions: Dimensions = (64,)
    instance_ids: InstanceIds = Range.model_validate({"from": 1, "to": 100})
    maximise: Literal[True] = Field(True, description="always true: PBO is maximised")

    kind = Kind.INTEGER
    title = "PBO"
    last_function = 25
    # IsingTorus, IsingTriangular, NQueens; for the torus ioh ignores surplus variables silently.
    on_square_grids: ClassVar[tuple[int, ...]] = (20, 21, 23)

    @model_validator(mode="after")
    def _square_where_needed(self) -> Pbo:
        gridded = [f for f in self.on_square_grids if f in self.functions]
        for dimension in self.dimensions if gridded else ():
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
        ioh_package(self.suite)
        return super().draw(index, rng, setting)

    def build(self, spec: Spec, setting: Setting) -> Problem:
        ioh = ioh_package(self.suite)
        which = (spec["function"], spec["instance"], spec["dimension"])
        function = ioh.get_problem(*which, ioh.ProblemClass.PBO)
        lower, upper = (np.array(b, dtype=float) for b in (function.bounds.lb, function.bounds.ub))
        return Problem(_on_bits(function), lower, upper, maximise=True)


def _on_bits(function: Any) -> Callable[[Any], float]:
    def evaluate(x: Any) -> float:
        point = x.tolist() if isinstance(x, np.ndarray) else x
        # ioh evaluates any numbers: twos would beat the optimum of OneMax.
        if not BITS.issuperset(point):
            wrong = next(value for value in point if value not in BITS)
            raise ValueError(f"points of PBO consist of zeros and ones, found {wrong}")
        return float(function([int(bit) for bit in point]))

    return evaluate


def ioh_package(suite: str) -> Any:
    """The package ioh; an error with the command to install it if it is missing."""
    try:
        import ioh
    except ImportError as error:
        raise MissingExtraError(f"suite '{suite}'", "ioh", "bbob") from error
    return ioh
