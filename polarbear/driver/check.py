"""A short trial of a configuration, before anything is spent on it.

One problem is built, and each algorithm runs on it for a few evaluations. The result lists errors,
values that are not finite, algorithms that do not improve, and the cost. Nothing is stored.
"""

import io
import math
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.config.configuration import Config
from polarbear.driver.collect import chosen_instances
from polarbear.errors import AlgorithmError, BudgetExhausted, PolarBearError
from polarbear.execution.outcome import Executor, Outcome, Status, Task
from polarbear.problems.base import Instance, Kind, Problem, Setting
from polarbear.records import Record
from polarbear.settings.grid import EVALUATIONS, SECONDS
from polarbear.store.runs import StoredRun
from polarbear.wording import counted, duration, short, time

TRIAL_EVALUATIONS = 50
TRIAL_SECONDS = 0.3  # on the seconds axis
MAX_SECONDS = 1.0  # seconds after which the next value ends a trial
BYTES_A_POINT, BYTES_A_RUN = 16, 300  # of a store, on disk


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
class Forecast:
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
    instance: str
    kind: str
    dimension: int | None
    axis: str
    budget: float
    noisy: bool | None
    algorithms: tuple[TrialResult, ...]
    forecast: Forecast
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
        once, again = trial.evaluate(x.copy()), trial.evaluate(x.copy())
        if math.isfinite(once) and once != again:
            raise AlgorithmError(f"{short(once)} and {short(again)}")
        raise BudgetExhausted


PROBE = Probe(name="the same point twice", use="probe")


def check(config: Config, pool: Executor) -> Checked:
    """Try a configuration on its first instance."""
    instance = config.instances.instance(0, config.setting)
    kind = config.instances.offers()
    dimension, refusal = _dimension(config, instance)
    errors, warnings, entries = [refusal] if refusal else [], [], []
    outcomes = {} if refusal else _outcomes(config, pool, instance, kind)
    probe = outcomes.pop(PROBE.name, None)
    noisy = None if probe is None else probe.status is Status.CRASHED
    if probe is not None and noisy:
        warnings.append(
            f"the objective is noisy: the same point twice has the values {probe.message}. The "
            "best value so far then rewards luck; `trajectory: last` and `true_value` are for that"
        )
    sign = -1.0 if config.instances.maximise else 1.0
    for outcome in (outcomes[one.name] for one in config.algorithms if one.name in outcomes):
        tried, run = _entry(outcome, dimension, sign), StoredRun.of(outcome, workers=1)
        entries.append(tried)
        if run_failed(run):
            reason = failure_reason(run)
            errors.append(f"'{tried.algorithm}' failed on {instance.id}: {reason}")
        else:
            warnings += _warnings(tried, config)
    return Checked(
        ok=not errors,
        errors=tuple(errors),
        warnings=tuple(warnings),
        instance=instance.id,
        kind=kind.value,
        dimension=dimension,
        axis=config.budget.axis,
        budget=config.budget.limit,
        noisy=noisy,
        algorithms=tuple(entries),
        forecast=_forecast(config, entries, pool.size),
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
    except Exception as error:  # a user's function may raise anything
        kind = "" if isinstance(error, PolarBearError) else f"{type(error).__name__}: "
        return None, f"instance {instance.id} cannot be built: {kind}{error}"


def _outcomes(config: Config, pool: Executor, instance: Instance, kind: Kind) -> dict[str, Outcome]:
    """The outcome of each algorithm, and of the probe where it can run."""
    limit = config.budget.limit
    budgets = {EVALUATIONS: TRIAL_EVALUATIONS, SECONDS: TRIAL_SECONDS}
    budget = min(budgets.get(config.budget.axis, limit), limit)
    tasks = [
        Task(a, instance, config.run_seed(a, instance.id), budget, seconds=MAX_SECONDS)
        for a in config.algorithms
    ]
    if kind in PROBE.accepts:
        tasks.append(Task(PROBE, instance, 1, limit, seconds=MAX_SECONDS))
    return {outcome.task.algorithm.name: outcome for outcome in pool.run(tasks)}


def _entry(outcome: Outcome, dimension: int | None, sign: float) -> TrialResult:
    # A trial that takes too long is stopped, which is no failure.
    slow = outcome.status is Status.TIMEOUT
    algorithm, values = outcome.task.algorithm, (sign * outcome.values).tolist()
    return TrialResult(
        algorithm=algorithm.name,
        status=(Status.BUDGET if slow else outcome.status).value,
        message="" if slow else outcome.message,
        evaluations=outcome.evaluations,
        invalid=outcome.invalid,
        first=values[0] if values else None,
        best=values[-1] if values else None,
        improved=len(values) > 1,
        seconds=round(outcome.seconds, 4),
        seconds_per_evaluation=(
            outcome.seconds / outcome.evaluations if outcome.evaluations else None
        ),
        population=None if dimension is None else algorithm.population(dimension),
        points=len(values),
    )


def _warnings(tried: TrialResult, config: Config) -> list[str]:
    name, warnings = f"'{tried.algorithm}'", []
    if tried.invalid:
        of = counted(tried.evaluations, "value")
        warnings.append(f"{name} met {tried.invalid} of {of} that are not finite numbers")
    if tried.first is None:
        warnings.append(f"{name} reported nothing within {duration(tried.seconds)}")
    elif not tried.improved and tried.evaluations > 1:
        warnings.append(f"{name} did not improve on its first value, {short(tried.first)}")
    limit = config.budget.limit
    if config.budget.axis == EVALUATIONS and (tried.population or 0) > limit:
        warnings.append(
            f"{name} evaluates {tried.population} points before it learns anything, more than the "
            f"budget of {time(limit)}"
        )
    return warnings


def _forecast(config: Config, tried: Sequence[TrialResult], workers: int) -> Forecast:
    """The cost of `polarbear run`; the number of instances of a race is unknown."""
    count = len(chosen_instances(config))
    runs = count * len(config.algorithms)
    limit, axis = config.budget.limit, config.budget.axis
    seconds, size = 0.0, 0.0
    for one in tried:
        each = one.seconds_per_evaluation if axis == EVALUATIONS else None
        seconds += limit if axis == SECONDS else math.nan if each is None else each * limit
        longer = limit / one.evaluations if axis == EVALUATIONS and one.evaluations else 1.0
        size += BYTES_A_RUN + BYTES_A_POINT * one.points * max(longer, 1.0)
    total = round(seconds * count / min(workers, max(runs, 1)), 3)
    return Forecast(count, runs, workers, None if math.isnan(total) else total, int(size * count))


def run_failed(run: StoredRun) -> bool:
    """Whether a run failed, or ended without a single usable value.

    A run that was stopped before it reported anything may only have been slow.
    """
    gave_nothing = bool(run.invalid) or run.status is Status.ENDED
    return run.status.failed or (not run.points and gave_nothing)


def failure_reason(run: StoredRun) -> str:
    """The message of a failure, or why a run without values counts as one."""
    if run.message:
        return run.message
    if run.invalid:
        values = counted(run.invalid, "objective value")
        return f"none of its {values} was a finite number"
    return "it ended without any value"
