"""Gives tasks to workers: those of a round, then speculative ones for the next round.

However a call ends, also by an interrupt or an error, every finished run is stored.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Generic, TypeVar

from polarbear.driver.speculation import SpeculativeRuns
from polarbear.execution.outcome import Executor, Outcome, Status, Task
from polarbear.store import Store

RETRIES = 2  # of a run that was killed from outside

Result = TypeVar("Result")
Place = tuple[str, str]  # the names of an algorithm and an instance


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
            self._request(tasks)
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
            self._serve(chain(filter(None, [first]), likely), over=lambda: background.done)
        except BaseException:  # Ctrl-C does not wait for a result that is not used
            background.give_up()
            raise
        return background.result()

    def flush(self) -> None:
        """Bring the store up to date."""
        self._store_runs()
        if self.speculative is not None:
            self.speculative.write(self._pool.size)
        self._stored = time.monotonic()

    def _request(self, tasks: Iterable[Task]) -> None:
        """Use speculative runs that are finished or under way; queue the rest."""
        for task in tasks:
            place = _place(task)
            self._requested[place] = task
            running = self._running.get(place)
            done = self.speculative.take(task) if self.speculative is not None else None
            if done is not None:
                self._accept(done)
            elif running is None or not self._fits(running, task):
                self._queue[place] = task

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
        place = _place(outcome.task)
        requested = self._requested.get(place)
        if place in self._running and _is(outcome.task, self._running[place]):
            del self._running[place]
            self._receive_speculative(outcome, requested)
        elif outcome.status is Status.LOST and self._lost[place] < RETRIES:
            self._lost[place] += 1
            self._finished.append(outcome)
            again = replace(outcome.task, attempt=outcome.task.attempt + 1)
            self._requested[place] = self._queue[place] = again
        else:
            self._accept(outcome)

    def _receive_speculative(self, outcome: Outcome, requested: Task | None) -> None:
        assert self.speculative is not None
        place = _place(outcome.task)
        if outcome.status is not Status.LOST:  # a lost one counts as not started
            self.speculative.add(outcome)
            self._on_speculative(outcome)
        if requested is not None and place not in self._queue:
            done = self.speculative.take(requested)
            if done is not None:
                self._accept(done)
            elif self._fits(outcome.task, requested):  # the round waited for it
                self._queue[place] = requested

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


def _is(task: Task, other: Task) -> bool:
    """Whether two tasks at one place are the same; a worker returns a copy."""
    return task.budget == other.budget and task.attempt == other.attempt


class Background(threading.Thread, Generic[Result]):
    """Some work in a thread, and its result; ``wake`` is called when it is done."""

    def __init__(self, work: Callable[[], Result], wake: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._wake = wake
        self._result: list[Result] = []
        self._error: BaseException | None = None
        self.done = False
        self.given_up = False  # read by `in_threads`

    def run(self) -> None:
        try:
            self._result.append(self._work())
        except BaseException as error:
            self._error = error
        self.done = True
        with suppress(OSError):  # the other end may be closed
            self._wake()

    def result(self) -> Result:
        """The result of the work, or its error, once it is done."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._result[0]

    def give_up(self) -> None:
        """Let the work end at the next item that its threads share, without waiting for it.

        An exception thrown into the thread could hit it while it starts another one, which then
        never begins, and the first waits for it forever.
        """
        self.given_up = True
