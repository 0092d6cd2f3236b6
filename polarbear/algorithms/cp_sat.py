"""CP-SAT, the constraint solver of OR-Tools, on job shops and on pure integer programs.

OR-Tools reads files of integer programs; their numbers are scaled, since CP-SAT needs whole ones.
"""

from collections.abc import Iterable
from decimal import Decimal
from math import isfinite
from pathlib import Path
from threading import Timer
from typing import Any, ClassVar

from polarbear.algorithms.base import Trial
from polarbear.algorithms.solver import Incumbents, Solver, solver_seed
from polarbear.algorithms.solver_logs.log_format import Ending
from polarbear.errors import AlgorithmError
from polarbear.problems.base import Kind
from polarbear.problems.job_shop import ENDING as JOB_SHOP
from polarbear.problems.job_shop import Jobs
from polarbear.settings.options import unknown

READER = "ortools.linear_solver.python.model_builder"  # of integer programs
LARGEST_FACTOR = 10**6  # that makes numbers whole
LARGEST_INTEGER = 2**52  # in a scaled constraint; CP-SAT's sums must not overflow
# CP-SAT ends before its time limit, on a busy machine long before it, by the longest time that lay
# between two looks at the clock. So a timer ends the search, and the limit is for a missed call.
SPARE_SECONDS = 1.0


class CpSat(Solver):
    """CP-SAT on a job shop or a pure integer program, with one worker by default."""

    library: ClassVar[str | None] = "ortools"
    module: ClassVar[str] = "ortools.sat.python.cp_model"
    title: ClassVar[str] = "CP-SAT"
    endings: ClassVar[tuple[str, ...]] = (JOB_SHOP, ".mps", ".lp")
    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.JOB_SHOP, Kind.MIP, Kind.NAME})

    def check_options(self) -> None:
        if self.options:
            self._parameters()

    def load(self) -> None:
        self.package()
        self.package(READER)

    def solve(self, path: Path, trial: Trial, incumbents: Incumbents) -> Ending:
        package = self.package()
        if path.name.endswith(JOB_SHOP):
            model = _job_shop_model(package, Jobs.read(path))
            self.check_sense(False, trial)
            factor = 1
            offset = 0.0
        else:
            program = _program(self.package(READER), path)
            self.check_sense(program.maximize, trial)
            model, factor = _integer_model(package, program)
            offset = program.objective_offset

        class Improvements(package.CpSolverSolutionCallback):  # type: ignore[name-defined, misc]
            """Receives every solution that is better than those before."""

            def on_solution_callback(self) -> None:
                incumbents.add(self.objective_value / factor + offset)
                if incumbents.must_stop:
                    self.stop_search()

        solver = package.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = solver_seed(trial)
        solver.parameters.merge_text_format(self._parameters())
        solver.parameters.max_time_in_seconds = incumbents.seconds_left + SPARE_SECONDS
        end = Timer(incumbents.seconds_left, solver.stop_search)
        end.start()
        try:
            status = solver.solve(model, Improvements())
        finally:
            end.cancel()
        if status == package.OPTIMAL:
            incumbents.add(solver.objective_value / factor + offset)
            return Ending.PROVEN
        if status == package.MODEL_INVALID:
            raise AlgorithmError(f"CP-SAT cannot solve {path.name}: {model.validate()}")
        return Ending.INFEASIBLE if status == package.INFEASIBLE else Ending.LIMIT

    def _parameters(self) -> str:
        """The options in protobuf's text format.

        Their names are in a module that loads nothing of the solver, so that they can be checked
        in a process that has loaded another one.
        """
        message_class = self.package("ortools.sat.sat_parameters_pb2").SatParameters
        json_format = self.package("google.protobuf.json_format")
        text_format = self.package("google.protobuf.text_format")
        names = message_class.DESCRIPTOR.fields_by_name
        for name in self.options:
            if name not in names:
                raise self.refuse(unknown("parameter", name, names))
        try:
            parameters = json_format.ParseDict(self.options, message_class())
        except json_format.ParseError as error:
            raise self.refuse(str(error).splitlines()[0]) from error
        return str(text_format.MessageToString(parameters))


