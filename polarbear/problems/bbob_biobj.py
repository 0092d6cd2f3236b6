"""bbob-biobj: pairs of BBOB functions as problems with two objectives.

Definition: Brockhoff, Auger, Hansen, Tušar: Using Well-Understood Single-Objective Functions in
Multiobjective Black-Box Optimization Test Suites, Evolutionary Computation 30(2), 2022. Ten of the
24 functions are paired with each other and with themselves. The instance numbers of the two
objectives differ, so that their optima do.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from polarbear.problems.base import Kind, Problem, Range, Setting, Spec
from polarbear.problems.numbered_suites import FUNCTION_IDS, Dimensions, InstanceIds, NumberedSuite

PAIRED_FUNCTIONS = (1, 2, 6, 8, 13, 14, 15, 17, 20, 21)
FUNCTION_PAIRS = tuple(combinations_with_replacement(PAIRED_FUNCTIONS, 2))
# The instance numbers of both objectives for the instances 1, 2 and so on, as COCO has them: mostly
# 2 k + 1 and the next one, but for pairs whose optima would be too close.
INSTANCE_PAIRS = (
    *((2, 4), (3, 5), (7, 8), (9, 10), (11, 12), (13, 14), (15, 16), (17, 18)),
    *((19, 21), (21, 22), (23, 24), (25, 26), (27, 28), (29, 30), (31, 34)),
)


class BbobBiobj(NumberedSuite):
    """bbob-biobj: 55 pairs of BBOB functions with two objectives, and COCO's instance numbers."""

    functions: tuple[Annotated[int, Field(ge=1, le=len(FUNCTION_PAIRS))], ...] = Field(
        tuple(range(1, len(FUNCTION_PAIRS) + 1)), min_length=1, description=FUNCTION_IDS
    )
    dimensions: Dimensions = (10,)
    instance_ids: InstanceIds = Range.model_validate({"from": 1, "to": len(INSTANCE_PAIRS)})
    half_width: float = Field(
        5.0,
        gt=0,
        allow_inf_nan=False,
        description="half the width of the box that is searched: 5, in which COCO's algorithms "
        "start, or 100, COCO's region of interest",
    )
    maximise: Literal[False] = Field(False, description="always false: both are minimised")
    objectives: Literal[2] = Field(2, description="always 2")

    kind = Kind.CONTINUOUS

    @model_validator(mode="after")
    def _of_the_table(self) -> Self:
        ids = self.instance_ids
        last = ids.stop if isinstance(ids, Range) else max(ids)
        if last > len(INSTANCE_PAIRS):
            raise ValueError(f"instances have the numbers 1 to {len(INSTANCE_PAIRS)}, found {last}")
        return self

    def build(self, spec: Spec, setting: Setting) -> Problem:
        from polarbear.problems.bbob.instances import bbob_function, function_problem

        dimension = int(spec["dimension"])
        pairs = zip(
            FUNCTION_PAIRS[spec["function"] - 1], INSTANCE_PAIRS[spec["instance"] - 1], strict=True
        )
        first, second = (
            function_problem(bbob_function(function, instance, dimension)).evaluate
            for function, instance in pairs
        )
        box = np.full(dimension, self.half_width)
        return Problem(lambda x: (first(x), second(x)), -box, box)
