"""Runs executed by the workers of a Dask cluster, each of which guards its runs itself.

Dask schedules; what stands here hands runs over, takes outcomes back, and decides what it means
that a worker or the scheduler is gone. A run depends on its seed alone, so it may be repeated.
"""

from __future__ import annotations

import os
import pickle
import queue
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from polarbear.config import Config
from polarbear.errors import ClusterError
from polarbear.execution import luggage
from polarbear.execution.clusters import Cluster, require_dask
from polarbear.execution.executor import RunLimits
from polarbear.execution.host import Where
from polarbear.execution.inspection import inspection
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.placement import Placement
from polarbear.execution.ready import LYING, MOST_LYING, Pace
from polarbear.execution.roll_call import described
from polarbear.execution.status import Status
from polarbear.wording import counted, typed_time

DONE = object()  # what an iterable gives that has nothing more
NOBODY = ""  # the key of no run
AHEAD = 2  # runs handed over for each that can go on, at least: the next lies there when one ends
MOST_GIVEN_UP = 20  # times that Dask gives up a run that never began
LOOK_EVERY = 1.0  # seconds between looks at who is there
TIDYING = 10.0  # seconds in which workers hear that nobody waits for their runs any more


@dataclass
class Flight:
    """A run that was handed over, and how often that has ended badly."""

    task: Task
    future: Any
    since: float
    length: float  # seconds that it is likely to take
    given_up: int = 0


