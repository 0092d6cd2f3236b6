"""The Dask cluster of a configuration: an existing one, a job queue's, or a local one.

Reports on its workers, and chooses which of them may execute which runs on the seconds axis.
"""

import logging
import os
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any

from polarbear import __version__
from polarbear.config.execution import Execution, JobQueue, Processors
from polarbear.errors import ClusterError, MissingExtraError
from polarbear.execution.host import Where, here
from polarbear.execution.worker_process import blocked_interrupts
from polarbear.numerics.threads import available_processors
from polarbear.wording import typed_time

try:
    import dask
    import distributed
except ImportError:
    raise MissingExtraError("`engine: dask`", "distributed", "cluster") from None

KilledWorker: type[Exception] = distributed.KilledWorker
MAX_CONNECT_SECONDS = 10.0  # in which a scheduler must answer at first
RENEW_INTERVAL_SECONDS = 15.0  # between requests for jobs in the place of ended ones
TLS_CERTIFICATE = "distributed.comm.tls.client.cert"
REQUIRES_TLS = "distributed.comm.require-encryption"
DASHBOARD = "127.0.0.1:0"  # for users of this machine, on a free port
# The logger of Dask's client, which logs tracebacks of lost schedulers, has a separate level.
LOGGERS = ("distributed", "distributed.client", "dask_jobqueue", "tornado.application", "bokeh")
QUEUES = {"htcondor": "HTCondor", "moab": "Moab"}  # others are spelt in capitals


class Cluster:
    """A connection to a cluster, and the cluster itself if it was started for this command."""

    def __init__(self, options: Execution) -> None:
        for name in LOGGERS:  # Dask also logs every worker that joins or leaves
            logging.getLogger(name).setLevel(logging.CRITICAL)
        is_tls = str(options.scheduler).startswith("tls:")
        if is_tls and not dask.config.get(TLS_CERTIFICATE, None):
            raise ClusterError(
                f"{options.scheduler} needs a certificate: set distributed.comm.tls in Dask's "
                "configuration, or DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT, __KEY and CA_FILE"
            )
        if not is_tls and not options.job_queue and dask.config.get(REQUIRES_TLS, None):
            raise ClusterError(
                f"{options.scheduler or 'a local cluster'} is not encrypted, but Dask's "
                f"configuration has {REQUIRES_TLS}: name a scheduler by its tls:// address, or "
                "change that setting"
            )
        self._options = options
        self._started: Any = None if options.scheduler else _start_cluster(options)
        self._renewed = time.monotonic()
        self.client = self._connect(MAX_CONNECT_SECONDS)

    @property
    def address(self) -> str:
        return self._options.scheduler or str(self._started.scheduler_address)

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
        with suppress(Exception):  # this connection is not used any more
            self.client.close(timeout=2)

    def _connect(self, patience: float) -> Any:
        begun = time.monotonic()
        while True:
            seconds_left = max(1.0, patience - (time.monotonic() - begun))
            try:
                return distributed.Client(  # type: ignore[no-untyped-call]
                    self._options.scheduler or self._started,
                    timeout=min(seconds_left, MAX_CONNECT_SECONDS),
                    set_as_default=False,
                )
            except (ValueError, RuntimeError) as error:
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
    # A scheduler reads this setting when it is started.
    with dask.config.set({"distributed.scheduler.allowed-failures": options.tries - 1}):
        if options.job_queue is not None:
            return _request_jobs(options.job_queue)
        return _start_local_cluster(options)


def _start_local_cluster(options: Execution) -> Any:
    # Started together with a worker, the tracker of resources would receive interrupts.
    resource_tracker.ensure_running()
    with blocked_interrupts():  # Ctrl-C is handled by this command, which ends its workers
        return distributed.LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=options.workers or available_processors(),
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
        name = QUEUES.get(queue.name, queue.name.upper())
        cluster = getattr(dask_jobqueue, f"{name}Cluster")(**options)
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
    answers = client.run(describe_worker, on_error="return")
    no_answer = TimeoutError("it does not answer")
    return [
        _report_of(worker, n_threads, answers.get(worker, no_answer))
        for worker, n_threads in sorted(threads.items())
    ]


