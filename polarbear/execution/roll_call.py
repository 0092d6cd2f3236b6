"""Who answers at a scheduler's address, and whether they could execute runs."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from polarbear import __version__
from polarbear.config import Execution
from polarbear.execution.clusters import Cluster
from polarbear.execution.host import Where


@dataclass(frozen=True)
class Present:
    """One worker; ``flaw`` says what it lacks, and is empty where it lacks nothing."""

    worker: str
    threads: int
    where: Where | None
    flaw: str = ""


def roll_call(address: str, patience: float = 10.0) -> list[Present]:
    """Every worker of a scheduler, as it describes itself."""
    cluster = Cluster(Execution(engine="dask", scheduler=address, patience=patience))
    try:
        threads = dict(cluster.client.nthreads())
        specs = cluster.client.run(find_spec, "polarbear", on_error="return")
        able = [worker for worker in threads if specs.get(worker) is not None]
        told = cluster.client.run(described, workers=able, on_error="return") if able else {}
    finally:
        cluster.close()
    return [_present(worker, count, told.get(worker)) for worker, count in sorted(threads.items())]


def described(dask_worker: Any) -> tuple[Where, str]:
    """The machine of a Dask worker, and its version of PolarBear; called there."""
    from polarbear.execution.host import here

    return here(dask_worker.address), __version__


def _present(worker: str, threads: int, told: Any) -> Present:
    if told is None:
        return Present(worker, threads, None, "PolarBear is not installed there")
    if isinstance(told, Exception):
        return Present(worker, threads, None, f"{type(told).__name__}: {told}")
    where, version = told
    flaw = "" if version == __version__ else f"it has PolarBear {version}, this is {__version__}"
    return Present(worker, threads, where, flaw)
