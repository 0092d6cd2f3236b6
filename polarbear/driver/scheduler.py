"""Gives tasks to workers: those of a round, then speculative ones for the next round.

However a call ends, also by an interrupt or an error, every finished run is stored. Speculative
runs count for nothing until a round requests them, so that decisions are the same with and without
them. A run that went further than requested is cut there, as if it had been stopped.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Generic, TypeVar

from polarbear.config import Config
from polarbear.driver.collect import Place
from polarbear.execution.outcome import Executor, Outcome, Status, Task
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import Store
from polarbear.store.runs import RunKey, SpeculativeRun, StoredRun, stored_runs

RETRIES = 2  # of a run that was killed from outside

Result = TypeVar("Result")


class SpeculativeRuns:
    """Finished speculative runs that no round has used, in memory and in the store."""

    def __init__(self, config: Config, store: Store, retry_failed: bool = False) -> None:
        self._store = store
        self._retry_failed = retry_failed
        self._cuts = config.budget.axis == EVALUATIONS
        self._unused: dict[Place, list[SpeculativeRun]] = {}
        self._unwritten: list[Outcome] = []
        self._used: set[RunKey] = set()
        self._alike: dict[tuple[str, str | None], list[str | None]] = {}
        stored = store.speculative.runs()
        known = {run.key for run in stored_runs(store.runs())} if stored else set()
        for run in stored:
            if run.run.key in known:  # a killed race has left it in both places
                self._used.add(run.run.key)
            else:
                self._keep(run)

    def add(self, outcome: Outcome) -> None:
        """Keep a finished run for the round that may request it."""
        self._unwritten.append(outcome)
        self._keep(SpeculativeRun.of(outcome, 1))

    def take(self, task: Task) -> Outcome | None:
        """Remove and return the outcome of a task, if there is one."""
        run, cut = next(self._answers(task), (None, None))
        if run is None or cut is None:
            return None
        self._unused[_place(task)].remove(run)
        self._used.add(run.run.key)
        return cut.outcome(task)

    def has(self, task: Task) -> bool:
        """Whether there is an outcome of a task."""
        return any(self._answers(task))

    def fits(self, running: Task, requested: Task) -> bool:
        """Whether the outcome of a task that is under way will answer a request."""
        if (running.seed, running.fingerprint) != (requested.seed, requested.fingerprint):
            return False
        return running.budget == requested.budget or (
            self._cuts and running.budget > requested.budget
        )

    def write(self, workers: int) -> None:
        """Bring the store up to date; used runs must be stored with their round by now."""
        new = [one for one in self._unwritten if StoredRun.of(one, workers).key not in self._used]
        if new or self._used:
            self._store.speculative.change(new, workers, self._used.__contains__)
        self._unwritten.clear()
        self._used.clear()

    def _keep(self, run: SpeculativeRun) -> None:
        self._unused.setdefault((run.run.algorithm, run.run.instance), []).append(run)

    def _answers(self, task: Task) -> Iterator[tuple[SpeculativeRun, SpeculativeRun]]:
        """Runs that are outcomes of a task, each with the part of it that the task asks for."""
        made_by = (task.algorithm.name, task.fingerprint)
        if made_by not in self._alike:
            self._alike[made_by] = self._store.provenance.alike(*made_by)
        for one in self._unused.get(_place(task), ()):
            run = one.run
            if run.seed != task.seed or run.fingerprint not in self._alike[made_by]:
                continue
            cut = one.cut(task.budget) if self._cuts or run.budget == task.budget else None
            if cut is not None and not (self._retry_failed and run.status.failed):
                yield one, cut


class Scheduler:
    """Executes tasks and stores their outcomes; the caller holds the store's lock.

    ``on_outcome`` receives each requested run, of several attempts the last: a run that was killed
    from outside is repeated. ``on_speculative`` receives runs that no round has requested yet.
    """

    def __init__(
        self,
        pool: Executor,
        store: Store,
        on_outcome: Callable[[Outcome], None] = lambda outcome: None,
        speculative: SpeculativeRuns | None = None,
        on_speculative: Callable[[Outcome], None] = lambda outcome: None,
    ) -> None:
        self._pool = pool
        self._store = store
        self._on_outcome = on_outcome
        self.speculative = speculative
        self._on_speculative = on_speculative
        self._requested: dict[Place, Task] = {}  # and not finished
        self._queue: OrderedDict[Place, Task] = OrderedDict()  # requested and not started
        self._running: dict[Place, Task] = {}  # speculative runs
        self._lost: Counter[Place] = Counter()
        self._finished: list[Outcome] = []
        self._started = self._stored = time.monotonic()

    @property
    def workers(self) -> int:
        """The number of runs that go on at once."""
        return self._pool.size

    def has_started(self, task: Task) -> bool:
        """Whether a speculative run at the place of this task has started."""
        return _place(task) in self._running

    def run(self, tasks: Iterable[Task], likely: Iterable[Task] = ()) -> None:
        """Execute tasks; idle workers start ``likely`` ones.

        Ends when all tasks are finished; speculative runs may still be under way.
        """
        self._lost.clear()
        self._queue.clear()
        try:
            for task in tasks:
                self._requested[_place(task)] = task
                running = self._running.get(_place(task))
                if not self._answered(task) and (running is None or not self._fits(running, task)):
                    self._queue[_place(task)] = task
            self._serve(iter(likely), over=lambda: not self._requested)
        finally:
            self._requested.clear()
            self._store_runs()

    def run_beside(self, work: Callable[[], Result], likely: Iterator[Task]) -> Result:
        """Do some work in this process, while workers go on with ``likely`` tasks."""
        first = next(likely, None) if self.speculative is not None else None
        if first is None and not self._running:
            return work()
        background = Background(work, self._pool.wake)
        background.start()
        try:
            self._serve(chain(filter(None, [first]), likely), over=background.result.done)
        except BaseException:  # Ctrl-C does not wait for a result that is not used
            background.given_up = True
            raise
        return background.result.result()

    def flush(self) -> None:
        """Bring the store up to date."""
        self._store_runs()
        if self.speculative is not None:
            self.speculative.write(self._pool.size)
        self._stored = time.monotonic()

    def _answered(self, task: Task) -> bool:
        """Take in a finished speculative run that is the outcome of a requested task."""
        done = self.speculative.take(task) if self.speculative is not None else None
        if done is not None:
            self._accept(done)
        return done is not None

    def _fits(self, running: Task, task: Task) -> bool:
        return self.speculative is not None and self.speculative.fits(running, task)

    def _serve(self, likely: Iterator[Task], over: Callable[[], bool]) -> None:
        for outcome in self._pool.run(self._feed(likely, over), over):
            self._receive(outcome)
            # Rarely enough for few parts in a long race, often enough to lose little.
            interval = min(max(2.0, 0.02 * (self._stored - self._started)), 60.0)
            if time.monotonic() - self._stored > interval:
                self.flush()

    def _feed(self, likely: Iterator[Task], over: Callable[[], bool]) -> Iterator[Task | None]:
        """The next task to start; None while there is none."""
        while not over():
            if self._queue:
                yield self._queue.popitem(last=False)[1]
                continue
            task = next(likely, None)
            if task is not None:
                self._running[_place(task)] = task
            yield task

    def _receive(self, outcome: Outcome) -> None:
        task, place = outcome.task, _place(outcome.task)
        running, requested = self._running.get(place), self._requested.get(place)
        # A worker returns a copy of its task.
        if running and (running.budget, running.attempt) == (task.budget, task.attempt):
            del self._running[place]
            if self.speculative and outcome.status is not Status.LOST:  # as if never started
                self.speculative.add(outcome)
                self._on_speculative(outcome)
            if requested is None or place in self._queue or self._answered(requested):
                return
            if self._fits(task, requested):  # the round waited for it
                self._queue[place] = requested
        elif outcome.status is Status.LOST and self._lost[place] < RETRIES:
            self._lost[place] += 1
            self._finished.append(outcome)
            again = replace(task, attempt=task.attempt + 1)
            self._requested[place] = self._queue[place] = again
        else:
            self._accept(outcome)

    def _accept(self, outcome: Outcome) -> None:
        """Take in a requested run."""
        del self._requested[_place(outcome.task)]
        self._finished.append(outcome)
        self._on_outcome(outcome)

    def _store_runs(self) -> None:
        outcomes = self._finished.copy()
        self._finished.clear()
        self._store.add_runs(outcomes, self._pool.size)
        self._store.merge_parts()


def _place(task: Task) -> Place:
    return task.algorithm.name, task.instance.id


class Background(threading.Thread, Generic[Result]):
    """Some work in a thread, and its result; ``wake`` is called when it is done.

    The work ends early where it is ``given_up``, at the next item that its threads share
    (`in_threads`). An exception thrown into the thread could hit it while it starts another one,
    which then never begins, and the first waits for it forever.
    """

    def __init__(self, work: Callable[[], Result], wake: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._wake = wake
        self.result: Future[Result] = Future()
        self.given_up = False

    def run(self) -> None:
        try:
            self.result.set_result(self._work())
        except BaseException as error:
            self.result.set_exception(error)
        with suppress(OSError):  # the other end may be closed
            self._wake()
