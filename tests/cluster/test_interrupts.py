"""Ctrl-C with a cluster: the same message as on one machine, all runs end, nothing is lost."""

import os
import signal
from collections.abc import Callable, Iterator

import psutil
import pytest

from polarbear.store import StoreOnDisk
from tests.cli.test_run import both_hold, contents, held_race
from tests.cluster.processes import RealCluster
from tests.support import Project


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealCluster]:
    with RealCluster(tmp_path_factory.mktemp("dask")) as cluster:
        cluster.start_worker()
        cluster.start_worker()
        yield cluster


@pytest.mark.slow
@pytest.mark.parametrize("theirs", [True, False], ids=["a scheduler of others", "workers here"])
def test_ctrl_c_while_a_cluster_runs_ends_its_runs_and_the_same_command_goes_on(
    project: Project, wait_until: Callable[..., None], request: pytest.FixtureRequest, theirs: bool
):
    on = ["--engine", "dask"]
    if theirs:
        cluster = request.getfixturevalue("cluster")
        cluster.await_workers(2)
        on = ["--scheduler", cluster.address]
    go = held_race(project)
    process = project.start("run", "config.yaml", *on)
    wait_until(both_hold(go))
    held = [int(path.name.rpartition("-")[2]) for path in go.parent.glob(f"{go.name}-*")]
    assert all(map(psutil.pid_exists, held))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    _, errors = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "every finished run is stored, and the same command continues" in errors
    assert len(errors.strip().splitlines()) == 1, "one line, and nothing of Dask's"
    wait_until(lambda: not any(map(_lives, held)))
    kept = project.json("status", "config")["runs"]
    assert 0 < kept < 40
    go.touch()
    answer = project.json("run", "config.yaml", *on)
    assert (answer["executed"], answer["present"]) == (40 - kept, kept)
    workers = StoreOnDisk.open(project.store).runs()["worker"]
    assert workers.str.starts_with("tcp://").all()
    project.json("run", "config.yaml", "--store", "whole")
    assert contents(project.store) == contents(project.folder / "whole")


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
