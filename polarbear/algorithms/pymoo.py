"""Evolutionary algorithms of pymoo for several objectives."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from math import comb
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.errors import AlgorithmError, MissingExtraError
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Kind, Setting
from polarbear.settings.options import unknown

MethodName = Literal["nsga2", "nsga3", "moead", "sms-emoa"]
CLASSES: Mapping[str, tuple[str, str]] = {
    "nsga2": ("pymoo.algorithms.moo.nsga2", "NSGA2"),
    "nsga3": ("pymoo.algorithms.moo.nsga3", "NSGA3"),
    "moead": ("pymoo.algorithms.moo.moead", "MOEAD"),
    "sms-emoa": ("pymoo.algorithms.moo.sms", "SMSEMOA"),
}
# Options that a configuration may set; others are objects, or set here.
TUNABLE: Mapping[str, tuple[str, ...]] = {
    "nsga2": ("n_offsprings",),
    "nsga3": ("n_offsprings",),
    "moead": ("n_neighbors", "prob_neighbor_mating"),
    "sms-emoa": ("n_offsprings", "normalize"),
}
WITH_DIRECTIONS = ("nsga3", "moead")
LARGEST_VALUE = 1e100  # replaces infinity, on which the methods' arithmetic fails
SEEDS = 2**32


class Pymoo(Algorithm):
    """An evolutionary algorithm of pymoo for several objectives, until the budget ends."""

    method: MethodName = Field(description="the algorithm")
    popsize: int = Field(
        100,
        ge=4,
        description="the population; of nsga3 and moead the most reference directions, which are "
        "evenly spaced",
    )
    options: dict[str, Any] = Field(
        {}, description="further options of the algorithm, such as n_offsprings or n_neighbors"
    )

    library: ClassVar[str | None] = "pymoo"
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.CONTINUOUS})
    accepts_objectives: ClassVar[bool] = True

    @field_validator("options")
    @classmethod
    def _tunable(cls, options: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
        if "method" in info.data:
            method = info.data["method"]
            for name in options:
                if name not in TUNABLE[method]:
                    raise ValueError(unknown(f"option of {method}", name, TUNABLE[method]))
        return options

    def population(self, dimension: int) -> int:
        return self.popsize

    def prepare(self, setting: Setting) -> None:
        self._import(CLASSES[self.method][0])

    def load(self) -> None:
        self._import(CLASSES[self.method][0])

    def run(self, trial: Trial, setting: Setting) -> None:
        lower, upper = trial.box
        problem = self._import("pymoo.core.problem").Problem(
            n_var=len(lower), n_obj=trial.n_objectives, xl=lower, xu=upper
        )
        static = self._import("pymoo.problems.static").StaticProblem
        evaluator = self._import("pymoo.core.evaluator").Evaluator()
        algorithm = self._made(trial.n_objectives)
        never = self._import("pymoo.core.termination").NoTermination()
        algorithm.setup(problem, termination=never, seed=trial.seed % SEEDS)
        while True:
            asked = algorithm.ask()  # a population, or a single point of MOEA/D
            points = np.atleast_2d(asked.get("X").astype(float))
            values, constraints = self._evaluated(np.clip(points, lower, upper), trial)
            outputs: dict[str, Floats] = {"F": values}
            if constraints is not None:
                problem.n_ieq_constr = constraints.shape[1]
                outputs["G"] = constraints
            evaluator.eval(static(problem, **outputs), asked)
            algorithm.tell(infills=asked)

    def _evaluated(self, points: Floats, trial: Trial) -> tuple[Floats, Floats | None]:
        """The values of all objectives at some points, and the constraints, if there are any."""
        values = []
        constraints = []
        for point in points:
            values.append(np.atleast_1d(trial.evaluate(point)))
            constraints.append(trial.constraints())
        finite_values = np.minimum(np.array(values, dtype=np.float64), LARGEST_VALUE)
        if constraints[0] is None:
            return finite_values, None
        if self.method == "moead":
            raise AlgorithmError("pymoo's MOEA/D takes no constraints")
        return finite_values, np.minimum(np.array(constraints, dtype=np.float64), LARGEST_VALUE)

    def _made(self, n_objectives: int) -> Any:
        """The algorithm of pymoo."""
        module, name = CLASSES[self.method]
        method = getattr(self._import(module), name)
        if self.method not in WITH_DIRECTIONS:
            return method(pop_size=self.popsize, **self.options)
        if n_objectives == 1:
            raise AlgorithmError(f"{self.method} needs several objectives; take nsga2 or sms-emoa")
        directions = self._import("pymoo.util.ref_dirs").get_reference_directions(
            "das-dennis", n_objectives, n_partitions=n_partitions(self.popsize, n_objectives)
        )
        return method(ref_dirs=directions, **self.options)

    def _import(self, module: str) -> Any:
        try:
            return importlib.import_module(module)
        except ImportError as error:
            raise MissingExtraError("adapter 'pymoo'", "pymoo", "multi") from error


def n_partitions(most_directions: int, n_objectives: int) -> int:
    """The finest even partition of the simplex that has at most some number of directions."""
    partitions = 1
    while comb(partitions + n_objectives, n_objectives - 1) <= most_directions:
        partitions += 1
    return partitions
