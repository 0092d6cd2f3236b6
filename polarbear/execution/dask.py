"""Executes runs on the workers of a Dask cluster.

Dask schedules. This module submits runs, collects outcomes, and handles the loss of workers and
of the scheduler. A run depends on its seed only, so it may be repeated.
"""

import asyncio
import os
import pickle
import queue
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from polarbear.config.configuration import Config
from polarbear.errors import ClusterError
from polarbear.execution.cluster import Cluster, KilledWorker, Placement, probe_workers
from polarbear.execution.dask_worker import (
    FitnessCheck,
    Job,
    JobPlugin,
    LeavingError,
    UnfitError,
    UnknownJobError,
    execute_task,
    pack,
)
from polarbear.execution.host import Where
from polarbear.execution.outcome import Executor, Outcome, RunLimits, Status, Task
from polarbear.wording import counted, typed_time

SUBMITTED_PER_THREAD = 2  # so that a worker does not wait for the next run
MAX_INNOCENT_RETRIES = 20  # of a run that had not begun when its workers died
LOOK_INTERVAL_SECONDS = 1.0  # between updates of the list of workers
MAX_GATHER_SECONDS = 30.0  # for results; those that left with their worker may never come
MAX_CANCEL_SECONDS = 10.0
RETRY_SECONDS = 0.5  # after a connection was lost while the cluster was set up
_WAKE = ""  # is put into the queue instead of the key of a future


@dataclass
class Submission:
    """A run that was submitted, and how often it was submitted again."""

    run: str  # the same for all submissions of a run
    task: Task
    future: Any
    since: float
    retries: int


