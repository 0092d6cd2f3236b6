"""Gives tasks to workers: those of a round, then speculative ones for the next round.

However a call ends, also by an interrupt or an error, every finished run is stored. Speculative
runs count for nothing until a round requests them, so that decisions are the same with and without
them. A run that went further than requested is cut there, as if it had been stopped.
"""

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Generic, TypeVar

from polarbear.config.configuration import Config
from polarbear.driver.run_queue import RunQueue
from polarbear.execution.outcome import Executor, Outcome, RunKey, Status, Task
from polarbear.settings.grid import EVALUATIONS
from polarbear.store import StoreOnDisk
from polarbear.store.runs import FinishedRun, StoredRun

RETRIES = 2  # the number of times that a run is repeated after it was killed from outside

Result = TypeVar("Result")


class SpeculativeRuns:
    """Finished speculative runs that no round has used, in memory and in the store.

    Runs of other code than the ``fingerprints`` of the algorithms are removed, and failed runs if
    failures are to be repeated.
    """

    def __init__(
        self,
        config: Config,
        store: StoreOnDisk,
        fingerprints: Mapping[str, str],
        retry_failed: bool = False,
    ) -> None:
        self._store = store
        self._cuts = config.budget.axis == EVALUATIONS
        self._unused: defaultdict[RunKey, list[FinishedRun]] = defaultdict(list)
        finished_runs = store.speculative.runs()
        # A race that was killed may have left runs here that are used by now.
        used_ids = set(store.every_run()["run"]) if finished_runs else set()
        fitting_fingerprints = {
            name: store.provenance.alike(name, present) for name, present in fingerprints.items()
        }
        for finished in finished_runs:
            run = finished.run
            is_of_present_code = run.fingerprint in fitting_fingerprints.get(run.algorithm, ())
            is_to_repeat = retry_failed and run.status.failed
            if is_of_present_code and run.run not in used_ids and not is_to_repeat:
                run = run._replace(fingerprint=fingerprints[run.algorithm])
                self.add(replace(finished, run=run))

    def add(self, finished: FinishedRun) -> None:
        """Keep a finished run for the round that may request it."""
        self._unused[self._store.key_of(finished.run)].append(finished)

    def take(self, task: Task) -> Outcome | None:
        """Remove and return the outcome of a task, if there is one."""
        for finished, outcome in self._answers(task):
            self._unused[task.key].remove(finished)
            return outcome
        return None

    def has(self, task: Task) -> bool:
        """Whether there is an outcome of a task."""
        return any(self._answers(task))

    def fits(self, running: Task | StoredRun, requested: Task) -> bool:
        """Whether the outcome of a run will answer a request: the same run, or one to a later end.

        The end of a longer run is cut off, which is exact on the evaluation axis only.
        """
        if (running.seed, running.fingerprint) != (requested.seed, requested.fingerprint):
            return False
        can_be_cut = self._cuts and running.budget > requested.budget
        return can_be_cut or running.budget == requested.budget

    def write(self) -> None:
        """Bring the store up to date; used runs must be stored with their round by now."""
        self._store.speculative.replace([run for runs in self._unused.values() for run in runs])

    def _answers(self, task: Task) -> Iterator[tuple[FinishedRun, Outcome]]:
        """Runs that answer a request, each with the outcome of the requested run."""
        for finished in self._unused[task.key]:
            if self.fits(finished.run, task):
                outcome = finished.up_to(task)
                if outcome is not None:
                    yield finished, outcome


