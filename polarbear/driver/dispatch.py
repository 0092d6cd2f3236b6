"""Gives workers something to do: what a round asks for, and then what the next one is likely to.

However a call ends, by an interrupt or an error too, every run that was finished is stored.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TypeVar

from polarbear.driver.early import EarlyRuns
from polarbear.driver.thinking import Thinking
from polarbear.execution.executor import Executor, Interruptible
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.status import Status
from polarbear.store import Store

RETRIES = 2  # of a run that was killed from outside

Result = TypeVar("Result")
Place = tuple[str, str]  # an algorithm and an instance, by name


class Dispatch:
    """Executes tasks and stores what comes of them; the caller holds the store's lock.

    ``on_outcome`` hears of each run that was asked for, and of its last attempt only: one that was
    killed from outside is run again. ``on_early`` hears of those that nobody has asked for yet,
    which are begun where the pool can do that.
    """

    def __init__(
        self,
        pool: Executor,
        store: Store,
        on_outcome: Callable[[Outcome], None] = lambda outcome: None,
        early: EarlyRuns | None = None,
        on_early: Callable[[Outcome], None] = lambda outcome: None,
    ) -> None:
        self._pool = pool
        self._store = store
        self._on_outcome = on_outcome
        self._wakeful = pool if isinstance(pool, Interruptible) else None
        self.early = early if self._wakeful is not None else None
        self._on_early = on_early
        self._asked: dict[Place, Task] = {}  # and not finished
        self._queue: OrderedDict[Place, Task] = (
            OrderedDict()
        )  # of those asked for, what has to be begun
        self._under_way: dict[Place, Task] = {}  # begun early, and not finished
        self._again: OrderedDict[Place, Task] = OrderedDict()  # begun early, and lost
        self._lost: Counter[Place] = Counter()
        self._finished: list[Outcome] = []
        self._begun = self._kept = time.monotonic()

    @property
    def workers(self) -> int:
        """How many runs go on at once, as things are now."""
        return self._pool.size

    def has_begun(self, task: Task) -> bool:
        """Whether something is being run early where a task would run."""
        return _place(task) in self._under_way or _place(task) in self._again

    @property
    def under_way(self) -> list[Task]:
        """What is being run early, or will be again."""
        return [*self._under_way.values(), *self._again.values()]

    def run(self, tasks: Iterable[Task], likely: Iterable[Task] = ()) -> None:
        """Execute tasks; workers that have nothing to do meanwhile begin what is ``likely`` next.

        It ends when all tasks are finished; what was begun early then is still under way.
        """
        self._lost.clear()
        self._queue.clear()
        self._again.clear()  # what is still likely is so for this round, too
        try:
            self._ask(tasks)
            self._serve(iter(likely), over=lambda: not self._asked)
        finally:
            self._asked.clear()
            self._keep_runs()

    def meanwhile(self, work: Callable[[], Result], likely: Iterator[Task]) -> Result:
        """Do some work of this process's own, while workers go on with what is ``likely`` next."""
        first = next(likely, None) if self.early is not None else None
        if self._wakeful is None or (first is None and not self._under_way):
            return work()
        thinking = Thinking(work, self._wakeful.wake)
        thinking.start()
        try:
            self._serve(chain(filter(None, [first]), likely), over=lambda: thinking.done)
        except BaseException:  # Ctrl-C is not to wait for what nobody will use
            thinking.give_up()
            raise
        return thinking.result()

    def keep(self) -> None:
        """Bring the store up to date."""
        self._keep_runs()
        if self.early is not None:
            self.early.write(self._pool.size)
        self._kept = time.monotonic()

    def _ask(self, tasks: Iterable[Task]) -> None:
        """Begin with what is there or under way already; the rest is to be begun."""
        for task in tasks:
            place = _place(task)
            self._asked[place] = task
            early = self._under_way.get(place)
            done = self.early.take(task) if self.early is not None else None
            if done is not None:
                self._took(done)
            elif early is None or self.early is None or not self.early.fits(early, task):
                self._queue[place] = task

    def _serve(self, likely: Iterator[Task], over: Callable[[], bool]) -> None:
        if self._wakeful is not None and self.early is not None:
            self._receive_all(self._wakeful.run(self._feed(likely, over), over))
            return
        while self._asked:  # again, where runs were lost
            self._receive_all(self._pool.run(self._asked_for()))

    def _receive_all(self, outcomes: Iterable[Outcome]) -> None:
        for outcome in outcomes:
            self._receive(outcome)
            # Seldom enough that long work has few parts, often enough to lose little.
            since_begun = self._kept - self._begun
            if time.monotonic() - self._kept > min(max(2.0, 0.02 * since_begun), 60.0):
                self.keep()

    def _asked_for(self) -> Iterator[Task]:
        while self._queue:
            yield self._first()

    def _first(self) -> Task:
        return self._queue.popitem(last=False)[1]

    def _feed(self, likely: Iterator[Task], over: Callable[[], bool]) -> Iterator[Task | None]:
        """What is to be begun next; None while there is nothing."""
        while not over():
            task = self._first() if self._queue else None
            if task is None:
                task = self._again.popitem(last=False)[1] if self._again else next(likely, None)
                if task is not None:
                    self._under_way[_place(task)] = task
            yield task

    def _receive(self, outcome: Outcome) -> None:
        place = _place(outcome.task)
        asked = self._asked.get(place)
        if place in self._under_way and _is(outcome.task, self._under_way[place]):
            del self._under_way[place]
            self._receive_early(outcome, asked)
        elif outcome.status is Status.LOST and self._lost[place] < RETRIES:
            self._lost[place] += 1
            self._finished.append(outcome)
            again = replace(outcome.task, attempt=outcome.task.attempt + 1)
            self._asked[place] = again
            self._queue[place] = again
        else:
            self._took(outcome)

    def _receive_early(self, outcome: Outcome, asked: Task | None) -> None:
        assert self.early is not None
        place = _place(outcome.task)
        if outcome.status is not Status.LOST:  # one that was lost is as good as not begun
            self.early.add(outcome)
            self._on_early(outcome)
        elif asked is None and self._lost[place] < RETRIES:
            self._lost[place] += 1
            self._again[place] = replace(outcome.task, attempt=outcome.task.attempt + 1)
        if asked is not None and _place(asked) not in self._queue:
            done = self.early.take(asked)
            if done is not None:
                self._took(done)
            elif self.early.fits(outcome.task, asked):  # it was waited for, in vain
                self._queue[_place(asked)] = asked

    def _took(self, outcome: Outcome) -> None:
        """A run that was asked for is there."""
        del self._asked[_place(outcome.task)]
        self._finished.append(outcome)
        self._on_outcome(outcome)

    def _keep_runs(self) -> None:
        outcomes = self._finished.copy()
        self._finished.clear()
        self._store.add_runs(outcomes, self._pool.size)
        self._store.merge_parts()


def _place(task: Task) -> Place:
    return task.algorithm.name, task.instance.id


def _is(task: Task, other: Task) -> bool:
    """Whether two tasks for one place are the same; what comes back from a worker is a copy."""
    return task.budget == other.budget and task.attempt == other.attempt
