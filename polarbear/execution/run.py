"""Executes one run in this process and records it."""

import random
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from polarbear.algorithms.base import SearchEnded, Trial
from polarbear.errors import (
    BadOutputError,
    BudgetExhausted,
    KilledFromOutsideError,
    PolarBearError,
)
from polarbear.execution.host import here
from polarbear.execution.outcome import Outcome, Status, Task, shorten
from polarbear.execution.recorder import Recorder
from polarbear.problems.base import Instance, Problem, Setting, Suite
from polarbear.rankings.outcomes import or_none


class Problems:
    """Builds problems, and keeps the last one: the next run is often on the same instance."""

    def __init__(self, suite: Suite, setting: Setting) -> None:
        self.suite = suite
        self.setting = setting
        self._kept: tuple[str, Any] | None = None

    def get(self, instance: Instance) -> Any:
        if self._kept is not None and self._kept[0] == instance.id:
            return self._kept[1]
        problem = self.suite.build(instance.spec, self.setting)
        self._kept = None if self.suite.keeps_state else (instance.id, problem)
        return problem

    def forget(self) -> None:
        """Build the next problem again."""
        self._kept = None


Journal = Callable[..., None]  # receives t, y (or a tuple of them) and violation


def execute(
    task: Task,
    problems: Problems,
    journal: Journal | None = None,
    log_tail: Callable[[], str] = lambda: "",
    worker: str = "",
    catches_interrupts: bool = False,
    on_begin: Callable[[], None] = lambda: None,
) -> Outcome:
    """Execute a task until it ends or fails, and once more if the task says so.

    Only KeyboardInterrupt is raised, unless this process handles interrupts otherwise and such an
    exception can only come from the run itself. ``on_begin`` is called once all is loaded.
    """
    outcome = _executed(task, problems, journal, log_tail, worker, catches_interrupts, on_begin)
    if not task.twice or outcome.status.failed:
        return outcome
    second = _executed(
        task, problems, None, log_tail, worker, catches_interrupts, on_begin=lambda: None
    )
    # One of them may have been stopped earlier, for its time.
    reached = min(outcome.reached, second.reached)
    is_alike = _points_until(outcome, reached) == _points_until(second, reached)
    return replace(outcome, repeats_itself=is_alike and not second.status.failed)


def _executed(
    task: Task,
    problems: Problems,
    journal: Journal | None,
    log_tail: Callable[[], str],
    worker: str,
    catches_interrupts: bool,
    on_begin: Callable[[], None],
) -> Outcome:
    """The outcome of one execution of a task."""
    setting = problems.setting
    axis = setting.budget.axis
    started = time.time()
    clock = time.perf_counter()
    recorder = Recorder(None, axis, task.budget)
    status = Status.ENDED
    message = ""
    try:
        task.algorithm.prepare(setting)
        task.algorithm.load()
        problem = problems.get(task.instance)
        maximise = problems.suite.maximise or getattr(problem, "maximise", False) is True
        described = problem if isinstance(problem, Problem) else None
        recorder = _recorder(problems.suite, setting, described, task.budget, maximise, journal)
        trial = Trial(
            stop_after(task.seconds, recorder.evaluate),
            stop_after(task.seconds, recorder.report),
            task.instance,
            task.seed,
            axis,
            budget=setting.budget.limit if task.algorithm.contract is None else task.budget,
            problem=problem,
            lower=described.lower if described else None,
            upper=described.upper if described else None,
            kind=problems.suite.offers(),
            maximise=maximise,
            until=task.budget,
            # A limit in seconds may end the run after any evaluation.
            at_once=recorder.at_once if task.seconds is None else None,
            elapsed=recorder.elapsed,
            constraints=lambda: recorder.constraints,
            n_objectives=problems.suite.objectives,
        )
        # Libraries that draw from global generators start from a known state in every run.
        random.seed(task.seed)
        np.random.seed(task.seed)  # noqa: NPY002 - the global generator is the one to be reset
        on_begin()
        clock = time.perf_counter()
        recorder.start()
        task.algorithm.run(trial, setting)
    except BudgetExhausted:
        status = Status.BUDGET
    except SearchEnded as end:
        is_in_time = recorder.note_end(end.t)
        status = Status(end.ending.value) if is_in_time else Status.BUDGET
    except BadOutputError as error:
        status = Status.BAD_OUTPUT
        message = shorten(_text_of(error))
    except KilledFromOutsideError as error:
        status = Status.LOST
        message = shorten(_text_of(error))
    except PolarBearError as error:
        status = Status.CRASHED
        message = shorten(_text_of(error))
    except BaseException as error:
        if catches_interrupts or not isinstance(error, KeyboardInterrupt):
            status = Status.CRASHED
            message = crash_message(error, log_tail())
        else:
            raise
    return Outcome(
        task,
        status,
        message,
        np.array(recorder.times, dtype=np.float64),
        recorder.trajectory_values(),
        recorder.evaluations,
        task.budget if status is Status.BUDGET else recorder.reached,
        time.perf_counter() - clock,
        recorder.invalid,
        started,
        here(worker),
        violations=or_none(np.array(recorder.violations, dtype=np.float64)),
    )


def _recorder(
    suite: Suite,
    setting: Setting,
    problem: Problem | None,
    budget: float,
    maximise: bool,
    journal: Journal | None,
) -> Recorder:
    """The recorder of a run on a problem of a suite."""
    axis = setting.budget.axis
    if suite.objectives == 1:
        return Recorder(
            problem,
            axis,
            budget,
            maximise,
            journal,
            setting.trajectory == "last",
            suite.feasibility_tolerance,
        )
    from polarbear.execution.front_recorder import FrontRecorder

    return FrontRecorder(
        problem,
        axis,
        budget,
        suite.objectives,
        maximise,
        journal,
        suite.feasibility_tolerance,
        suite.archive_size,
    )


def _points_until(outcome: Outcome, t: float) -> list[tuple[float, float, float]]:
    """The trajectory of an outcome up to a time."""
    return outcome.improvements.up_to(t).points()


def stop_after(seconds: float | None, call: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function: it ends the run once some seconds have passed since its first call."""
    if seconds is None:
        return call
    deadline = float("inf")

    def limited(*arguments: Any) -> Any:
        nonlocal deadline
        now = time.perf_counter()
        deadline = min(deadline, now + seconds)
        if now > deadline:
            raise BudgetExhausted
        return call(*arguments)

    return limited


def crash_message(error: BaseException, log: str) -> str:
    """The error, the line that raised it, and the last lines that were printed."""
    text = f"{_class_name(error)}: {_text_of(error)}{_line_of(error)}"
    return shorten(f"{text}\n{log}" if log else text)


def _text_of(error: BaseException) -> str:
    """The text of an error, whose ``__str__`` is the user's code and may raise anything."""
    try:
        return str(error)
    except BaseException as failure:
        return f"(its text cannot be read: __str__ raised {_class_name(failure)})"


def _class_name(error: BaseException) -> str:
    """The name of a class whose metaclass may define another ``__name__``."""
    return str(type.__dict__["__name__"].__get__(type(error)))


def _line_of(error: BaseException) -> str:
    """The file and line that raised an error, in parentheses."""
    try:
        frames = traceback.extract_tb(error.__traceback__)
        return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""
    except Exception:  # a run may have replaced functions that the search for lines uses
        return ""
