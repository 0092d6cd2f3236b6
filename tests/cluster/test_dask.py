"""Runs and races on a real Dask cluster, whose workers and scheduler are killed."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from typing import Any

import psutil
import pytest

from polarbear.config.configuration import Config, Overrides, load, parse
from polarbear.driver import collect
from polarbear.driver.loop import Race
from polarbear.driver.race_progress import Watcher
from polarbear.errors import ClusterError
from polarbear.execution import cluster as cluster_room
from polarbear.execution.outcome import Outcome, Status, Task
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk
from tests.cluster.processes import SOLVERS, RealCluster, until
from tests.support import Project

TRIES = 2
ENDS = {
    "descends": Status.BUDGET,
    "kills_itself": Status.KILLED,
    "raises": Status.CRASHED,
    "hangs": Status.TIMEOUT,
    "leaves": Status.KILLED,
    "kills_its_worker": Status.POISONOUS,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealCluster]:
    failures = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(TRIES - 1)}
    with RealCluster(tmp_path_factory.mktemp("dask"), **failures) as cluster:
        cluster.start_worker()
        cluster.start_worker()
        yield cluster


def configured(folder: Path, cluster: RealCluster | None, *names: str, **changes: Any) -> Config:
    """A configuration on textbook problems, with solvers that stand in a file of its folder."""
    (folder / "solvers.py").write_text(SOLVERS)
    on = {} if cluster is None else {"engine": "dask", "scheduler": cluster.address}
    data = {
        "algorithms": [
            {"name": name, "use": "python", "function": f"solvers.py:{name}"} for name in names
        ],
        "instances": {"suite": "classic", "dimensions": {"from": 2, "to": 4}},
        "budget": {"grid": {"from": 5, "to": 100, "points": 5}},
        "race": {"batch": {"start": 4, "min": 4, "max": 4}, "limits": {"rounds": 3}},
        "inference": {"draws": 400},
        **changes,
    }
    data["execution"] = {"workers": 2, "check": False, **on, **data.get("execution", {})}
    return parse(data, Source("test"), str(folder))


def executed(config: Config) -> list[Outcome]:
    """The outcomes of all algorithms on the first instance."""
    instance = config.instances.instance(0, config.setting)
    tasks = [
        Task(algorithm, instance, config.run_seed(algorithm, instance.id), config.budget.limit)
        for algorithm in config.algorithms
    ]
    with collect.pool_of(config) as pool:
        return list(pool.run(tasks))


def raced(config: Config, folder: Path, watcher: Watcher | None = None) -> dict[str, bytes]:
    """Race from wherever the store stands; every file of its rounds."""
    store = StoreOnDisk.create(folder, config.stored())
    with store.writing():
        Race(config, store, [watcher] if watcher else []).run()
    return {path.name: path.read_bytes() for path in sorted((folder / "rounds").iterdir())}


@pytest.mark.slow
def test_a_hostile_run_ends_as_on_one_machine_and_affects_no_other(tmp_path, cluster):
    limits = {"seconds_per_run": 15.0, "tries": TRIES}
    config = configured(tmp_path, cluster, *ENDS, execution=limits)
    outcomes = executed(config)
    assert {o.task.algorithm.name: o.status for o in outcomes} == ENDS
    said = {o.task.algorithm.name: o for o in outcomes}
    deaths, *words = said["kills_its_worker"].message.split()
    assert int(deaths) >= TRIES
    assert words[:5] == ["workers", "died", "with", "it,", "the"]
    assert "exit code -11" in said["kills_itself"].message
    assert len(said["hangs"].values) == 1  # its journal held one value when it was killed
    assert said["descends"].where.worker.startswith("tcp://")
    assert said["descends"].where.host == os.uname().nodename
    assert said["descends"].where.cpu


@pytest.mark.slow
def test_code_that_is_shipped_runs_from_where_its_worker_unpacked_it(tmp_path, cluster):
    config = configured(tmp_path, cluster, "raises", execution={"code": "shipped"})
    (outcome,) = executed(config)
    assert f"made in {cluster.folder}" in outcome.message
    assert str(tmp_path) not in outcome.message


def test_what_a_worker_lacks_is_named_before_the_first_run(tmp_path, cluster, monkeypatch):
    only_here = tmp_path / "only-here"
    only_here.mkdir()
    (only_here / "rare_package.py").write_text("def solve(problem, seed): problem(problem.lower)\n")
    monkeypatch.syspath_prepend(only_here)
    rare = {"name": "rare", "use": "python", "function": "rare_package:solve"}
    config = configured(tmp_path, cluster, algorithms=[rare])
    with pytest.raises(ClusterError, match="worker tcp://.*No module named 'rare_package'"):
        executed(config)


class After(Watcher):
    """Calls a function after three finished runs, and another after each five more."""

    def __init__(self, *happen: Callable[[], object]) -> None:
        self._happen = list(happen)
        self.heard: list[tuple[str, str]] = []

    def finished(self, outcome: Outcome) -> None:
        self.heard.append((outcome.task.algorithm.name, outcome.task.instance.id))
        if self._happen and len(self.heard) % 5 == 3:
            self._happen.pop(0)()


@pytest.mark.slow
def test_a_race_whose_scheduler_is_gone_says_so_and_the_same_call_continues(tmp_path, local_rounds):
    own = tmp_path / "dask"
    own.mkdir()
    with RealCluster(own) as cluster:
        worker = cluster.start_worker()
        cluster.await_workers(1)
        quick = {"patience": 1.0}
        config = configured(tmp_path, cluster, "descends", "slowly", execution=quick)
        watcher = After(lambda: cluster.kill(cluster.scheduler))
        with pytest.raises(ClusterError, match="no Dask scheduler answers at tcp://.*continues"):
            raced(config, tmp_path / "there", watcher)
        assert len(StoreOnDisk.open(tmp_path / "there").runs()) >= 3
        until(lambda: worker.poll() is not None)  # a worker does not outlive its scheduler
        cluster.start_scheduler()
        cluster.start_worker()
        unhurried = configured(tmp_path, cluster, "descends", "slowly")
        assert raced(unhurried, tmp_path / "there") == local_rounds


def test_a_cluster_without_workers_is_one_line(tmp_path: Path):
    with RealCluster(tmp_path) as cluster:
        config = configured(tmp_path, cluster, "descends", execution={"patience": 0.5})
        with pytest.raises(ClusterError, match="has had no worker for 0.5 seconds; start some"):
            executed(config)


def test_doctor_asks_the_workers_of_a_scheduler(tmp_path: Path, cluster: RealCluster):
    cluster.await_workers(2)
    diagnosis = Project(tmp_path).json("doctor", "--scheduler", cluster.address)
    workers = [row for row in diagnosis["needed"] if row["what"].startswith("tcp://")]
    assert len(workers) >= 2
    for worker in workers:
        assert os.uname().nodename in worker["found"]
        assert not worker["remedy"]


def certificate(folder: Path) -> dict[str, str]:
    """Dask's configuration of TLS, by environment variables, with a self-signed certificate."""
    key = folder / "key.pem"
    cert = folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=polarbear", "-keyout", key, "-out", cert],
        check=True, capture_output=True,
    )  # fmt: skip
    tls = {"CA_FILE": cert}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        tls |= {f"{role}__KEY": key, f"{role}__CERT": cert}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(path) for name, path in tls.items()} | {
        "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True"
    }


