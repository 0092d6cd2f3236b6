"""A race whose network is interrupted, whose worker hangs, or whose jobs reach their time limit."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from distributed import Client

from polarbear.driver.progress import Watcher
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


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[RealCluster]:
    folder = tmp_path / "dask"
    folder.mkdir()
    made = RealCluster(folder, DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL=SILENCE)
    try:
        yield made
    finally:
        made.close()


class After(Watcher):
    """Calls a function after a number of finished runs, and keeps their names."""

    def __init__(self, runs: int, happens: Callable[[], None]) -> None:
        self._after, self._happens = runs, happens
        self.heard: list[tuple[str, str]] = []

    def finished(self, outcome: Outcome) -> None:
        self.heard.append((outcome.task.algorithm.name, outcome.task.instance.id))
        if len(self.heard) == self._after:
            self._happens()


def race_is_the_same(
    folder: Path, address: str, here: dict[str, bytes], happens: Callable[[], None]
) -> None:
    """Check that a race has the same rounds, and each run once, if something happens."""
    on = {"engine": "dask", "scheduler": address, "workers": None, "patience": PATIENCE}
    config = configured(folder, None, "descends", "slowly", execution=on)
    watcher = After(3, happens)
    assert raced(config, folder / "there", watcher) == here
    assert len(watcher.heard) == len(set(watcher.heard)) == RUNS
    stored = Store.open(folder / "there")
    assert len(stored.runs()) == len(stored.all_runs()) == RUNS


def workers(address: str) -> set[str]:
    with Client(address, set_as_default=False) as client:
        return set(client.scheduler_info(n_workers=-1)["workers"])


@pytest.mark.slow
def test_a_race_that_is_disconnected_from_its_scheduler_continues_afterwards(
    tmp_path: Path, cluster: RealCluster, here: dict[str, bytes]
):
    cluster.start_worker()
    cluster.await_workers(1)
    network = Network(cluster.address)

    def cut() -> None:
        network.cut()
        until(lambda: network.turned_away)
        network.restore()

    try:
        race_is_the_same(tmp_path, network.address, here, cut)
    finally:
        network.close()


@pytest.mark.slow
def test_other_workers_take_over_the_runs_of_disconnected_ones(
    tmp_path: Path, cluster: RealCluster, here: dict[str, bytes]
):
    network = Network(cluster.address)
    cluster.start_worker(at=network.address)
    cluster.await_workers(1)

    def cut() -> None:
        network.cut()
        until(lambda: not workers(cluster.address))
        cluster.start_worker()

    try:
        race_is_the_same(tmp_path, cluster.address, here, cut)
    finally:
        network.close()


@pytest.mark.slow
def test_a_worker_that_hangs_and_returns_reports_nothing_twice(
    tmp_path: Path, cluster: RealCluster, here: dict[str, bytes]
):
    silent = cluster.start_worker("--no-nanny")  # a nanny would start it again
    cluster.await_workers(1)

    def fall_silent() -> None:
        os.killpg(silent.pid, signal.SIGSTOP)
        until(lambda: not workers(cluster.address))
        cluster.start_worker()
        cluster.await_workers(1)
        os.killpg(silent.pid, signal.SIGCONT)

    race_is_the_same(tmp_path, cluster.address, here, fall_silent)


@pytest.mark.slow
def test_a_scheduler_that_is_started_again_is_given_what_was_under_way(
    tmp_path: Path, cluster: RealCluster, here: dict[str, bytes]
):
    first = cluster.start_worker()
    cluster.await_workers(1)

    def start_again() -> None:
        cluster.kill(cluster.scheduler)
        until(lambda: first.poll() is not None)  # a worker does not outlive its scheduler
        cluster.start_scheduler()
        cluster.start_worker()

    race_is_the_same(tmp_path, cluster.address, here, start_again)


@pytest.mark.slow
def test_workers_at_their_time_limit_are_replaced(
    tmp_path: Path, cluster: RealCluster, here: dict[str, bytes]
):
    """Calls the method that `--lifetime` calls at its end."""
    first = cluster.start_worker()
    cluster.await_workers(1)

    def time_is_over() -> None:
        with Client(cluster.address, set_as_default=False) as client:
            client.run(_end_gracefully)
        until(lambda: first.poll() is not None)
        cluster.start_worker()

    race_is_the_same(tmp_path, cluster.address, here, time_is_over)


def _end_gracefully(dask_worker: Any) -> None:
    dask_worker.loop.add_callback(dask_worker.close_gracefully, reason="worker-lifetime-reached")
