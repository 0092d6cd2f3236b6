"""A race whose network is interrupted, whose worker hangs, or whose jobs reach their time limit."""

import os
import signal
import subprocess
from dataclasses import dataclass
from typing import Any

import pytest
from distributed import Client
from distributed.comm import CommClosedError

from polarbear.execution import dask
from polarbear.execution.cluster import WorkerReport
from polarbear.store import StoreOnDisk
from tests.cluster.processes import PATIENCE, RealCluster, until
from tests.cluster.proxy import Network
from tests.cluster.test_dask import After, configured, raced

SILENCE = "5s"  # after which a scheduler regards a worker as dead
RUNS = 24  # runs of the race below, each reported once


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

    def worker_is_killed(self) -> None:
        self.cluster.kill(self.worker)
        self.worker = self.cluster.start_worker()

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
        self.worker = self.cluster.start_worker()

    def worker_reaches_its_time_limit(self) -> None:
        """Calls the method that `--lifetime` calls at its end."""
        with Client(self.cluster.address, set_as_default=False) as client:
            client.run(_end_gracefully)
        until(lambda: self.worker.poll() is not None)
        self.cluster.start_worker()


def _end_gracefully(dask_worker: Any) -> None:
    dask_worker.loop.add_callback(dask_worker.close_gracefully, reason="worker-lifetime-reached")


FAULTS = [
    "worker_is_killed, scheduler_is_started_again, worker_reaches_its_time_limit",
    *("race_is_disconnected", "worker_is_disconnected", "worker_hangs_and_returns"),
]


@pytest.mark.slow
@pytest.mark.parametrize("faults", FAULTS)
def test_a_race_has_the_same_rounds_and_each_run_once_although(
    faults, tmp_path, local_rounds, capfd
):
    folder = tmp_path / "dask"
    folder.mkdir()
    silence = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": SILENCE}
    with RealCluster(folder, **silence) as cluster, Network(cluster.address) as network:
        options = ["--no-nanny"] if "hangs" in faults else []  # a nanny would start it again
        at = network.address if faults == "worker_is_disconnected" else ""
        happening = Fault(cluster, network, cluster.start_worker(*options, at=at))
        cluster.await_workers(1)
        address = network.address if faults == "race_is_disconnected" else cluster.address
        on = {"engine": "dask", "scheduler": address, "workers": None, "patience": PATIENCE}
        config = configured(tmp_path, None, "descends", "slowly", execution=on)
        watcher = After(*(getattr(happening, fault) for fault in faults.split(", ")))
        assert raced(config, tmp_path / "there", watcher) == local_rounds
    assert "Traceback" not in capfd.readouterr().err
    assert len(watcher.heard) == len(set(watcher.heard)) == RUNS
    stored = StoreOnDisk.open(tmp_path / "there")
    assert len(stored.runs()) == len(stored.all_runs()) == RUNS
    assert stored.runs()["worker"].str.starts_with("tcp://").all()


@pytest.mark.slow
def test_results_that_left_with_their_worker_are_computed_by_the_next_one(
    tmp_path, local_rounds, monkeypatch
):
    """The next worker starts when the race looks after its workers, as it does with a job queue."""
    folder = tmp_path / "dask"
    folder.mkdir()
    monkeypatch.setattr(dask, "MAX_GATHER_SECONDS", 2.0)
    results = dask.DaskExecutor._results
    renew = dask.Cluster.renew
    next_workers = []
    with RealCluster(folder) as cluster:
        worker = cluster.start_worker()
        cluster.await_workers(1)

        def results_after_a_loss(executor: Any, finished: Any) -> Any:
            if finished and worker.poll() is None:
                cluster.kill(worker)
                until(lambda: not workers(cluster.address))
            return results(executor, finished)

        def start_the_next(cluster_of_race: Any) -> None:
            renew(cluster_of_race)
            if worker.poll() is not None and not next_workers:
                next_workers.append(cluster.start_worker())

        monkeypatch.setattr(dask.DaskExecutor, "_results", results_after_a_loss)
        monkeypatch.setattr(dask.Cluster, "renew", start_the_next)
        on = {"engine": "dask", "scheduler": cluster.address, "workers": None, "patience": PATIENCE}
        config = configured(tmp_path, None, "descends", "slowly", execution=on)
        assert raced(config, tmp_path / "there") == local_rounds
    assert next_workers


@pytest.mark.slow
def test_a_scheduler_may_be_lost_again_while_a_race_reconnects(
    tmp_path, local_rounds, monkeypatch, capfd
):
    calls = []
    probe_workers = dask.probe_workers

    def lost_the_second_time(client: Any) -> list[WorkerReport]:
        calls.append(client)
        if len(calls) == 2:
            raise CommClosedError("the stream is closed")
        return probe_workers(client)

    monkeypatch.setattr(dask, "probe_workers", lost_the_second_time)
    folder = tmp_path / "dask"
    folder.mkdir()
    with RealCluster(folder) as cluster, Network(cluster.address) as network:
        fault = Fault(cluster, network, cluster.start_worker())
        cluster.await_workers(1)
        on = {"engine": "dask", "scheduler": cluster.address, "patience": PATIENCE}
        config = configured(tmp_path, None, "descends", "slowly", execution=on)
        watcher = After(fault.scheduler_is_started_again)
        assert raced(config, tmp_path / "there", watcher) == local_rounds
    assert len(calls) >= 3
    assert "Traceback" not in capfd.readouterr().err
