"""PyVRP, a solver of vehicle routing problems."""

from pathlib import Path
from typing import Any, ClassVar

from polarbear.algorithms.base import Trial
from polarbear.algorithms.solver import Incumbents, Solver, solver_seed
from polarbear.algorithms.solver_logs.log_format import Ending
from polarbear.errors import AlgorithmError
from polarbear.problems.base import Kind
from polarbear.settings.options import unknown

OPERATORS = "operators"  # the only option that is a list


class Pyvrp(Solver):
    """PyVRP on a file in VRPLIB's format; its options are those of its file of parameters."""

    library: ClassVar[str | None] = "pyvrp"
    module: ClassVar[str] = "pyvrp"
    title: ClassVar[str] = "PyVRP"
    endings: ClassVar[tuple[str, ...]] = (".vrp",)
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.ROUTING, Kind.NAME})

    def check_options(self) -> None:
        if self.options:
            self._parameters()

    def solve(self, path: Path, trial: Trial, incumbents: Incumbents) -> Ending:
        package = self.package()
        try:
            data = package.read(path, round_func="round")
        except Exception as error:  # of its own and of its parser
            raise AlgorithmError(f"PyVRP cannot read {path}: {error}") from error
        self.check_sense(False, trial)

        def add(solution: Any) -> None:
            if solution.is_feasible():
                incumbents.add(solution.distance_cost() + solution.fixed_vehicle_cost())

        class Improvements(package.IteratedLocalSearchCallbacks):  # type: ignore[name-defined, misc]
            """Receives the first solution, and every one that is better than those before."""

            def on_start(self, ils: Any) -> None:
                add(ils.initial_solution)

            def on_best(self, best: Any) -> None:
                add(best)

        package.solve(
            data,
            stop=lambda cost: incumbents.must_stop,
            seed=solver_seed(trial),
            collect_stats=False,
            display=False,
            params=self._parameters(Improvements()),
        )
        return Ending.ENDED

    def _parameters(self, callbacks: Any = None) -> Any:
        """The solver's parameters."""
        pyvrp = self.package()
        search = self.package("pyvrp.search")
        classes = {
            "ils": pyvrp.IteratedLocalSearchParams,
            "penalty": pyvrp.PenaltyParams,
            "neighbourhood": search.NeighbourhoodParams,
            "perturbation": search.PerturbationParams,
        }
        groups: dict[str, Any] = {}
        for group, values in self.options.items():
            if group == OPERATORS:
                groups[group] = [self._operator(search, name) for name in values]
            elif group not in classes:
                raise self.refuse(unknown("group of options", group, [*classes, OPERATORS]))
            elif not isinstance(values, dict):
                raise self.refuse(f"'{group}' is a mapping of options to values")
        for group, params in classes.items():
            values = self.options.get(group, {})
            names = [name for name in dir(params()) if not name.startswith("_")]
            for name in values:
                if name not in names:
                    raise self.refuse(unknown(f"option of {group}", name, names))
            own = {"callbacks": callbacks} if group == "ils" else {}
            try:
                groups[group] = params(**values, **own)
            except TypeError as error:  # of a class in C++, with all that it takes
                reason = f"'{group}' does not take {values}"
                raise self.refuse(reason) from error
            except ValueError as error:
                raise self.refuse(f"'{group}': {error}") from error
        return pyvrp.SolveParams(**groups)

    def _operator(self, search: Any, name: str) -> Any:
        names = [operator.__name__ for operator in search.OPERATORS]
        if name not in names:
            raise self.refuse(unknown("operator", name, names))
        return getattr(search, name)