class DaskExecutor:
    """Executes runs on a cluster; use it as a context, then iterate over ``run``."""

    def __init__(
        self, config: Config, limits: RunLimits, packages: Mapping[str, str], placement: Placement
    ) -> None:
        require_dask()
        self._config, self._limits, self._packages = config, limits, packages
        self._options = config.execution
        self._placement = placement
        self._name = f"polarbear-{secrets.token_hex(4)}"
        self._flights: dict[str, Flight] = {}
        self._pace = Pace()
        self._ended: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()  # as handed over
        self._begun: Counter[str] = Counter()  # how often each run was begun, by key
        self._last: dict[str, Where] = {}  # where it was begun last
        self._number = 0
        self._threads: dict[str, int] = {}
        self._looked = 0.0
        self._peopled = time.monotonic()  # when there was last any worker

    def __enter__(self) -> DaskExecutor:
        self._cluster = Cluster(self._options)
        try:
            self._settle_in()
        except BaseException:
            self._cluster.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # In a thread: a cluster that does not answer need not be tidied, and nobody waits for it.
        tidying = threading.Thread(target=self._tidy_up, daemon=True)
        tidying.start()
        tidying.join(TIDYING)
        self._cluster.close()

    def _tidy_up(self) -> None:
        """Let workers end what they are at, and forget what they were told."""
        with suppress(Exception):  # a cluster that is gone need not be tidied either
            self._client.cancel([flight.future for flight in self._flights.values()])
            self._client.unregister_worker_plugin(self._name)

    @property
    def size(self) -> int:
        there = sum(self._threads.values())
        return max(1, min(there, self._options.workers or there))

    def run(
        self, tasks: Iterable[Task | None], over: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        """Execute tasks, as ``Wakeful`` says; outcomes come as they are finished."""
        waiting = iter(tasks)
        more = True
        while not over():
            while more and self._has_room:
                found = next(waiting, DONE)
                more = found is not DONE
                if not isinstance(found, Task):
                    break
                self._hand_over(found)
            if not more and not self._flights:
                return
            yield from self._landed()

    def wake(self) -> None:
        """Let ``run`` look at once whether it is over, or has more to do; from any thread."""
        self._ended.put((NOBODY, NOBODY))

    @property
    def _client(self) -> Any:
        return self._cluster.client

    @property
    def _has_room(self) -> bool:
        """Whether one more run may be handed over; without a limit of ours, some lie ready."""
        there, under_way = sum(self._threads.values()), len(self._flights)
        limit = self._options.workers
        if limit is not None and limit < there:
            return under_way < limit
        if under_way < max(1, AHEAD * there):
            return True
        if under_way >= MOST_LYING * there:
            return False
        return sum(flight.length for flight in self._flights.values()) < LYING * there

    def _settle_in(self) -> None:
        """Tell the cluster what runs have in common, and see that its workers can do them."""
        from polarbear.execution.guard import Guards, Job

        config = self._config
        setting = replace(config.setting, folder=os.path.abspath(config.folder))  # noqa: PTH100 - symbolic links may be what machines share
        first = config.instances.instance(0, config.setting)
        shipped = self._options.code == "shipped"
        job = Job(
            self._name,
            config.instances,
            setting,
            self._limits,
            self._options.threads,
            self._packages,
            Task(inspection(config.algorithms), first, 1, config.budget.limit),
            luggage.packed(Path(config.folder)) if shipped else None,
        )
        self._client.subscribe_topic(self._name, self._note_begun)
        self._wait_for_workers()
        self._refuse_strangers()
        self._client.register_plugin(Guards(job), name=self._name)
        self._refuse_unfit()

    def _wait_for_workers(self) -> None:
        while not self._threads:
            self._look()
            if not self._threads:
                time.sleep(0.1)

    def _refuse_strangers(self) -> None:
        """Stop where a worker lacks PolarBear itself; only what is Python's own can ask it."""
        from importlib.util import find_spec

        found = self._client.run(find_spec, "polarbear", on_error="return")
        lacking = [worker for worker, spec in found.items() if spec is None]
        if lacking:
            raise ClusterError(
                f"PolarBear is not installed on {counted(len(lacking), 'worker')} of "
                f"{self._cluster.address}: {lacking[0]}; install it there, in the same version"
            )

    def _refuse_unfit(self) -> None:
        """Let every worker try itself out, and stop with what the first unfit one lacks."""
        from polarbear.execution.guard import inspected

        asked = {
            worker: self._client.submit(
                inspected, self._name, workers=[worker], pure=False, key=f"{self._name}-{worker}"
            )
            for worker in self._threads
        }
        for worker, future in asked.items():
            while future.status == "pending" and worker in self._threads:
                time.sleep(0.02)
                self._look()
            flaw = future.result(timeout=30) if future.status == "finished" else ""
            if flaw:
                raise ClusterError(self._unfit(flaw))
        told = self._client.run(described, on_error="ignore")
        self._placement.meet({worker: where for worker, (where, _) in told.items()})

    def _unfit(self, flaw: str) -> str:
        shared = self._options.code == "shared"
        hint = "; `code: shipped` sends the configuration's folder along" if shared else ""
        return f"{flaw}\nInstall what is missing there, or take the worker away{hint}"

    def _hand_over(self, task: Task, key: str | None = None, given_up: int = 0) -> None:
        from polarbear.execution.guard import run_guarded

        if key is None:
            self._number += 1
            key = f"{self._name}-run-{self._number}"
        try:
            future = self._client.submit(
                run_guarded,
                self._name,
                key,
                pickle.dumps(task),
                given_up > 0,
                key=f"{key}-{given_up}-{secrets.token_hex(2)}",
                pure=False,
                **self._placement.restrictions(task.instance.id),
            )
        except Exception:
            if self._client.status != "closed":
                raise
            # The scheduler was away for so long that Dask gave up, while nobody was looking.
            self._recover()
            self._hand_over(task, key, given_up)
            return
        length = self._pace.of(task)
        self._flights[key] = Flight(task, future, time.time(), length, given_up)
        future.add_done_callback(lambda done, key=key: self._ended.put((key, done.key)))

    def _landed(self) -> Iterator[Outcome]:
        """Wait a moment; yield what was finished, and hand over anew what was not."""
        self._look()
        keys = self._told()
        cancelled = any(self._status(key) == "cancelled" for key in keys)
        if cancelled or self._client.status != "running":
            self._recover()
            return
        done = [key for key in keys if self._status(key) == "finished"]
        gathered = self._gathered(done)
        for key in done:
            if key in gathered:
                flight = self._flights.pop(key)
                yield self._outcome(flight.task, gathered[key])
            else:  # its worker died between finishing it and telling
                self._again(key)
        for key in keys:
            if key not in done:
                if self._status(key) == "error":
                    yield from self._failed(key)
                else:  # its worker left before anybody asked for what it had
                    self._again(key)

    def _told(self) -> list[str]:
        """Wait a moment; the runs that have ended, as they were handed over last."""
        told = []
        with suppress(queue.Empty):
            told.append(self._ended.get(timeout=LOOK_EVERY))
            while True:
                told.append(self._ended.get_nowait())
        flights = self._flights
        return [
            key
            for key, future in dict.fromkeys(told)
            if key in flights and flights[key].future.key == future
        ]

    def _status(self, key: str) -> str:
        return str(self._flights[key].future.status)

    def _gathered(self, keys: list[str]) -> dict[str, bytes]:
        futures = {key: self._flights[key].future for key in keys}
        try:
            found = self._client.gather(futures, errors="skip")
        except (OSError, ClusterError, TimeoutError):
            return {}
        return dict(found)

    def _outcome(self, task: Task, packed: bytes) -> Outcome:
        outcome = Outcome(task, **pickle.loads(packed))
        self._pace.note(task, outcome.seconds)
        self._placement.accept(task.instance.id, outcome.where)
        return outcome

    def _again(self, key: str) -> None:
        flight = self._flights.pop(key)
        self._hand_over(flight.task, key, flight.given_up + 1)

    def _failed(self, key: str) -> Iterator[Outcome]:
        """What it means that Dask gave a run up: innocent, poisonous, or nobody can do it."""
        from distributed import KilledWorker

        from polarbear.execution.guard import LeavingError, UnfitError, UnknownJobError

        flight = self._flights[key]
        error = flight.future.exception()
        if isinstance(error, KilledWorker):
            # One that only lay there when somebody else took its worker down is innocent.
            if self._begun[key] < self._options.tries and flight.given_up < MOST_GIVEN_UP:
                self._again(key)
                return
            del self._flights[key]
            yield self._poisonous(key, flight)
        elif isinstance(error, UnknownJobError):
            self._settle_in()
            self._again(key)
        elif isinstance(error, LeavingError):
            self._again(key)
        elif isinstance(error, UnfitError):
            raise ClusterError(self._unfit(str(error)))
        elif error is not None:
            raise ClusterError(
                f"a run of {flight.task.algorithm.name} could not be handed to the cluster: "
                f"{type(error).__name__}: {error}"
            )

    def _poisonous(self, key: str, flight: Flight) -> Outcome:
        where, nothing = self._last.get(key, Where("unknown")), np.array([], dtype=np.float64)
        deaths = counted(self._begun[key], "worker")
        message = f"{deaths} died with it, the last at {where.worker} on {where.host}"
        return Outcome(
            flight.task,
            Status.POISONOUS,
            message,
            nothing,
            nothing,
            evaluations=0,
            reached=0.0,
            seconds=0.0,
            invalid=0,
            started=flight.since,
            where=where,
        )

    def _recover(self) -> None:
        """Hand everything over anew that was under way when the scheduler was lost."""
        if self._client.status != "running":
            self._cluster.reconnect()
        self._threads, self._peopled = {}, time.monotonic()
        self._settle_in()
        for key in list(self._flights):
            flight = self._flights.pop(key)
            self._hand_over(flight.task, key, flight.given_up)

    def _look(self) -> None:
        """See who is there, at most once in a while; stop where nobody has been for too long."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY and self._threads:
            return
        self._looked = now
        self._cluster.renew()
        try:
            self._threads = dict(self._client.nthreads())
        except (OSError, TimeoutError, ValueError):  # the next look at its status says more
            return
        if self._threads:
            self._peopled = now
        elif now - self._peopled > self._options.patience and not self._cluster.waits_for_ever:
            waited = typed_time(self._options.patience, "seconds")
            raise ClusterError(
                f"the scheduler at {self._cluster.address} has had no worker for {waited}; start "
                f"some with `dask worker {self._cluster.address}`. What is finished is stored, and "
                "the same command goes on from there"
            )

    def _note_begun(self, event: tuple[float, Any]) -> None:
        _, told = event
        self._begun[told["key"]] += 1
        self._last[told["key"]] = Where(told["host"], worker=told["worker"])
