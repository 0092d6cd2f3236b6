"""A short trial of a configuration, before anything is spent on it.

One problem is built, and each algorithm runs on it for a few evaluations. The result lists errors,
values that are not finite, algorithms that do not improve, and the cost. Nothing is stored.
"""

import io
import math
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from shlex import quote as quoted
from typing import ClassVar

import numpy as np

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.config.configuration import Config
from polarbear.driver.check_space import SpaceCheck, check_space
from polarbear.driver.collect import chosen_instances
from polarbear.driver.instance_features import flaw_of_features
from polarbear.errors import AlgorithmError, BudgetExhausted, PolarBearError
from polarbear.execution.outcome import Executor, Outcome, Status, Task
from polarbear.problems.base import Instance, Kind, Problem, Setting
from polarbear.records import Record
from polarbear.settings.grid import EVALUATIONS, TIMED_AXES
from polarbear.store.runs import StoredRun
from polarbear.wording import counted, duration, short, time

TRIAL_EVALUATIONS = 50
TRIAL_SECONDS = 0.3  # on the seconds axis
MAX_SECONDS = 1.0  # seconds after which the next value ends a trial
BYTES_PER_POINT = 16  # on disk
BYTES_PER_RUN = 300  # on disk, without its points


@dataclass(frozen=True)
class TrialResult:
    """The trial of one algorithm; ``seconds_per_evaluation`` is None without evaluations."""

    algorithm: str
    status: str
    message: str
    evaluations: int
    invalid: int
    first: float | None
    best: float | None
    improved: bool
    seconds: float
    seconds_per_evaluation: float | None
    population: int | None
    points: int


@dataclass(frozen=True)
class CostForecast:
    """The cost of all runs on a number of instances: ``bytes`` at most, ``seconds`` about.

    ``seconds`` is None where the trial does not show it.
    """

    instances: int
    runs: int
    workers: int
    seconds: float | None
    bytes: int


@dataclass(frozen=True, repr=False)
class Checked(Record):
    """The result of a check; fields are the keys of `polarbear check --json`."""

    ok: bool
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    instance: str
    kind: str
    dimension: int | None
    axis: str
    budget: float
    noisy: bool | None
    algorithms: tuple[TrialResult, ...]
    forecast: CostForecast
    spaces: tuple[SpaceCheck, ...] = ()
    ROWS = "algorithms"

    def one_line(self) -> str:
        return (
            f"{counted(len(self.algorithms), 'algorithm')} tried on {self.instance}: "
            f"{counted(len(self.errors), 'error')}, {counted(len(self.warnings), 'warning')}"
        )


class Probe(Algorithm):
    """Evaluates one point twice, and fails if the values differ."""

    accepts: ClassVar[frozenset[Kind]] = frozenset({Kind.CONTINUOUS, Kind.INTEGER})

    def run(self, trial: Trial, setting: Setting) -> None:
        lower, upper = trial.box
        x = lower + (upper - lower) * np.random.default_rng(trial.seed).random(len(lower))
        if trial.kind is Kind.INTEGER:
            x = np.floor(x).astype(np.int64)
        first_values = _values_at(trial, x)
        second_values = _values_at(trial, x)
        for first_value, second_value in zip(first_values, second_values, strict=True):
            if math.isfinite(first_value) and first_value != second_value:
                raise AlgorithmError(f"{short(first_value)} and {short(second_value)}")
        raise BudgetExhausted


def _values_at(trial: Trial, x: np.ndarray) -> list[float]:
    """The value of each objective at a point."""
    if trial.n_objectives > 1:
        return trial.objectives(x.copy())
    return [trial.evaluate(x.copy())]


PROBE = Probe(name="the same point twice", use="probe")


