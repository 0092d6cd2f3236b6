"""The Dask cluster of a configuration (an existing one, a job queue's, or a local one) and its
workers."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass
from importlib.util import find_spec
from multiprocessing import resource_tracker
from typing import Any

from polarbear import __version__
from polarbear.config import Execution, JobQueue
from polarbear.errors import ClusterError, MissingExtraError
from polarbear.execution.host import Where, cores, here
from polarbear.execution.worker_handle import blocked_interrupts
from polarbear.wording import typed_time

try:
    import dask
    import distributed
except ImportError:
    raise MissingExtraError("`engine: dask`", "distributed", "cluster") from None

KilledWorker: type[Exception] = distributed.KilledWorker
MAX_CONNECT_SECONDS = 10.0  # in which a scheduler must answer at first
RENEW_INTERVAL_SECONDS = 15.0  # between requests for jobs in the place of ended ones
DASHBOARD = "127.0.0.1:0"  # for users of this machine, on a free port
LOGGERS = ("distributed", "dask_jobqueue", "tornado.application", "bokeh")
QUEUES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "sge": "SGECluster",
    "lsf": "LSFCluster",
    "htcondor": "HTCondorCluster",
    "oar": "OARCluster",
    "moab": "MoabCluster",
}
_NO_ANSWER = TimeoutError("it does not answer")


class Cluster:
    """A connection to a cluster, and the cluster itself if it was started for this command."""

    def __init__(self, options: Execution) -> None:
        for name in LOGGERS:  # Dask logs every worker that joins or leaves
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._options = options
        self._started: Any = None if options.scheduler else _start_cluster(options)
        self._renewed = time.monotonic()
        self.client = self._connect(MAX_CONNECT_SECONDS)

    @property
    def address(self) -> str:
        return self._options.scheduler or str(self._started.scheduler_address)

    @property
    def has_queue(self) -> bool:
        """Whether workers wait in a job queue, so that having none for hours is normal."""
        return self._options.job_queue is not None

    def reconnect(self) -> None:
        """Connect again to a scheduler that was lost; raise if it does not return in time."""
        self._disconnect()
        self.client = self._connect(self._options.patience)

    def renew(self) -> None:
        """Request new jobs in the place of ended ones, which dask-jobqueue does not do itself."""
        queue = self._options.job_queue
        if queue is not None and time.monotonic() - self._renewed > RENEW_INTERVAL_SECONDS:
            self._renewed = time.monotonic()
            self._started.scale(jobs=queue.jobs)

    def close(self) -> None:
        self._disconnect()
        if self._started is not None:
            self._started.close()

    def _disconnect(self) -> None:
        try:
            self.client.close(timeout=2)
        except Exception as error:  # this connection is not used any more
            logging.getLogger(__name__).debug("closing: %s", error)

    def _connect(self, patience: float) -> Any:
        begun = time.monotonic()
        while True:
            left = max(1.0, patience - (time.monotonic() - begun))
            try:
                return distributed.Client(  # type: ignore[no-untyped-call]
                    self._options.scheduler or self._started,
                    timeout=min(left, MAX_CONNECT_SECONDS),
                    set_as_default=False,
                )
            except ValueError as error:
                raise ClusterError(
                    f"'{self._options.scheduler}' is not the address of a scheduler: {error}"
                ) from None
            except OSError:
                if time.monotonic() - begun >= patience:
                    raise ClusterError(
                        f"no Dask scheduler answers at {self.address} within "
                        f"{typed_time(round(patience, 1), 'seconds')}; start one with "
                        "`dask scheduler`, or correct `execution.scheduler`. Finished runs are "
                        "stored; the same command continues from there"
                    ) from None


def _start_cluster(options: Execution) -> Any:
    dask.config.set({"distributed.scheduler.allowed-failures": options.tries - 1})
    if options.job_queue is not None:
        return _request_jobs(options.job_queue)
    resource_tracker.ensure_running()  # started together with a worker, it would not be blocked
    with blocked_interrupts():  # Ctrl-C is handled by this command, which ends its workers
        return distributed.LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=options.workers or cores(),
            threads_per_worker=1,
            memory_limit=0,  # each run has a limit
            dashboard_address=DASHBOARD,
            silence_logs=logging.CRITICAL,
        )


def _request_jobs(queue: JobQueue) -> Any:
    try:
        import dask_jobqueue
    except ImportError:
        raise MissingExtraError("`job_queue`", "dask-jobqueue", "cluster") from None
    options: dict[str, Any] = {
        "cores": queue.cores,
        "processes": 1,
        "memory": queue.memory,
        "job_extra_directives": queue.job_extra,
        "job_script_prologue": queue.prologue,
        "interface": queue.interface,
        "scheduler_options": {"dashboard_address": DASHBOARD},
        "silence_logs": "critical",
    }
    if queue.name != "htcondor":  # which has neither
        options |= {"queue": queue.queue, "walltime": queue.walltime}
    try:
        cluster = getattr(dask_jobqueue, QUEUES[queue.name])(**options)
        cluster.scale(jobs=queue.jobs)
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no jobs of {queue.name} could be requested: {error}; `polarbear doctor` shows what "
            f"is missing on {os.uname().nodename}"
        ) from None
    return cluster


@dataclass(frozen=True)
class WorkerReport:
    """One worker; ``flaw`` is empty if it can execute runs."""

    worker: str
    threads: int
    where: Where | None
    flaw: str = ""
    is_lost: bool = False  # it did not answer


def probe_scheduler(address: str, patience: float = 10.0) -> list[WorkerReport]:
    """Report on every worker of the scheduler at an address."""
    cluster = Cluster(Execution(engine="dask", scheduler=address, patience=patience))
    try:
        return probe_workers(cluster.client)
    finally:
        cluster.close()


def probe_workers(client: Any) -> list[WorkerReport]:
    """Report on every worker that a Dask client is connected with."""
    threads = dict(client.nthreads())
    # A worker without PolarBear can call only functions of Python itself.
    specs = client.run(find_spec, "polarbear", on_error="return")
    able = [worker for worker, spec in specs.items() if spec is not None]
    answers = client.run(describe_worker, workers=able, on_error="return") if able else {}
    return [
        _report(worker, count, specs.get(worker, _NO_ANSWER), answers.get(worker, _NO_ANSWER))
        for worker, count in sorted(threads.items())
    ]


def describe_worker(dask_worker: Any) -> tuple[Where, str]:
    """The machine of the Dask worker this is called on, and its version of PolarBear."""
    return here(dask_worker.address), __version__


def _report(worker: str, threads: int, spec: Any, answer: Any) -> WorkerReport:
    if spec is None:
        return WorkerReport(worker, threads, None, "PolarBear is not installed there")
    if isinstance(answer, Exception):
        flaw = f"{type(answer).__name__}: {answer}"
        return WorkerReport(worker, threads, None, flaw, is_lost=True)
    where, version = answer
    flaw = "" if version == __version__ else f"it has PolarBear {version}, this is {__version__}"
    return WorkerReport(worker, threads, where, flaw)
