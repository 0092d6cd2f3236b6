"""Where runs are executed, as a configuration and a call say it."""

from __future__ import annotations

from typing import Any

import pytest

from polarbear.config import Config, Overrides, overridden, parse
from polarbear.errors import ConfigError
from polarbear.settings.options import Source


def configured(**execution: Any) -> Config:
    data = {
        "algorithms": [{"name": "A", "use": "random-search"}],
        "instances": {"suite": "classic"},
        "budget": {"grid": [10]},
        "execution": execution,
    }
    return parse(data, Source("test"))


@pytest.mark.parametrize(
    ("execution", "words"),
    [
        ({"scheduler": "tcp://h:1"}, "needs 'engine: dask'"),
        ({"job_queue": {"name": "slurm"}}, "needs 'engine: dask'"),
        ({"engine": "dask", "scheduler": "tcp://h:1", "job_queue": {"name": "slurm"}}, "one"),
        ({"engine": "dask", "job_queue": {"name": "slrum"}}, "input should be 'slurm', 'pbs'"),
        ({"engine": "dusk"}, "engine: input should be 'local' or 'dask'"),
    ],
)
def test_what_excludes_or_needs_each_other_is_refused(execution: dict[str, Any], words: str):
    with pytest.raises(ConfigError, match=words):
        configured(**execution)


def test_an_address_alone_asks_for_dask_and_takes_the_place_of_a_job_queue():
    execution = overridden(
        configured(engine="dask", job_queue={"name": "slurm"}), Overrides(scheduler="tcp://h:1")
    ).execution
    assert (execution.engine, execution.scheduler) == ("dask", "tcp://h:1")
    assert execution.job_queue is None
    assert overridden(configured(), Overrides(scheduler="tcp://h:1")).execution.engine == "dask"


def test_the_engine_local_sets_a_cluster_aside():
    config = configured(engine="dask", scheduler="tcp://h:1")
    assert overridden(config, Overrides(engine="local")).execution.scheduler is None


def test_mixing_hosts_is_said_once_for_a_cluster_too():
    assert overridden(configured(), Overrides(mix_hosts=True)).execution.processors == "same"
    mixed = overridden(configured(engine="dask"), Overrides(mix_hosts=True))
    assert mixed.execution.processors == "mixed"