def _report_of(worker: str, n_threads: int, answer: Any) -> WorkerReport:
    """The report on a worker from its answer, or from the error that it answered with."""
    if isinstance(answer, Exception):
        is_missing = "No module named 'polarbear'" in str(answer)  # as Dask reports it
        flaw = "PolarBear is not installed there" if is_missing else repr(answer)
        return WorkerReport(worker, n_threads, None, flaw, is_lost=not is_missing)
    where, version = answer
    flaw = ""
    if version != __version__:
        flaw = f"it has PolarBear {version}, this is {__version__}"
    return WorkerReport(worker, n_threads, where, flaw)


def describe_worker(dask_worker: Any) -> tuple[Where, str]:
    """The machine of the Dask worker that calls this, and its version of PolarBear."""
    return here(dask_worker.address), __version__


class Placement:
    """Keeps runs that are compared in seconds on one model of processor.

    Only runs on the same instance are compared. ``timed_on`` has the processor on which each
    instance's stored runs were timed.
    """

    def __init__(self, rule: Processors, timed_on: Mapping[str, str] | None = None) -> None:
        self._rule = rule
        self._timed_on = dict(timed_on or {})
        self._hosts: dict[str, list[str]] = {}  # the workers' network names, by processor
        self._instances: Counter[str] = Counter()  # keys are processors

    def set_workers(self, workers: Mapping[str, Where]) -> None:
        """Set the workers, by address; refuse different processors if they must be the same."""
        self._hosts = {}
        for address, where in sorted(workers.items()):
            network_name = address.rpartition("://")[2].rpartition(":")[0].strip("[]")
            self._hosts.setdefault(where.cpu, []).append(network_name)
            if self._rule == "same":
                self._refuse_other(where)
                self._timed_on.setdefault("", where.cpu)

    def restrictions(self, instance: str) -> dict[str, list[str] | bool]:
        """The arguments of Dask's submit that say where runs on an instance may be executed."""
        if self._rule != "grouped" or not self._hosts:
            return {}
        if instance not in self._timed_on:  # the processor with the fewest instances per worker
            shares = {
                cpu: (self._instances[cpu] + 1) / len(hosts) for cpu, hosts in self._hosts.items()
            }
            chosen = min(shares, key=lambda cpu: (shares[cpu], cpu))
            self._timed_on[instance] = chosen
            self._instances[chosen] += 1
        hosts = self._hosts.get(self._timed_on[instance])
        if hosts is None:
            raise ClusterError(
                f"runs on {instance} were timed on {self._timed_on[instance]}, and no worker has "
                "that processor; start one that has, or choose another folder with --store"
            )
        return {"workers": sorted(set(hosts)), "allow_other_workers": False}

    def check(self, instance: str, where: Where) -> None:
        """Refuse a run that was timed on another processor than those it is compared with."""
        if self._rule == "same":
            self._refuse_other(where)
        elif self._rule == "grouped" and where.cpu and where.cpu != self._timed_on.get(instance):
            raise ClusterError(
                f"a run on {instance} was timed on {where.cpu} ({where.host}), others on "
                f"{self._timed_on.get(instance)}; give machines of different processors "
                "different network names"
            )

    def _refuse_other(self, where: Where) -> None:
        for cpu in self._timed_on.values():
            if where.cpu and cpu != where.cpu:
                raise ClusterError(
                    f"worker {where.worker} on {where.host} has the processor {where.cpu}, but "
                    f"other runs are timed on {cpu}; seconds of different processors are not "
                    "comparable: set `execution.processors` to `grouped`, so that all runs on one "
                    "instance have the same processor, or to `mixed`"
                )