@pytest.mark.slow
@pytest.mark.skipif(
    which("openssl") is None and not os.environ.get("CI"), reason="openssl makes the certificate"
)
def test_a_race_on_a_cluster_with_tls_needs_its_certificate(tmp_path, monkeypatch):
    """The certificates are set by Dask's own configuration, for all processes alike."""
    tls = certificate(tmp_path)
    dask_folder = tmp_path / "dask"
    dask_folder.mkdir()
    project = Project(tmp_path, alone=True)
    project.configure(race={"limits": {"rounds": 1}})
    with RealCluster(dask_folder, protocol="tls", **tls) as cluster:
        cluster.start_worker()
        assert cluster.address.startswith("tls://")
        refusal = project.refused("doctor", "--scheduler", cluster.address)
        assert "needs a certificate: set distributed.comm.tls" in refusal
        for name, value in tls.items():
            monkeypatch.setenv(name, value)
        race = ["race", "config.yaml", "--engine", "dask"]
        addresses = (cluster.address.replace("tls", "tcp"), cluster.address)
        *refusals, done = project.together(race, *([*race, "--scheduler", at] for at in addresses))
        for refused in refusals:
            assert "has distributed.comm.require-encryption: name a scheduler" in refused.stderr
            assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 1)
        assert done.returncode in (0, 3), done.stderr
    runs = StoreOnDisk.open(project.store).runs()
    assert runs["worker"].str.starts_with("tls://").all()
    assert set(runs["status"]) == {"budget"}


def test_a_scheduler_that_does_not_answer_is_one_line(project, monkeypatch):
    monkeypatch.setattr(cluster_room, "MAX_CONNECT_SECONDS", 1.0)
    refusal = project.refused("doctor", "--scheduler", "tcp://127.0.0.1:1")
    assert "no Dask scheduler answers at tcp://127.0.0.1:1 within" in refusal


@pytest.mark.slow
def test_a_cluster_that_is_started_here_listens_on_this_machine_only(tmp_path: Path):
    project = Project(tmp_path, alone=True)
    project.configure()
    config = load(tmp_path / "config.yaml", Overrides(engine="dask", workers=1))
    before = listening()
    with collect.pool_of(config):
        added = listening() - before
    assert added
    assert {ip for ip, port in added} == {"127.0.0.1"}


def listening() -> set[tuple[str, int]]:
    """Addresses at which this process and its children listen."""
    me = psutil.Process()
    return {
        (connection.laddr.ip, connection.laddr.port)
        for process in (me, *me.children(recursive=True))
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }
