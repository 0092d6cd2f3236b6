"""Executes runs on a Dask worker, each in a local pool of one process.

A run executed by the Dask worker itself could take it down. In a pool it has the same limits,
journal and cleanup as on one machine. With `code: shipped` the configuration's folder is sent to
the workers as an archive.
"""

import hashlib
import io
import os
import pickle
import tarfile
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from distributed import Worker, WorkerPlugin, get_worker

from polarbear.algorithms.base import Algorithm, Trial
from polarbear.errors import ClusterError
from polarbear.execution.host import MEMORY_SHARE, default_memory, here
from polarbear.execution.outcome import Outcome, RunLimits, Task
from polarbear.execution.pool import Pool
from polarbear.problems.base import Kind, Setting, Suite
from polarbear.settings.enumerations import Isolation
from polarbear.settings.fingerprint import of_packages
from polarbear.wording import joined, size

SEND_SECONDS = 1.0  # in which an event has left a worker
MAX_ARCHIVE_BYTES = 64 * 2**20  # more than code needs, and more than a scheduler should hold
EXCLUDED_NAMES = {"__pycache__", "node_modules"}
EXCLUDING_FILES = ("polarbear.json", "pyvenv.cfg")  # in stores and virtual environments


@dataclass(frozen=True)
class Job:
    """The common part of all runs of one command, sent once to every worker."""

    name: str
    suite: Suite
    setting: Setting
    limits: RunLimits
    threads: int
    isolation: Isolation
    packages: Mapping[str, str]  # with the versions that are stored with runs
    check: Task
    code: bytes | None  # an archive of the configuration's folder, unless machines share it


class UnfitError(ClusterError):
    """A worker lacks something that every run needs."""


class UnknownJobError(ClusterError):
    """A worker has not received a job, for instance after a restart of its scheduler."""


class LeavingError(ClusterError):
    """A worker is shutting down while it executes a run."""


