"""HiGHS, a solver of mixed-integer programs, by its package highspy."""

from pathlib import Path
from typing import Any, ClassVar

from polarbear.algorithms.base import Trial
from polarbear.algorithms.solver import Incumbents, Solver, solver_seed
from polarbear.algorithms.solver_logs.log_format import Ending
from polarbear.errors import AlgorithmError
from polarbear.problems.base import Kind
from polarbear.settings.options import describe, unknown


class Highs(Solver):
    """HiGHS on a file of a mixed-integer program, with one thread by default."""

    library: ClassVar[str | None] = "highspy"
    module: ClassVar[str] = "highspy"
    title: ClassVar[str] = "HiGHS"
    endings: ClassVar[tuple[str, ...]] = (".mps", ".lp", ".mps.gz", ".lp.gz")
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.MIP, Kind.NAME})

    def check_options(self) -> None:
        if self.options:
            self._set_options(self._quiet())

    def solve(self, path: Path, trial: Trial, incumbents: Incumbents) -> Ending:
        package = self.package()
        solver = self._quiet()
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("random_seed", solver_seed(trial))
        self._set_options(solver)
        if solver.readModel(str(path)) == package.HighsStatus.kError:
            raise AlgorithmError(f"HiGHS cannot read {path}")
        _, sense = solver.getObjectiveSense()
        self.check_sense(sense == package.ObjSense.kMaximize, trial)

        def on_improvement(event: Any) -> None:
            incumbents.add_rounded(event.data_out.objective_function_value)

        def on_question(event: Any) -> None:
            event.interrupt(incumbents.must_stop)

        solver.cbMipImprovingSolution += on_improvement
        solver.cbMipInterrupt += on_question
        solver.setOptionValue("time_limit", incumbents.time_limit)
        solver.run()
        status = solver.getModelStatus()
        if status == package.HighsModelStatus.kOptimal:
            # Without a callback if presolve or the simplex method alone has solved it.
            incumbents.add_rounded(solver.getInfo().objective_function_value)
            return Ending.PROVEN
        if status == package.HighsModelStatus.kInfeasible:
            return Ending.INFEASIBLE
        return Ending.LIMIT

    def _quiet(self) -> Any:
        package = self.package()
        solver = package.Highs()
        solver.setOptionValue("output_flag", False)
        return solver

    def _set_options(self, solver: Any) -> None:
        package = self.package()
        names = [name for name in dir(package.HighsOptions) if not name.startswith("_")]
        for name, value in self.options.items():
            if name not in names:
                raise self.refuse(unknown("option", name, names))
            if solver.setOptionValue(name, value) != package.HighsStatus.kOk:
                raise self.refuse(f"the option '{name}' does not take {describe(value)}")
