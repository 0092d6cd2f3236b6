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


@pytest.mark.parametrize("key", [{"scheduler": "tcp://h:1"}, {"job_queue": {"name": "slurm"}}])
def test_a_cluster_needs_the_engine_dask(key: dict[str, Any]):
    with pytest.raises(ConfigError, match="needs 'engine: dask'"):
        configured(**key)


def test_a_scheduler_and_a_job_queue_exclude_each_other():
    with pytest.raises(ConfigError, match="choose one"):
        configured(engine="dask", scheduler="tcp://h:1", job_queue={"name": "slurm"})


def test_an_unknown_queueing_system_is_refused_with_those_there_are():
    with pytest.raises(ConfigError, match="job_queue.name: input should be 'slurm', 'pbs'"):
        configured(engine="dask", job_queue={"name": "slrum"})


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


def test_an_unknown_engine_is_refused():
    with pytest.raises(ConfigError, match="engine: input should be 'local' or 'dask'"):
        overridden(configured(), Overrides(engine="dusk"))


def test_mixing_hosts_is_said_once_for_a_cluster_too():
    assert overridden(configured(), Overrides(mix_hosts=True)).execution.processors == "same"
    mixed = overridden(configured(engine="dask"), Overrides(mix_hosts=True))
    assert mixed.execution.processors == "mixed"
