"""BBOB and SBOX-COST: single instances of the 24 functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from polarbear.problems.base import Kind, Problem, Range, Setting, Spec
from polarbear.problems.numbered import Dimensions, Functions, InstanceIds, NumberedSuite

if TYPE_CHECKING:
    from polarbear.problems.bbob.instances import Function

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
        from polarbear.problems.bbob.problem import function_problem

        return function_problem(self._function(spec))

    def best_value(self, spec: Spec) -> float:
        from polarbear.problems.bbob.instances import best_value

        return best_value(spec["function"], spec["instance"])

    def _function(self, spec: Spec) -> Function:
        from polarbear.problems.bbob.instances import bbob_function, sbox_function

        make = sbox_function if self.boxed else bbob_function
        return make(spec["function"], spec["instance"], spec["dimension"])


class Bbob(BbobSuite):
    """BBOB: 24 functions on [-5, 5]^d, defined outside the box as well."""

    title = "BBOB"
    boxed = False


class Sbox(BbobSuite):
    """SBOX-COST: the BBOB functions with optima anywhere in the box, and inf outside of it."""

    title = "SBOX"
    boxed = True