class Scheduler:
    """Executes tasks and stores their outcomes; the caller holds the store's lock.

    ``on_outcome`` receives each requested run, of several attempts the last: a run that was killed
    from outside is repeated. ``on_speculative`` receives runs that no round has requested yet.
    """

    def __init__(
        self,
        pool: Executor,
        store: StoreOnDisk,
        on_outcome: Callable[[Outcome, FinishedRun], None] = lambda outcome, finished: None,
        speculative: SpeculativeRuns | None = None,
        on_speculative: Callable[[Outcome], None] = lambda outcome: None,
    ) -> None:
        self._pool = pool
        self._store = store
        self._on_outcome = on_outcome
        self.speculative = speculative
        self._on_speculative = on_speculative
        self._requested: dict[RunKey, Task] = {}  # requested and not finished
        self._queue = RunQueue()  # requested and not started
        self._likely = RunQueue()  # speculative and not started
        self._running: dict[RunKey, Task] = {}  # speculative runs that have started
        self._lost: Counter[RunKey] = Counter()
        self._finished: list[FinishedRun] = []
        self._started = time.monotonic()
        self._stored = self._started

    @property
    def workers(self) -> int:
        """The number of runs that go on at once."""
        return self._pool.size

    def run(self, tasks: Iterable[Task], likely: Iterable[Task] = ()) -> None:
        """Execute tasks; idle workers start ``likely`` ones.

        Ends when all tasks are finished; speculative runs may still be under way.
        """
        self._lost.clear()
        self._queue.clear()
        self._likely.clear()
        try:
            for task in tasks:
                self._request(task)
            self._serve(iter(likely), over=lambda: not self._requested)
        finally:
            self._requested.clear()
            self._store_runs()

    def run_beside(
        self, work: Callable[[threading.Event], Result], likely: Iterator[Task]
    ) -> Result:
        """Do some work in this process, while workers go on with ``likely`` tasks.

        The work receives an event, and should end early when that is set.
        """
        self._note_likely(likely)
        if not self._likely and not self._running:
            return work(threading.Event())
        background = Background(work, self._pool.wake)
        background.start()
        try:
            self._serve(likely, over=background.result.done)
        except BaseException:
            # Ctrl-C does not wait for a result that will not be used.
            background.cancelled.set()
            raise
        return background.result.result()

    def flush(self) -> None:
        """Bring the store up to date."""
        self._store_runs()
        if self.speculative is not None:
            self.speculative.write()
        self._stored = time.monotonic()

    def _request(self, task: Task) -> None:
        """Use a speculative run that is finished, wait for one that has started, or queue a run."""
        key = task.key
        self._requested[key] = task
        if self.speculative is not None:
            outcome = self.speculative.take(task)
            if outcome is not None:
                self._accept(outcome)
                return
            running = self._running.get(key)
            if running is not None and self.speculative.fits(running, task):
                del self._running[key]
                return
        self._queue.add(task)

    def _note_likely(self, likely: Iterator[Task]) -> None:
        """Queue speculative runs, of which there are at most those of one round."""
        for task in filter(self._is_new, likely):
            self._likely.add(task)

    def _is_new(self, task: Task) -> bool:
        """Whether no speculative run for this task has started."""
        if task.key in self._running:
            return False
        return self.speculative is None or not self.speculative.has(task)

    def _serve(self, likely: Iterator[Task], over: Callable[[], bool]) -> None:
        for outcome in self._pool.run(self._feed(likely, over), over):
            self._receive(outcome)
            # Few parts are written in a long race, and little is lost when it is killed.
            interval = min(max(2.0, 0.02 * (self._stored - self._started)), 60.0)
            if time.monotonic() - self._stored > interval:
                self.flush()

    def _feed(self, likely: Iterator[Task], over: Callable[[], bool]) -> Iterator[Task | None]:
        """The next task to start; None while nothing can be started."""
        while not over():
            if self._queue:
                yield self._queue.take(self._pool)
                continue
            self._note_likely(likely)
            if not self._likely:
                yield None
                continue
            task = self._likely.take(self._pool)
            self._running[task.key] = task
            yield task

    def _receive(self, outcome: Outcome) -> None:
        """Take in the outcome of a speculative run, or of a requested one."""
        task = outcome.task
        key = task.key
        running = self._running.get(key)
        # A worker returns a copy of its task, so that tasks are compared by their content.
        if running and (running.budget, running.attempt) == (task.budget, task.attempt):
            del self._running[key]
            self._receive_speculative(outcome)
            return
        requested = self._requested[key]
        if outcome.status is Status.LOST and self._lost[key] < RETRIES:
            self._lost[key] += 1
            self._finished.append(self._record(replace(outcome, task=requested)))
            next_attempt = replace(requested, attempt=requested.attempt + 1)
            self._requested[key] = next_attempt
            self._queue.add(next_attempt)
            return
        if task.budget == requested.budget:
            self._accept(replace(outcome, task=requested))
            return
        cut_outcome = self._record(outcome).up_to(requested)
        if cut_outcome is not None:
            self._accept(cut_outcome)
        else:  # A longer run was killed, and where it was at this budget is unknown.
            self._queue.add(requested)

    def _receive_speculative(self, outcome: Outcome) -> None:
        """Keep a speculative run, unless it was killed from outside: it can then start again."""
        if self.speculative is not None and outcome.status is not Status.LOST:
            self.speculative.add(self._record(outcome))
            self._on_speculative(outcome)

    def _accept(self, outcome: Outcome) -> None:
        """Take in a requested run."""
        del self._requested[outcome.task.key]
        finished = self._record(outcome)
        self._finished.append(finished)
        self._on_outcome(outcome, finished)

    def _record(self, outcome: Outcome) -> FinishedRun:
        """The only record of a run: it is stored, and the race decides by it."""
        return FinishedRun.of(outcome, self.workers)

    def _store_runs(self) -> None:
        finished_runs = self._finished.copy()
        self._finished.clear()
        self._store.add_runs(finished_runs)
        self._store.merge_parts()


class Background(threading.Thread, Generic[Result]):
    """Some work in a thread, and its result; ``wake`` is called when it is done.

    The work receives the event ``cancelled``, and ends early when that is set: at the next item
    that its threads share (`in_threads`). An exception thrown into the thread could hit it while
    it starts another one, which then never begins, and the first waits for it forever.
    """

    def __init__(self, work: Callable[[threading.Event], Result], wake: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._work = work
        self._wake = wake
        self.result: Future[Result] = Future()
        self.cancelled = threading.Event()

    def run(self) -> None:
        try:
            self.result.set_result(self._work(self.cancelled))
        except BaseException as error:
            self.result.set_exception(error)
        with suppress(OSError):  # The other end may be closed.
            self._wake()
