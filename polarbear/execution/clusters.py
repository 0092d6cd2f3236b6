"""The Dask cluster that a configuration names: one that is there, a job queue's, or one here."""

from __future__ import annotations

import logging
import os
import time
from multiprocessing import resource_tracker
from typing import Any

from polarbear.config import Execution, JobQueue
from polarbear.errors import ClusterError, MissingExtraError
from polarbear.execution import host
from polarbear.execution.starting import uninterrupted
from polarbear.wording import typed_time

CONNECTING = 10.0  # seconds in which a scheduler has to answer at first
RENEW_EVERY = 15.0  # seconds between looks for jobs that have ended
QUEUES = {
    "slurm": "SLURMCluster",
    "pbs": "PBSCluster",
    "sge": "SGECluster",
    "lsf": "LSFCluster",
    "htcondor": "HTCondorCluster",
    "oar": "OARCluster",
    "moab": "MoabCluster",
}


def require_dask() -> Any:
    """The package that knows Dask's clusters, or word of which extra brings it."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("`engine: dask`", "distributed", "cluster") from None
    return distributed


class Cluster:
    """A connection to a cluster, and the cluster itself where it was started for this call."""

    def __init__(self, options: Execution) -> None:
        self._options = options
        self._dask = require_dask()
        self._quiet()
        self._own = self._started()
        self._renewed = time.monotonic()
        self.client = self._connected(CONNECTING)

    @property
    def address(self) -> str:
        return self._options.scheduler or str(self._own.scheduler_address)

    @property
    def waits_for_ever(self) -> bool:
        """Whether workers come when a queue lets them, so that none for hours is no fault."""
        return self._options.job_queue is not None

    def reconnect(self) -> None:
        """Connect anew to a scheduler that was lost, if it is there again in time."""
        self._let_go()
        self.client = self._connected(self._options.patience)

    def renew(self) -> None:
        """Ask for new jobs in the place of those that have ended, now and then.

        Neither `scale` nor `adapt` of dask-jobqueue does that by itself.
        """
        queue = self._options.job_queue
        if queue is not None and time.monotonic() - self._renewed > RENEW_EVERY:
            self._renewed = time.monotonic()
            self._own.scale(jobs=queue.jobs)

    def close(self) -> None:
        self._let_go()
        if self._own is not None:
            self._own.close()

    def _let_go(self) -> None:
        try:
            self.client.close(timeout=2)
        except Exception as error:  # whatever it was, nobody needs this connection any more
            logging.getLogger(__name__).debug("closing: %s", error)

    def _connected(self, patience: float) -> Any:
        begun = time.monotonic()
        while True:
            left = max(1.0, patience - (time.monotonic() - begun))
            try:
                return self._dask.Client(
                    self._options.scheduler or self._own,
                    timeout=min(left, CONNECTING),
                    set_as_default=False,
                )
            except (OSError, ValueError) as error:
                if isinstance(error, ValueError) or time.monotonic() - begun >= patience:
                    raise ClusterError(self._silence(error, patience)) from None

    def _silence(self, error: Exception, patience: float) -> str:
        if isinstance(error, ValueError):
            return f"'{self._options.scheduler}' is not the address of a scheduler: {error}"
        return (
            f"no Dask scheduler answers at {self.address} within "
            f"{typed_time(round(patience, 1), 'seconds')}; start one with `dask scheduler`, or "
            "correct `execution.scheduler`. What is finished is stored, and the same command goes "
            "on from there"
        )

    def _started(self) -> Any:
        """The cluster that this call has for itself; None where one is named."""
        if self._options.scheduler is not None:
            return None
        settings = {"distributed.scheduler.allowed-failures": self._options.tries - 1}
        import dask

        dask.config.set(settings)
        if self._options.job_queue is not None:
            return _jobs(self._options.job_queue)
        resource_tracker.ensure_running()  # started later, it would unblock interrupts
        with uninterrupted():  # Ctrl-C is for the command, which ends its workers
            return self._dask.LocalCluster(
                n_workers=self._options.workers or host.cores(),
                threads_per_worker=1,
                memory_limit=0,  # runs have limits of their own
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            )

    def _quiet(self) -> None:
        """What Dask logs about workers that come and go is not for the screen."""
        for name in ("distributed", "dask_jobqueue", "tornado.application", "bokeh"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _jobs(queue: JobQueue) -> Any:
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
        "scheduler_options": {"dashboard_address": ":0"},
        "silence_logs": "critical",
    }
    if queue.name != "htcondor":  # it has neither
        options |= {"queue": queue.queue, "walltime": queue.walltime}
    try:
        cluster = getattr(dask_jobqueue, QUEUES[queue.name])(**options)
        cluster.scale(jobs=queue.jobs)
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no jobs of {queue.name} could be asked for: {error}; `polarbear doctor` says what "
            f"is missing on {os.uname().nodename}"
        ) from None
    return cluster
