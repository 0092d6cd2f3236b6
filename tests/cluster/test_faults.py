"""A race whose network is interrupted, whose worker hangs, or whose jobs reach their time limit."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from polarbear.driver.race_progress import Watcher
from polarbear.execution.outcome import Outcome
from polarbear.store import Store
from tests.cluster.processes import PATIENCE, RealCluster, until
from tests.cluster.proxy import Network
from tests.cluster.test_dask import configured, raced

SILENCE = "5s"  # after which a scheduler regards a worker as dead
RUNS = 24  # of the race below, each of which is reported once


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The rounds of the same race on this machine."""
    folder = tmp_path_factory.mktemp("local")
    return raced(configured(folder, None, "descends", "slowly"), folder / "here")


class After(Watcher):
    """Calls a function after three finished runs, and keeps the names of all."""

    def __init__(self, happens: Callable[[], None]) -> None:
        self._happens = happens
        self.heard: list[tuple[str, str]] = []

    def finished(self, outcome: Outcome) -> None:
        self.heard.append((outcome.task.algorithm.name, outcome.task.instance.id))
        if len(self.heard) == 3:
            self._happens()


def workers(address: str) -> set[str]:
    with Client(address, set_as_default=False) as client:
        return set(client.scheduler_info(n_workers=-1)["workers"])


@dataclass
class Fault:
    """Something that happens to a cluster with one worker, which then gets another one."""

    cluster: RealCluster
    network: Network
    worker: subprocess.Popen[bytes]

    def race_is_disconnected(self) -> None:
        self.network.cut()
        until(lambda: self.network.turned_away)
        self.network.restore()

    def worker_is_disconnected(self) -> None:
        self.network.cut()
        until(lambda: not workers(self.cluster.address))
        self.cluster.start_worker()

    def worker_hangs_and_returns(self) -> None:
        os.killpg(self.worker.pid, signal.SIGSTOP)
        until(lambda: not workers(self.cluster.address))
        self.cluster.start_worker()
        self.cluster.await_workers(1)
        os.killpg(self.worker.pid, signal.SIGCONT)

    def scheduler_is_started_again(self) -> None:
        self.cluster.kill(self.cluster.scheduler)
        until(lambda: self.worker.poll() is not None)  # a worker does not outlive its scheduler
        self.cluster.start_scheduler()
        self.cluster.start_worker()

    def worker_reaches_its_time_limit(self) -> None:
        """Calls the method that `--lifetime` calls at its end."""
        with Client(self.cluster.address, set_as_default=False) as client:
            client.run(_end_gracefully)
        until(lambda: self.worker.poll() is not None)
        self.cluster.start_worker()


def _end_gracefully(dask_worker: Any) -> None:
    dask_worker.loop.add_callback(dask_worker.close_gracefully, reason="worker-lifetime-reached")


FAULTS = [name for name in vars(Fault) if not name.startswith("_")]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_race_has_the_same_rounds_and_each_run_once_although(
    fault: str, tmp_path: Path, here: dict[str, bytes]
):
    folder = tmp_path / "dask"
    folder.mkdir()
    silence = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": SILENCE}
    with RealCluster(folder, **silence) as cluster, Network(cluster.address) as network:
        options = ["--no-nanny"] if "hangs" in fault else []  # a nanny would start it again
        at = network.address if fault == "worker_is_disconnected" else ""
        happening = Fault(cluster, network, cluster.start_worker(*options, at=at))
        cluster.await_workers(1)
        address = network.address if fault == "race_is_disconnected" else cluster.address
        on = {"engine": "dask", "scheduler": address, "workers": None, "patience": PATIENCE}
        config = configured(tmp_path, None, "descends", "slowly", execution=on)
        watcher = After(getattr(happening, fault))
        assert raced(config, tmp_path / "there", watcher) == here
    assert len(watcher.heard) == len(set(watcher.heard)) == RUNS
    stored = Store.open(tmp_path / "there")
    assert len(stored.runs()) == len(stored.all_runs()) == RUNS