def check(config: Config, pool: Executor) -> Checked:
    """Try a configuration on its first instance."""
    instance = config.instances.instance(0, config.setting)
    kind = config.instances.offers()
    dimension, refusal = _dimension(config, instance)
    errors = []
    warnings = []
    outcomes: dict[str, Outcome] = {}
    if refusal:
        errors.append(refusal)
    else:
        outcomes = _outcomes(config, pool, instance, kind)
    flaw = None if refusal else flaw_of_features(config, instance)
    if flaw is not None:
        errors.append(flaw)
    noisy = None
    probe = outcomes.pop(PROBE.name, None)
    if probe is not None:
        noisy = probe.status is Status.CRASHED
        if noisy:
            warnings.append(_words_on_noise(probe))
    sign = -1.0 if config.instances.maximise else 1.0
    results = []
    for algorithm in config.algorithms:
        if algorithm.name not in outcomes:
            continue
        outcome = outcomes[algorithm.name]
        result = _trial_result(outcome, dimension, sign)
        results.append(result)
        run = StoredRun.of(outcome, workers=1)
        if run_failed(run):
            errors.append(f"'{algorithm.name}' failed on {instance.id}: {failure_reason(run)}")
        else:
            warnings += _warnings(result, config)
            if outcome.repeats_itself is False:
                warnings.append(_words_on_repetition(algorithm.name))
    space_checks = []
    for name, design_space in config.spaces.items():
        space_check, drawn = check_space(name, design_space, config)
        space_checks.append(space_check)
        if space_check.refusal:
            errors.append(_words_on_refusal(space_check))
        if drawn and not refusal:
            warnings += _failures_of_draws(config, pool, instance, drawn)
    return Checked(
        ok=not errors,
        errors=tuple(errors),
        warnings=tuple(warnings),
        notes=tuple(
            _words_on_contract(algorithm.name)
            for algorithm in config.algorithms
            if algorithm.receives_budget and "contract" not in algorithm.model_fields_set
        ),
        instance=instance.id,
        kind=kind.value,
        dimension=dimension,
        axis=config.budget.axis,
        budget=config.budget.limit,
        noisy=noisy,
        algorithms=tuple(results),
        forecast=_forecast(config, results, pool.size),
        spaces=tuple(space_checks),
    )


def _words_on_refusal(space: SpaceCheck) -> str:
    return (
        f"the space of '{space.algorithm}' has configurations that cannot be used, at least "
        f"{space.refused} of {space.draws} that were drawn; for example {space.refusal}"
    )


def _failures_of_draws(
    config: Config, pool: Executor, instance: Instance, drawn: Sequence[Algorithm]
) -> list[str]:
    """Warnings about configurations drawn from a space whose trials fail."""
    outcomes = _outcomes(replace(config, algorithms=tuple(drawn)), pool, instance)
    lines = []
    for outcome in outcomes.values():
        run = StoredRun.of(outcome, workers=1)
        if run_failed(run):
            lines.append(f"'{run.algorithm}' failed on {instance.id}: {failure_reason(run)}")
    return lines


def _words_on_noise(probe: Outcome) -> str:
    return (
        f"the objective is noisy: the same point twice has the values {probe.message}. The "
        "best value so far then rewards luck; `trajectory: last` and `true_value` are for that"
    )


def _words_on_repetition(name: str) -> str:
    return (
        f"'{name}' gave two trajectories for one seed in one process: it or the problem keeps "
        "state from run to run, which `execution: {isolation: run}` prevents, or does not use "
        "its seed"
    )


def _words_on_contract(name: str) -> str:
    return (
        f"'{name}' is told its budget; if it plans for it, its values at earlier times mislead: "
        f"`polarbear check CONFIG --contract {quoted(name)}` finds out, and `contract: true` or "
        "`contract: false` ends this note"
    )


def _dimension(config: Config, instance: Instance) -> tuple[int | None, str]:
    """The number of variables, or why there is no problem.

    Output of the user's code is not shown.
    """
    if "dimension" in instance.spec:
        return int(instance.spec["dimension"]), ""
    try:
        with redirect_stdout(io.StringIO()):
            problem = config.instances.build(instance.spec, config.setting)
        return problem.dimension if isinstance(problem, Problem) else None, ""
    except Exception as error:  # A user's function may raise anything.
        kind = "" if isinstance(error, PolarBearError) else f"{type(error).__name__}: "
        return None, f"instance {instance.id} cannot be built: {kind}{error}"


def _outcomes(
    config: Config, pool: Executor, instance: Instance, kind: Kind | None = None
) -> dict[str, Outcome]:
    """The outcome of each algorithm, and of the probe where it can run on this ``kind``."""
    limit = config.budget.limit
    trial_budgets = {EVALUATIONS: TRIAL_EVALUATIONS, **dict.fromkeys(TIMED_AXES, TRIAL_SECONDS)}
    budget = min(trial_budgets.get(config.budget.axis, limit), limit)
    tasks = []
    for algorithm in config.algorithms:
        seed = config.run_seed(algorithm, instance.id, budget=budget)
        has_user_code = algorithm.runs_user_code or config.instances.runs_user_code
        is_repeatable = config.budget.axis == EVALUATIONS and has_user_code
        tasks.append(
            Task(algorithm, instance, seed, budget, seconds=MAX_SECONDS, twice=is_repeatable)
        )
    if kind in PROBE.accepts:
        tasks.append(Task(PROBE, instance, 1, limit, seconds=MAX_SECONDS))
    outcomes = {outcome.task.algorithm.name: outcome for outcome in pool.run(tasks)}
    # A run that gave nothing may have waited for a first compilation; a second one does not.
    silent = [
        outcome.task
        for outcome in outcomes.values()
        if outcome.status is Status.TIMEOUT and not outcome.evaluations
    ]
    if silent:
        outcomes |= {outcome.task.algorithm.name: outcome for outcome in pool.run(silent)}
    return outcomes