class DaskExecutor(Executor):
    """An executor on a cluster; use it as a context, then iterate over ``run``."""

    def __init__(
        self,
        config: Config,
        limits: RunLimits,
        packages: Mapping[str, str],
        timed_on: Mapping[str, str] | None,  # see Placement; None if seconds are not compared
    ) -> None:
        self._config = config
        self._limits = limits
        self._packages = packages
        self._options = config.execution
        rule = "mixed" if timed_on is None else config.execution.processors
        self._placement = Placement(rule, timed_on)
        self._name = f"polarbear-{secrets.token_hex(4)}"
        self._submitted: dict[str, Submission] = {}  # keys are those of futures
        self._ended: queue.SimpleQueue[str] = queue.SimpleQueue()  # keys of futures
        self._starts: defaultdict[str, list[Where]] = defaultdict(list)  # keys are runs
        self._threads: dict[str, int] = {}  # keys are workers
        self._looked = 0.0
        self._had_workers = time.monotonic()

    def __enter__(self) -> Self:
        self._cluster = Cluster(self._options)
        try:
            self._set_up()
        except BaseException:
            self._cluster.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        def cancel_all() -> None:
            with suppress(Exception):  # the cluster may be gone
                futures = [submission.future for submission in self._submitted.values()]
                self._client.cancel(futures)
                self._client.unregister_worker_plugin(self._name)

        # In a thread, because a cluster that is gone does not answer.
        cancelling = threading.Thread(target=cancel_all, daemon=True)
        cancelling.start()
        cancelling.join(MAX_CANCEL_SECONDS)
        self._cluster.close()

    @property
    def size(self) -> int:
        threads = sum(self._threads.values())
        return max(1, min(threads, self._options.workers or threads))

    def wake(self) -> None:
        self._ended.put(_WAKE)

    @property
    def _client(self) -> Any:
        return self._cluster.client

    def _has_room(self) -> bool:
        threads = sum(self._threads.values())
        limit = self._options.workers
        if limit is not None and limit < threads:
            return len(self._submitted) < limit
        return len(self._submitted) < max(1, SUBMITTED_PER_THREAD * threads)

    def _is_busy(self) -> bool:
        return bool(self._submitted)

    def _set_up(self) -> None:
        """Send the job to the cluster, and check that its workers can execute runs."""
        config = self._config
        folder = os.path.abspath(config.folder)  # noqa: PTH100 - machines may share symbolic links
        first_instance = config.instances.instance(0, config.setting)
        check = FitnessCheck(name="check", use="fitness-check", algorithms=config.algorithms)
        job = Job(
            self._name,
            config.instances,
            replace(config.setting, folder=folder),
            self._limits,
            self._options.threads,
            self._options.isolation,
            self._packages,
            Task(check, first_instance, 1, config.budget.limit),
            pack(Path(folder)) if self._options.code == "shipped" else None,
        )
        self._client.subscribe_topic(self._name, self._note_start)
        while not self._threads:
            self._look()
            if not self._threads:
                time.sleep(0.1)
        reports = probe_workers(self._client)
        for report in reports:
            if report.flaw and not report.is_lost:
                raise ClusterError(
                    f"a worker of {self._cluster.address} cannot execute runs; {report.worker}: "
                    f"{report.flaw}. Install the same version of PolarBear on all machines"
                )
        self._placement.set_workers(
            {report.worker: report.where for report in reports if report.where is not None}
        )
        self._client.register_plugin(JobPlugin(job), name=self._name)

    def _submit(self, task: Task, run: str = "", retries: int = 0) -> None:
        run = run or secrets.token_hex(8)
        try:
            future = self._client.submit(
                execute_task,
                self._name,
                run,
                pickle.dumps(task),
                retries > 0,
                key=f"{self._name}-{secrets.token_hex(8)}",
                pure=False,
                **self._placement.restrictions(task.instance.id),
            )
        except Exception:
            if self._client.status != "closed":
                raise
            self._recover()  # the scheduler was away until Dask closed the connection
            self._submit(task, run, retries)
            return
        self._submitted[future.key] = Submission(run, task, future, time.time(), retries)
        future.add_done_callback(lambda done: self._ended.put(done.key))

    def _finished(self) -> Iterator[Outcome]:
        self._look()
        ended: dict[str, str] = {}  # the status by key
        with suppress(queue.Empty):
            key = self._ended.get(timeout=LOOK_INTERVAL_SECONDS)
            while True:
                if key in self._submitted:
                    ended[key] = str(self._submitted[key].future.status)
                key = self._ended.get_nowait()
        if "cancelled" in ended.values() or self._client.status != "running":
            self._recover()
            return
        finished = {key: self._submitted[key].future for key in ended if ended[key] == "finished"}
        outcome_fields = self._results(finished)
        for key, status in ended.items():
            submission = self._submitted.pop(key)
            fields = outcome_fields.get(key)
            if fields is not None:
                outcome = Outcome(submission.task, **fields)
                self._placement.check(outcome.task.instance.id, outcome.where)
                yield outcome
            elif status == "error":
                yield from self._handle_error(submission)
            else:  # its worker or the scheduler was lost before the result was here
                self._retry(submission)

    def _results(self, finished: Mapping[str, Any]) -> dict[str, Any]:
        """All fields but the task of outcomes, of those that still exist, by the keys of futures.

        If a worker leaves with its results, Dask waits for another one to compute them again, but
        a job queue gets no new worker while this waits. So the others are asked for a second time.
        """
        futures = dict(finished)
        for _ in range(2):
            try:
                return self._gather(futures)
            except TimeoutError:
                futures = {
                    key: future for key, future in futures.items() if future.status == "finished"
                }
            except (OSError, ClusterError):
                break
        return {}

    def _gather(self, futures: Mapping[str, Any]) -> dict[str, Any]:
        async def gathered() -> dict[str, Any]:
            results = self._client.gather(futures, errors="skip", asynchronous=True)
            return dict(await asyncio.wait_for(results, MAX_GATHER_SECONDS))

        fields: dict[str, Any] = self._client.sync(gathered)
        return fields

    def _retry(self, submission: Submission) -> None:
        self._submit(submission.task, submission.run, submission.retries + 1)

    def _handle_error(self, submission: Submission) -> Iterator[Outcome]:
        """Retry, fail the run, or stop, depending on why Dask gave up a run."""
        error = submission.future.exception()
        if isinstance(error, KilledWorker):
            # A run that had not begun when another took its worker down is tried again.
            is_innocent = len(self._starts[submission.run]) < self._options.tries
            if is_innocent and submission.retries < MAX_INNOCENT_RETRIES:
                self._retry(submission)
            else:
                yield self._poisonous(submission)
        elif isinstance(error, UnknownJobError | LeavingError):
            if isinstance(error, UnknownJobError):
                self._set_up_again()
            self._retry(submission)
        elif isinstance(error, UnfitError):
            raise ClusterError(
                f"{error}\nInstall what is missing there, or remove the worker; `code: shipped` "
                "sends the configuration's folder along"
            )
        else:
            raise ClusterError(
                f"a run of {submission.task.algorithm.name} could not be submitted to the cluster: "
                f"{type(error).__name__}: {error}"
            )

    def _poisonous(self, submission: Submission) -> Outcome:
        """The outcome of a run whose worker died in every attempt."""
        starts = self._starts[submission.run]
        last_start = starts[-1] if starts else Where("unknown")
        return Outcome(
            submission.task,
            Status.POISONOUS,
            f"{counted(len(starts), 'worker')} died with it, the last at {last_start.worker} on "
            f"{last_start.host}",
            times=np.empty(0),
            values=np.empty(0),
            started=submission.since,
            where=last_start,
        )

    def _recover(self) -> None:
        """Submit all unfinished runs again after the scheduler was lost."""
        self._set_up_again()
        for key in list(self._submitted):
            submission = self._submitted.pop(key)
            self._submit(submission.task, submission.run, submission.retries)

    def _set_up_again(self) -> None:
        """Set up the cluster after its scheduler was lost, which may happen again while it does."""
        deadline = time.monotonic() + self._options.patience
        while True:
            if self._client.status != "running":
                self._cluster.reconnect()
            self._threads = {}
            self._had_workers = time.monotonic()
            try:
                self._set_up()
            except (OSError, TimeoutError):  # Dask's error of a closed connection is an OSError
                if time.monotonic() > deadline:
                    raise
                time.sleep(RETRY_SECONDS)
            else:
                return

    def _look(self) -> None:
        """Update the list of workers from time to time; raise if there was none for too long."""
        now = time.monotonic()
        if now - self._looked < LOOK_INTERVAL_SECONDS and self._threads:
            return
        self._looked = now
        self._cluster.renew()
        try:
            self._threads = dict(self._client.nthreads())
        except (OSError, TimeoutError, ValueError):  # the status of the client is checked later
            return
        if self._threads:
            self._had_workers = now
            return
        seconds_without = now - self._had_workers
        # Jobs may wait in a queue for hours.
        if seconds_without > self._options.patience and not self._options.job_queue:
            waited = typed_time(self._options.patience, "seconds")
            raise ClusterError(
                f"the scheduler at {self._cluster.address} has had no worker for {waited}; start "
                f"some with `dask worker {self._cluster.address}`. Finished runs are stored; the "
                "same command continues from there"
            )

    def _note_start(self, event: tuple[float, dict[str, str]]) -> None:
        _, start = event
        self._starts[start["run"]].append(Where(start["host"], worker=start["worker"]))
