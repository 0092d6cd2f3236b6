"""A race in the jobs of a real Slurm, asked for through dask-jobqueue."""

from __future__ import annotations

from pathlib import Path

import dask
import pytest

from polarbear.driver.watching import Watcher
from polarbear.execution import clusters
from polarbear.execution.outcome import Outcome
from polarbear.store import Store
from tests.cluster.slurm import RealSlurm, missing
from tests.cluster.test_dask import configured, raced

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


@pytest.mark.slow
def test_a_race_in_jobs_of_slurm_outlives_its_jobs_and_ends_with_the_same_rounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    here = raced(configured(tmp_path, None, "descends", "slowly"), tmp_path / "here")
    monkeypatch.setattr(clusters, "RENEW_EVERY", 1.0)
    folder = tmp_path / "slurm"
    folder.mkdir()
    slurm = RealSlurm(folder)
    try:
        for name, value in slurm.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(folder)  # Slurm leaves what jobs print where they were asked for

        class Cancelling(Watcher):
            runs, cancelled = 0, ""

            def finished(self, outcome: Outcome) -> None:
                self.runs += 1
                if self.runs == 3:
                    (self.cancelled,) = slurm.jobs()
                    slurm("scancel", "--full", self.cancelled)

        watcher = Cancelling()
        queue = {"name": "slurm", "queue": "den", "memory": "500MiB", "walltime": "00:30:00"}
        config = configured(
            tmp_path,
            None,
            "descends",
            "slowly",
            execution={"engine": "dask", "job_queue": queue, "workers": None},
        )
        with dask.config.set({"distributed.deploy.lost-worker-timeout": "1s"}):
            assert raced(config, tmp_path / "there", watcher) == here
        assert watcher.cancelled
        assert len(Store.open(tmp_path / "there").runs()["worker"].unique()) == 2
    finally:
        slurm.close()
