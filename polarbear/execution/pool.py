"""A pool of worker processes, in which one bad run takes down nobody else."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from multiprocessing import resource_tracker
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any

from polarbear.algorithms.signals import killed_from_outside
from polarbear.errors import PolarBearError
from polarbear.execution import families
from polarbear.execution.executor import RunLimits
from polarbear.execution.host import default_memory, here
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.process import Worker, bound, memory_of, unread_bytes
from polarbear.execution.ready import Pace, Parcel
from polarbear.execution.recorder import Journal
from polarbear.execution.scratch import Scratch
from polarbear.execution.starting import environment, uninterrupted, without_the_script
from polarbear.execution.status import Status
from polarbear.execution.worker import THREAD_VARIABLES, YIELDING, log_tail, serve
from polarbear.problems.base import Setting, Suite
from polarbear.wording import typed_time

DONE = object()  # what an iterable gives that has nothing more
MEMORY_EVERY = 0.25  # seconds between looks at a worker's own memory
FAMILY_EVERY = 4  # every so many looks, programs it has started are counted too
COMING_UP = 10.0  # seconds that a mere trial may take before its clock starts
STARTING_LIMIT = 120.0  # seconds a worker may take to come up
STARTING_TRIES = 3  # so many workers in a row that do not come up are no accident
_STARTING = threading.Lock()  # the environment is that of all threads
UNHURRIED = 0.02  # seconds between looks while nobody is about to have nothing to do
WAITED = 1.0  # seconds after which what lies behind a run is given to somebody who is free


class Pool:
    """Worker processes of this machine; use it as a context, then iterate over ``run``.

    ``name`` is what its only worker is called; without it, workers are numbered. Those of a pool
    that ``yields`` have a lower priority than this process, for whose work everybody waits.
    """

    def __init__(
        self,
        suite: Suite,
        setting: Setting,
        workers: int,
        limits: RunLimits,
        threads: int = 1,
        name: str = "",
        yields: bool = False,
    ) -> None:
        self._suite = suite
        self._setting = setting
        self.size = workers
        self._limits = limits
        self._memory = default_memory(workers) if limits.memory is None else limits.memory
        self._threads = threads
        self._name = name
        self._nicer = YIELDING if yields else 0
        self._workers: list[Worker] = []
        self._started = 0
        self._stillborn = 0  # workers in a row that did not come up
        self._scratch: Scratch | None = None
        self._held: deque[Parcel] = deque()  # taken, but not yet given to a worker
        self._pace = Pace()
        self._woken, self._waker = multiprocessing.Pipe(duplex=False)

    def __enter__(self) -> Pool:
        self._scratch = Scratch()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: Any, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            self._stop(worker)
        self._workers.clear()
        if self._scratch is not None:
            self._scratch.clear()
        self._woken.close()
        self._waker.close()

    def run(
        self, tasks: Iterable[Task | None], over: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        """Execute the tasks, as ``Wakeful`` says; outcomes come as they are finished."""
        waiting = iter(tasks)
        more = True
        while not over():
            more = self._give_out(waiting, more)
            if not more and not self._held and not any(w.given.wanted for w in self._workers):
                return
            yield from self._finished()

    def wake(self) -> None:
        """Let ``run`` look at once whether it is over, or has more to do; from any thread."""
        self._waker.send_bytes(b"!")

    def _give_out(self, waiting: Iterator[Task | None], more: bool) -> bool:
        """Let workers have what there is for them; whether there may be more later."""
        while True:
            found = None
            if more and len(self._held) <= self._coming_up:
                found = next(waiting, DONE)
                more = found is not DONE
                if isinstance(found, Task):
                    self._held.append(Parcel.of(found, self._pace))
            if not self._held:
                self._take_back()
            worker = self._taker(self._held[0]) if self._held else None
            if worker is not None:
                self._give(worker, self._held.popleft())
            elif not isinstance(found, Task):
                return more

    @property
    def _coming_up(self) -> int:
        """Workers who were started, and cannot take anything yet."""
        return sum(not worker.ready for worker in self._workers)

    def _taker(self, parcel: Parcel) -> Worker | None:
        """Who has nothing to do, or else who is soon through with what lies there already."""
        ready = [worker for worker in self._workers if worker.ready and not worker.deaf]
        idle = next((worker for worker in ready if not worker.given), None)
        if idle is not None:
            return idle
        if len(self._workers) < self.size and len(self._held) > self._coming_up:
            self._workers.append(self._start())
        soon = (w for w in ready if w.given.have_room(parcel, w.unread))
        return min(soon, key=lambda worker: (worker.given.seconds, len(worker.given)), default=None)

    def _give(self, worker: Worker, parcel: Parcel) -> None:
        try:
            worker.connection.send_bytes(parcel.message)
        except OSError:  # it is dead, and this run not to blame: another worker takes it
            self._held.appendleft(parcel)
            if worker.given:
                worker.deaf = True
            else:
                self._stop(worker)
                self._workers.remove(worker)
            return
        worker.given.append(parcel)
        if len(worker.given) == 1:
            worker.begins()

    def _take_back(self) -> None:
        """Where somebody is free, hold what lies behind a run that takes longer than it should.

        What was sent cannot be fetched: it will be executed there all the same, and not told of.
        """
        if any(worker.ready and not worker.given for worker in self._workers):
            for worker in self._workers:
                if worker.seconds > WAITED:
                    for parcel in worker.given.lying:
                        parcel.wanted = False
                        self._held.append(replace(parcel, wanted=True))

    def _start(self) -> Worker:
        assert self._scratch is not None, "a pool is used as a context"
        self._started += 1
        folder, mark = self._scratch.folder, self._scratch.mark
        journal, log = folder / f"journal-{self._started}", folder / f"log-{self._started}"
        ours, theirs = multiprocessing.Pipe()
        # Spawned, not forked: C++ extensions and threads do not survive a fork.
        own, name = families.new_mark(), self._name or str(self._started)
        process = multiprocessing.get_context("spawn").Process(
            target=serve,
            args=(theirs, journal, log, self._suite, self._setting, own, name, self._nicer),
            daemon=True,
        )
        resource_tracker.ensure_running()  # it is nobody's child, and would unblock interrupts
        variables = {
            **dict.fromkeys(THREAD_VARIABLES, str(self._threads)),
            **families.marked_environment(f"{mark}:{own}"),
        }
        with (
            _STARTING,  # nor may another start bury this one before it is known
            environment(variables),
            uninterrupted(),
            without_the_script(),
        ):
            try:
                process.start()
            except OSError as error:
                raise PolarBearError(
                    f"a worker process could not be started: {error.strerror}; free some memory, "
                    "or use fewer workers"
                ) from None
            assert process.pid is not None
            known = families.known(process.pid)
        theirs.close()
        return Worker(name, process, known, ours, journal, log, own, unread_bytes(ours))

    def _stop(self, worker: Worker) -> list[Outcome]:
        """End a worker and everything that its runs have started, were it long dead itself; what
        it had still told of its runs."""
        died = not worker.process.is_alive()
        if worker.known is not None:
            families.end_worker(worker.known)
        worker.process.join()
        if died:
            families.end_known(worker.family)
            families.end_marked(worker.mark)
        told = []
        with suppress(EOFError, OSError):
            while worker.connection.poll():
                told.append(worker.connection.recv())
        worker.connection.close()
        return [outcome for outcome in told if outcome is not None]

    def _finished(self) -> Iterator[Outcome]:
        """Wait a moment; yield what was finished, and what had to be ended."""
        if self._workers and all(worker.given.lying for worker in self._workers):
            self._woken.poll(UNHURRIED)
        by_connection = {worker.connection: worker for worker in self._workers}
        for connection in wait([*by_connection, self._woken], timeout=MEMORY_EVERY):
            if connection is self._woken:
                self._woken.recv_bytes()
                continue
            worker = by_connection[connection]  # type: ignore[index]
            try:
                told = worker.received()
            except (EOFError, OSError):
                yield from self._bury(worker, Status.KILLED, "its process died")
                continue
            if worker.ready:
                seconds = worker.seconds / len(told)
                worker.begins()
                for outcome in told:
                    self._pace.note(outcome.task, seconds)
                    yield from self._of(worker, outcome)
            worker.ready, self._stillborn = True, 0
        for worker in list(self._workers):
            yield from self._within_limits(worker)

    def _of(self, worker: Worker, outcome: Outcome) -> Iterator[Outcome]:
        """What a worker tells of the run it was at, if somebody waits for it."""
        if worker.given.popleft().wanted:
            yield outcome

    def _within_limits(self, worker: Worker) -> Iterator[Outcome]:
        if worker.task is None:
            if not worker.ready and worker.seconds > STARTING_LIMIT:
                yield from self._bury(worker, Status.KILLED, "its process did not start")
            return
        trial = worker.task.seconds
        limit = self._limits.seconds if trial is None else trial + COMING_UP
        if worker.seconds > limit:
            message = f"killed after {typed_time(limit, 'seconds')}, the limit of a run"
            yield from self._bury(worker, Status.TIMEOUT, message)
        elif worker.seconds > (worker.looks + 1) * MEMORY_EVERY:
            worker.looks = int(worker.seconds / MEMORY_EVERY)
            bound(worker.log)
            if worker.looks % FAMILY_EVERY == 0 and worker.known is not None:
                worker.family = families.descendants(worker.known)
            used = memory_of(filter(None, (worker.known, *worker.family)))
            if used > self._memory:
                message = (
                    f"killed at {used / 2**20:.0f} MiB of memory; "
                    f"the limit of a run is {self._memory / 2**20:.0f} MiB"
                )
                yield from self._bury(worker, Status.MEMORY, message)

    def _bury(self, worker: Worker, status: Status, message: str) -> Iterator[Outcome]:
        """End a worker; its run, if it had one, keeps what the journal holds of it."""
        task = worker.task
        told = self._stop(worker)
        self._workers.remove(worker)
        for outcome in told:  # it was through with its run, and had begun another or not
            yield from self._of(worker, outcome)
        if told:
            self._hold(worker.given)
            return
        if status is Status.KILLED:
            message += f" (exit code {worker.process.exitcode})"
            if killed_from_outside(worker.process.exitcode):
                status = Status.LOST
        printed = log_tail(worker.log)
        if printed:
            message += f"\n{printed}"
        if task is None:
            if not worker.ready:
                self._stillborn += 1
                if self._stillborn >= STARTING_TRIES:
                    raise PolarBearError(f"a worker process could not be started: {message}")
            return
        self._hold(worker.given.lying)
        times, values = Journal.read(worker.journal)
        on_evaluations = self._setting.budget.axis == "evaluations"
        last = float(times[-1]) if len(times) else 0.0
        outcome = Outcome(
            task,
            status,
            message,
            times,
            values,
            evaluations=int(last) if on_evaluations else 0,
            reached=last,
            seconds=worker.seconds,
            invalid=0,
            started=time.time() - worker.seconds,
            where=here(worker.name),
        )
        yield from self._of(worker, outcome)

    def _hold(self, parcels: Iterable[Parcel]) -> None:
        """Others will execute what a worker was given that is no more."""
        self._held.extend(parcel for parcel in parcels if parcel.wanted)
