"""A race in the jobs of a real Slurm, asked for through dask-jobqueue."""

import threading
from collections.abc import Iterator
from pathlib import Path

import dask
import pytest

from polarbear.driver.race_progress import Watcher
from polarbear.execution import cluster
from polarbear.execution.outcome import Outcome
from polarbear.store import StoreOnDisk
from tests.cluster.processes import until
from tests.cluster.slurm import RealSlurm
from tests.cluster.test_dask import configured, raced

pytestmark = [pytest.mark.slurm, pytest.mark.peer]
QUEUE = {"name": "slurm", "queue": "den", "memory": "500MiB", "walltime": "00:30:00"}


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RealSlurm]:
    """Jobs that have ended are looked for every second."""
    folder = tmp_path / "slurm"
    folder.mkdir()
    slurm = RealSlurm(folder)
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(folder)  # Slurm leaves what jobs print where they were asked for
    monkeypatch.setattr(cluster, "RENEW_INTERVAL_SECONDS", 1.0)
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"}):
        yield slurm
    slurm.close()


@pytest.mark.slow
def test_a_race_outlives_jobs_of_slurm_that_end_under_it_and_has_the_same_rounds(tmp_path, slurm):
    """Runs wait for the first job to be gone, so that they are under way when it ends."""
    sign = tmp_path / "gone"
    sign.touch()
    descends = {"name": "descends", "use": "python", "function": "solvers.py:descends"}
    waits = {"name": "waits", "use": "python", "function": "solvers.py:waits"}
    algorithms = [descends, {**waits, "options": {"sign": str(sign)}}]
    local_rounds = raced(configured(tmp_path, None, algorithms=algorithms), tmp_path / "here")
    sign.unlink()

    def until_it_is_gone(job: str) -> None:
        until(lambda: job not in slurm.jobs())
        sign.touch()

    class Ending(Watcher):
        job = ""

        def finished(self, outcome: Outcome) -> None:
            if not self.job:
                (self.job,) = slurm.jobs()
                slurm("scancel", "--full", self.job)
                threading.Thread(target=until_it_is_gone, args=[self.job], daemon=True).start()

    watcher = Ending()
    on = {"engine": "dask", "job_queue": QUEUE, "workers": None}
    config = configured(tmp_path, None, algorithms=algorithms, execution=on)
    assert raced(config, tmp_path / "there", watcher) == local_rounds
    assert "JobState=CANCELLED" in slurm("scontrol", "show", "job", watcher.job)
    assert len(StoreOnDisk.open(tmp_path / "there").runs()["worker"].unique()) == 2