def _trial_result(outcome: Outcome, dimension: int | None, sign: float) -> TrialResult:
    """The result of one algorithm; a trial that takes too long is stopped, which is no failure."""
    algorithm = outcome.task.algorithm
    was_stopped = outcome.status is Status.TIMEOUT
    values: list[float | None] = (sign * outcome.values).tolist()
    if outcome.improvements.n_objectives > 1:
        values = [None] * len(outcome.times)  # no single value is the best
    seconds_per_evaluation = None
    if outcome.evaluations:
        seconds_per_evaluation = outcome.seconds / outcome.evaluations
    return TrialResult(
        algorithm=algorithm.name,
        status=(Status.BUDGET if was_stopped else outcome.status).value,
        message="" if was_stopped else outcome.message,
        evaluations=outcome.evaluations,
        invalid=outcome.invalid,
        first=values[0] if values else None,
        best=values[-1] if values else None,
        improved=len(values) > 1,
        seconds=round(outcome.seconds, 4),
        seconds_per_evaluation=seconds_per_evaluation,
        population=None if dimension is None else algorithm.population(dimension),
        points=len(values),
    )


def _warnings(result: TrialResult, config: Config) -> list[str]:
    """Doubts about the configuration of an algorithm whose trial has not failed."""
    name = f"'{result.algorithm}'"
    warnings = []
    if result.invalid:
        n_values = counted(result.evaluations, "value")
        warnings.append(f"{name} met {result.invalid} of {n_values} that are not finite numbers")
    if result.points == 0:
        warnings.append(f"{name} reported nothing within {duration(result.seconds)}")
    elif not result.improved and result.evaluations > 1 and result.first is not None:
        warnings.append(f"{name} did not improve on its first value, {short(result.first)}")
    limit = config.budget.limit
    if config.budget.axis == EVALUATIONS and (result.population or 0) > limit:
        warnings.append(
            f"{name} evaluates {result.population} points before it learns anything, more than the "
            f"budget of {time(limit)}"
        )
    return warnings


def _forecast(config: Config, results: Sequence[TrialResult], workers: int) -> CostForecast:
    """The cost of `polarbear run`; the number of instances of a race is unknown."""
    n_instances = len(chosen_instances(config))
    n_runs = n_instances * config.runs_on_an_instance
    seconds_per_instance = sum(_seconds_on_instance(config, result) for result in results)
    bytes_per_instance = sum(_bytes_on_instance(config, result) for result in results)
    seconds = round(seconds_per_instance * n_instances / min(workers, max(n_runs, 1)), 3)
    return CostForecast(
        instances=n_instances,
        runs=n_runs,
        workers=workers,
        seconds=None if math.isnan(seconds) else seconds,
        bytes=int(bytes_per_instance * n_instances),
    )


def _seconds_on_instance(config: Config, result: TrialResult) -> float:
    """The time of the runs on an instance; NaN where the trial does not show it."""
    budget = sum(config.budgets_of(result.algorithm))
    if config.budget.is_timed:
        return budget
    if config.budget.axis == EVALUATIONS and result.seconds_per_evaluation is not None:
        return result.seconds_per_evaluation * budget
    return math.nan


def _bytes_on_instance(config: Config, result: TrialResult) -> float:
    """The size of the runs on an instance, if they improve as often as in the trial."""
    size = 0.0
    for budget in config.budgets_of(result.algorithm):
        factor = 1.0
        if config.budget.axis == EVALUATIONS and result.evaluations:
            factor = max(budget / result.evaluations, 1.0)
        size += BYTES_PER_RUN + BYTES_PER_POINT * result.points * factor
    return size


def run_failed(run: StoredRun) -> bool:
    """Whether a run failed, or ended without a single usable value.

    A run that was stopped before it reported anything may only have been slow.
    """
    gave_nothing = bool(run.invalid) or run.status in (Status.ENDED, Status.PROVEN)
    return run.status.failed or (not run.points and gave_nothing)


def failure_reason(run: StoredRun) -> str:
    """The message of a failure, or why a run without values counts as one."""
    if run.message:
        return run.message
    if run.invalid:
        values = counted(run.invalid, "objective value")
        return f"none of its {values} was a finite number"
    return "it ended without any value"
