"""Asks the workers of a Dask scheduler where they are and whether they can execute runs."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from polarbear import __version__
from polarbear.config import Execution
from polarbear.execution.cluster import Cluster
from polarbear.execution.host import Where, here

_NO_ANSWER = TimeoutError("it does not answer")


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
