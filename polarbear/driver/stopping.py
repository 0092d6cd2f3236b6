"""When a race ends: at a limit, with its purpose reached, or with an error of an algorithm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from polarbear import racing as race
from polarbear.config import Config
from polarbear.driver.race_runs import RaceRuns
from polarbear.errors import AlgorithmError
from polarbear.execution.outcome import Status
from polarbear.inference import Posterior
from polarbear.problems.base import Instance
from polarbear.racing import State
from polarbear.store.runs import StoredRun
from polarbear.wording import counted, percent, timed, typed_time

SETTLED = "every relation is settled"
REMEDY = "Fix the cause and continue with --retry-failed"


@dataclass(frozen=True)
class Ended:
    """How a race ended: why, and whether a limit was the reason."""

    because: str
    at_limit: bool


class Purpose(Protocol):
    """An aim of a race other than settling every relation."""

    def reached(self, state: State, posterior: Posterior) -> str | None:
        """Why the aim is reached, if it is."""

    def horizon(self, times: Sequence[float]) -> float:
        """The last time that matters for the aim."""


def at_limit(
    config: Config,
    state: State,
    evaluations: int,
    on_axis: float,
    hours: float,
    size: int | None,
) -> str | None:
    """The limit that a race has reached, if any.

    A race has used a number of evaluations, time on the axis, and hours; ``size`` is that of a
    finite suite.
    """
    limits = config.race.limits
    if state.untrusted >= race.MAX_UNTRUSTED_ROUNDS:
        return f"the posterior failed its checks in {counted(state.untrusted, 'round')} in a row"
    if limits.rounds is not None and state.round >= limits.rounds:
        return f"the limit of {counted(limits.rounds, 'round')} is reached"
    if limits.evaluations is not None and evaluations >= limits.evaluations:
        return f"the limit of {counted(limits.evaluations, 'evaluation')} is reached"
    if limits.spent is not None and on_axis >= limits.spent:
        return f"the limit of {timed(limits.spent, config.budget.axis)} is reached"
    if limits.hours is not None and hours >= limits.hours:
        return f"the limit of {typed_time(limits.hours, 'hours')} is reached"
    if state.joining:
        return None
    if limits.instances is not None and state.instances >= limits.instances:
        return f"the limit of {counted(limits.instances, 'instance')} is reached"
    if size is not None and state.instances >= size:
        return f"the suite has no further instance: all {size} are used"
    return None


def refuse_failures(
    config: Config, runs: RaceRuns, state: State, instances: Sequence[Instance], names: list[str]
) -> None:
    """End a race with an error rather than let a broken algorithm lose.

    Raises if an algorithm has failed in all of its first runs, or more often than is tolerated, or
    if no run has found anything: all algorithms would end as equivalent.
    """
    if state.round == 0 or (state.joining is not None and state.caught_up == 0):
        _refuse_broken({name: runs.of(name, instances) for name in names})
    failures, earlier = config.execution.failures, runs.seen(state)
    for name in names:
        all_runs = runs.of(name, [*earlier, *instances])
        failed = [run for run in all_runs if run.status.failed]
        if failed and failures.means == "ends":
            raise AlgorithmError(
                f"'{name}' failed, which ends the race by `execution.failures.means: ends`; "
                f"on {_example(failed)}\n{REMEDY}."
            )
        if len(failed) > failures.tolerated * len(all_runs):
            raise AlgorithmError(
                f"'{name}' failed in {len(failed)} of {counted(len(all_runs), 'run')}, more than "
                f"the {percent(failures.tolerated)} of `execution.failures.tolerated`; "
                f"on {_example(failed)}\n{REMEDY}, or raise `tolerated` if such failures are "
                "normal."
            )
    first = runs.of(names[0], instances[:1])
    if state.round == 0 and runs.found_nothing(names, instances):
        raise AlgorithmError(
            f"no run of the first round has found anything; {names[0]} on {_example(first)}"
        )


def _refuse_broken(first_runs: Mapping[str, Sequence[StoredRun]]) -> None:
    lines = []
    for name, runs in first_runs.items():
        if runs and all(map(run_failed, runs)):
            which = "its first run" if len(runs) == 1 else f"all {len(runs)} of its first runs"
            lines.append(
                f"'{name}' failed in {which}, so nothing is decided about it; on {_example(runs)}"
            )
    if lines:
        lines.append(f"{REMEDY}, or remove it from the configuration.")
        raise AlgorithmError("\n".join(lines))


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


def _example(runs: Sequence[StoredRun]) -> str:
    """An instance and its failure, preferably one without an external cause."""
    run = min(runs, key=lambda run: run.status is Status.LOST)
    lost = run.status is Status.LOST
    outside = f"it was killed from outside, {run.attempt} times: " if lost else ""
    return f"{run.instance}: {outside}{failure_reason(run)}"
