"""Test problems of pymoo with several objectives: ZDT, DTLZ and WFG.

Each suite is finite: every function with every number of variables is one instance.
"""

from __future__ import annotations

import importlib
from itertools import product
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from pydantic import Field

from polarbear.errors import MissingExtraError, ProblemError
from polarbear.problems.base import Kind, Problem, Setting, Spec, Suite
from polarbear.problems.numbered_suites import Dimensions
from polarbear.rankings.archives import MAX_OBJECTIVES

ZdtName = Literal["zdt1", "zdt2", "zdt3", "zdt4", "zdt6"]
DtlzName = Literal["dtlz1", "dtlz2", "dtlz3", "dtlz4", "dtlz5", "dtlz6", "dtlz7"]
WfgName = Literal["wfg1", "wfg2", "wfg3", "wfg4", "wfg5", "wfg6", "wfg7", "wfg8", "wfg9"]
FUNCTIONS = "the functions, each once with every number of variables"
MINIMISED = "always false: all objectives are minimised"


class PymooSuite(Suite):
    """Functions of pymoo, each with several numbers of variables."""

    functions: tuple[str, ...]
    dimensions: Dimensions
    maximise: Literal[False] = Field(False, description=MINIMISED)

    kind: ClassVar[Kind] = Kind.CONTINUOUS

    def size(self, setting: Setting) -> int:
        return len(self.functions) * len(self.dimensions)

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        function, dimension = list(product(self.functions, self.dimensions))[index]
        spec = {"function": function, "dimension": dimension}
        self._function(spec)
        return f"{function}-d{dimension}-m{self.objectives}", spec

    def build(self, spec: Spec, setting: Setting) -> Problem:
        function = self._function(spec)

        def evaluate(x: object) -> list[float]:
            point = np.asarray(x, dtype=np.float64)
            values: list[float] = function.evaluate(point, return_values_of=["F"]).tolist()
            return values

        lower, upper = function.bounds()
        return Problem(evaluate, np.asarray(lower, float), np.asarray(upper, float))

    def _function(self, spec: Spec) -> Any:
        """The function of pymoo; an error in one line if its numbers do not go together."""
        try:
            problems = importlib.import_module("pymoo.problems")
        except ImportError as error:
            raise MissingExtraError(f"suite '{self.suite}'", "pymoo", "multi") from error
        try:
            return problems.get_problem(spec["function"], **self._arguments(spec))
        except Exception as error:  # each family checks its numbers in its own way
            raise ProblemError(
                f"pymoo cannot make {spec['function']} with {spec['dimension']} variables and "
                f"{self.objectives} objectives: {error}"
            ) from error

    def _arguments(self, spec: Spec) -> dict[str, int]:
        return {"n_var": spec["dimension"], "n_obj": self.objectives}


class Zdt(PymooSuite):
    """ZDT: five functions of pymoo with two objectives on real numbers."""

    functions: tuple[ZdtName, ...] = Field(get_args(ZdtName), min_length=1, description=FUNCTIONS)
    dimensions: Dimensions = (10, 30)
    objectives: Literal[2] = Field(2, description="always 2")

    def _arguments(self, spec: Spec) -> dict[str, int]:
        return {"n_var": spec["dimension"]}


class Dtlz(PymooSuite):
    """DTLZ: seven functions of pymoo with any number of objectives."""

    functions: tuple[DtlzName, ...] = Field(get_args(DtlzName), min_length=1, description=FUNCTIONS)
    dimensions: Dimensions = (7, 12, 22)
    objectives: int = Field(3, ge=2, le=MAX_OBJECTIVES, description="the number of objectives")


class Wfg(PymooSuite):
    """WFG: nine functions of pymoo with any number of objectives."""

    functions: tuple[WfgName, ...] = Field(get_args(WfgName), min_length=1, description=FUNCTIONS)
    dimensions: Dimensions = (12, 24)
    objectives: int = Field(2, ge=2, le=MAX_OBJECTIVES, description="the number of objectives")
