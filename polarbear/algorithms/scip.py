"""SCIP, a solver of mixed-integer programs, by its package pyscipopt."""

from pathlib import Path
from typing import Any, ClassVar

from polarbear.algorithms.base import Trial
from polarbear.algorithms.solver import Incumbents, Solver, solver_seed
from polarbear.algorithms.solver_logs.log_format import Ending
from polarbear.errors import AlgorithmError
from polarbear.problems.base import Kind
from polarbear.settings.options import describe, unknown


class Scip(Solver):
    """SCIP on a file of a mixed-integer program."""

    library: ClassVar[str | None] = "pyscipopt"
    module: ClassVar[str] = "pyscipopt"
    title: ClassVar[str] = "SCIP"
    endings: ClassVar[tuple[str, ...]] = (".mps", ".lp", ".mps.gz", ".lp.gz")
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.MIP, Kind.NAME})

    def check_options(self) -> None:
        if self.options:
            self._set_options(self._quiet())

    def solve(self, path: Path, trial: Trial, incumbents: Incumbents) -> Ending:
        package = self.package()
        model = self._quiet()
        model.setParam("randomization/randomseedshift", solver_seed(trial))
        self._set_options(model)
        try:
            model.readProblem(str(path))
        except Exception as error:  # of several classes, with one line each
            raise AlgorithmError(f"SCIP cannot read {path}: {error}") from error
        self.check_sense(model.getObjectiveSense() == "maximize", trial)

        class Improvements(package.Eventhdlr):  # type: ignore[name-defined, misc]
            """Receives every solution that is better than those before."""

            def eventinit(self) -> None:
                self.model.catchEvent(package.SCIP_EVENTTYPE.BESTSOLFOUND, self)

            def eventexit(self) -> None:
                self.model.dropEvent(package.SCIP_EVENTTYPE.BESTSOLFOUND, self)

            def eventexec(self, event: object) -> None:
                incumbents.add_rounded(self.model.getSolObjVal(self.model.getBestSol()))
                if incumbents.must_stop:
                    self.model.interruptSolve()

        model.includeEventhdlr(Improvements(), "polarbear", "records incumbents")
        model.setParam("limits/time", incumbents.time_limit)
        model.optimize()
        status = model.getStatus()
        if status == "optimal":
            incumbents.add_rounded(model.getObjVal())
            return Ending.PROVEN
        return Ending.INFEASIBLE if status == "infeasible" else Ending.LIMIT

    def _quiet(self) -> Any:
        package = self.package()
        model = package.Model()
        model.hideOutput()
        return model

    def _set_options(self, model: Any) -> None:
        names = model.getParams()
        for name, value in self.options.items():
            if name not in names:
                raise self.refuse(unknown("parameter", name, names))
            try:
                model.setParam(name, value)
            except Exception as error:  # of several classes, by the type of the parameter
                reason = f"the parameter '{name}' does not take {describe(value)}"
                raise self.refuse(reason) from error