class JobPlugin(WorkerPlugin):
    """The pools of one Dask worker, one for each of its threads."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def setup(self, worker: Worker) -> None:
        self._worker = worker
        self._idle: list[Pool] = []
        self._pools: list[Pool] = []
        self._lock = threading.Lock()
        self._check_lock = threading.Lock()
        self._is_fit = False
        self._is_leaving = False

    def teardown(self, worker: Worker) -> None:
        self._is_leaving = True  # runs that end from now on did not end by themselves
        with self._lock:
            for pool in self._pools:
                pool.__exit__()
            self._pools.clear()
            self._idle.clear()

    def execute(self, task: Task) -> Outcome:
        """Execute a task in a pool; before the first, check that this machine can execute runs."""
        with self._check_lock:
            if not self._is_fit:
                self._check_fitness()
                self._is_fit = True
        return self._execute(task)

    def _check_fitness(self) -> None:
        """Raise if packages differ here, or if problems and algorithms cannot be prepared."""
        flaw = package_differences(self.job.packages)
        if not flaw:
            outcome = self._execute(self.job.check)
            flaw = outcome.message if outcome.status.failed else ""
        if flaw:
            raise UnfitError(f"{self._label}: {flaw}")

    @property
    def _label(self) -> str:
        return f"worker {self._worker.address} on {here().host}"

    def _execute(self, task: Task) -> Outcome:
        with self._lock:
            self._refuse_if_leaving()
            pool = self._idle.pop() if self._idle else self._new_pool()
        try:
            (outcome,) = pool.run([task])
        finally:
            self._refuse_if_leaving()
        with self._lock:
            self._idle.append(pool)
        return outcome

    def _refuse_if_leaving(self) -> None:
        if self._is_leaving:
            raise LeavingError(f"{self._label} is shutting down")

    def _new_pool(self) -> Pool:
        job = self.job
        setting = job.setting
        if job.code is not None:
            folder = unpack(job.code, Path(self._worker.local_directory))
            setting = replace(setting, folder=str(folder))
        limits = replace(job.limits, memory=self._memory_per_run())
        pool = Pool(job.suite, setting, 1, limits, job.threads, self._worker.address, job.isolation)
        self._pools.append(pool.__enter__())
        return pool

    def _memory_per_run(self) -> float:
        """The limit of the job or, without one, a share of the memory of the worker."""
        if self.job.limits.memory is not None:
            return self.job.limits.memory
        worker_memory = self._worker.memory_manager.memory_limit
        threads = self._worker.state.nthreads
        if worker_memory:
            return float(MEMORY_SHARE * worker_memory / threads)
        return default_memory(threads)


def execute_task(job: str, run: str, task: bytes, is_retry: bool = False) -> dict[str, object]:
    """Execute a task on the Dask worker that calls this; return the outcome without its task.

    An event tells the executor that the run begins here. A run that is tried again may have taken
    its worker down before, so it waits until the event has left this worker.
    """
    worker = get_worker()
    plugin = worker.plugins.get(job)
    if not isinstance(plugin, JobPlugin):
        raise UnknownJobError(f"worker {worker.address} has not received the job {job}")
    worker.log_event(job, {"run": run, "worker": worker.address, "host": here().host})
    if is_retry:
        time.sleep(SEND_SECONDS)
    outcome = plugin.execute(pickle.loads(task))
    names = [field.name for field in fields(outcome) if field.name != "task"]
    return {name: getattr(outcome, name) for name in names}


class FitnessCheck(Algorithm):
    """Prepares all algorithms of a configuration after the first problem was built."""

    accepts: ClassVar[frozenset[Kind]] = frozenset(Kind)

    algorithms: tuple[Any, ...] = ()

    @property
    def runs_user_code(self) -> bool:
        return True

    def run(self, trial: Trial, setting: Setting) -> None:
        for algorithm in self.algorithms:
            algorithm.prepare(setting)


def package_differences(packages: Mapping[str, str]) -> str:
    """The packages that are missing here or have other versions, in words; empty if none."""
    installed = of_packages(*packages).packages
    differences = [
        f"{name} is {installed[name]}, not {version}"
        for name, version in packages.items()
        if installed[name] != version
    ]
    return joined(differences)


def pack(folder: Path) -> bytes:
    """Archive a folder without hidden files, caches, stores and virtual environments.

    The bytes depend on names, contents and permissions only, not on times and owners.
    """
    buffer = io.BytesIO()
    total_bytes = 0

    def only_code(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        nonlocal total_bytes
        path = folder / entry.name
        if path != folder and _is_excluded(path):
            return None
        total_bytes += entry.size
        if total_bytes > MAX_ARCHIVE_BYTES:
            raise ClusterError(
                f"{folder} contains more than {size(MAX_ARCHIVE_BYTES)}, too much to be shipped "
                "with `code: shipped`; keep data elsewhere, or use a folder that all machines "
                "share, with `code: shared`"
            )
        entry.mtime = entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mode &= 0o755
        return entry if entry.isfile() or entry.isdir() else None

    with tarfile.open(fileobj=buffer, mode="w", dereference=True) as archive:
        archive.add(folder, arcname=".", filter=only_code)
    return buffer.getvalue()


def _is_excluded(path: Path) -> bool:
    """Whether a file or folder holds no code of the user."""
    if path.name.startswith(".") or path.name in EXCLUDED_NAMES:
        return True
    return any((path / name).exists() for name in EXCLUDING_FILES)


def unpack(archive: bytes, parent: Path) -> Path:
    """Unpack an archive once into a folder below ``parent`` that is named by its hash."""
    folder = parent / f"polarbear-{hashlib.sha256(archive).hexdigest()[:16]}"
    if not folder.exists():
        incomplete = folder.with_name(f"{folder.name}.{os.getpid()}")
        with tarfile.open(fileobj=io.BytesIO(archive)) as files:
            files.extractall(incomplete, filter="data")
        incomplete.rename(folder)
    return folder