def _job_shop_model(package: Any, jobs: Jobs) -> Any:
    """The model whose objective is the makespan."""
    model = package.CpModel()
    horizon = sum(sum(durations) for durations in jobs.durations)
    on_machine: dict[int, list[Any]] = {}
    last_ends = []
    for durations, machines in zip(jobs.durations, jobs.machines, strict=True):
        earliest: Any = 0
        for duration, machine in zip(durations, machines, strict=True):
            start = model.new_int_var(0, horizon, "")
            model.add(start >= earliest)
            interval = model.new_fixed_size_interval_var(start, duration, "")
            on_machine.setdefault(machine, []).append(interval)
            earliest = start + duration
        last_ends.append(earliest)
    for intervals in on_machine.values():
        model.add_no_overlap(intervals)
    makespan = model.new_int_var(0, horizon, "makespan")
    model.add_max_equality(makespan, last_ends)
    model.minimize(makespan)
    return model


def _program(reader: Any, path: Path) -> Any:
    """The program in a file, as OR-Tools describes it."""
    model = reader.Model()
    if path.suffix == ".lp":
        is_read = model.import_from_lp_file(str(path))
    else:
        is_read = model.import_from_mps_file(str(path))
    if not is_read:
        raise AlgorithmError(f"OR-Tools cannot read {path}")
    return model.export_to_proto()


def _integer_model(package: Any, program: Any) -> tuple[Any, int]:
    """CP-SAT's model of an integer program, and the factor that makes its objective whole."""
    if program.general_constraint:
        raise AlgorithmError("CP-SAT takes programs with linear constraints only")
    model = package.CpModel()
    variables = []
    for variable in program.variable:
        if not variable.is_integer:
            raise AlgorithmError(
                f"CP-SAT takes pure integer programs, but the variable '{variable.name}' is "
                "continuous"
            )
        if not isfinite(variable.lower_bound) or not isfinite(variable.upper_bound):
            raise AlgorithmError(
                f"CP-SAT takes variables with bounds, but '{variable.name}' has none"
            )
        lower = round(variable.lower_bound)
        upper = round(variable.upper_bound)
        variables.append(model.new_int_var(lower, upper, ""))
    weighted_sum = package.LinearExpr.weighted_sum
    for constraint in program.constraint:
        bounds = [constraint.lower_bound, constraint.upper_bound]
        coefficients = list(constraint.coefficient)
        factor = whole_factor([*coefficients, *filter(isfinite, bounds)])
        lower = _scaled_bound(bounds[0], factor, package.INT_MIN)
        upper = _scaled_bound(bounds[1], factor, package.INT_MAX)
        terms = weighted_sum(
            [variables[index] for index in constraint.var_index],
            [round(coefficient * factor) for coefficient in coefficients],
        )
        model.add_linear_constraint(terms, lower, upper)
    costs = [variable.objective_coefficient for variable in program.variable]
    factor = whole_factor(costs)
    objective = weighted_sum(variables, [round(cost * factor) for cost in costs])
    if program.maximize:
        model.maximize(objective)
    else:
        model.minimize(objective)
    return model, factor


def _scaled_bound(bound: float, factor: int, infinite: int) -> int:
    return round(bound * factor) if isfinite(bound) else infinite


def whole_factor(numbers: Iterable[float]) -> int:
    """The smallest power of ten that makes all numbers whole."""
    factor = 1
    for number in numbers:
        if number.is_integer():
            continue
        exponent = Decimal(repr(number)).normalize().as_tuple().exponent
        assert isinstance(exponent, int), "the number is finite"
        factor = max(factor, 10**-exponent)
        if factor > LARGEST_FACTOR or abs(number) * factor > LARGEST_INTEGER:
            raise AlgorithmError(
                f"CP-SAT calculates with whole numbers, and {number!r} has too many decimals"
            )
    return factor
