"""How runs are executed: on this machine or on many, and within which limits."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from polarbear.config.failures import Failures
from polarbear.settings.options import Options

Engine = Literal["local", "dask"]
Queue = Literal["slurm", "pbs", "sge", "lsf", "htcondor", "oar", "moab"]
Processors = Literal["same", "grouped", "mixed"]


class JobQueue(Options):
    """Jobs in which the workers of a cluster are started, as dask-jobqueue asks for them."""

    name: Queue = Field(description="the queueing system of the cluster")
    jobs: int = Field(1, ge=1, le=10_000, description="how many jobs to ask for")
    cores: int = Field(1, ge=1, le=1024, description="cores of a job: so many runs at once in it")
    memory: str = Field("2GiB", description="memory of a job, shared by its runs")
    walltime: str | None = Field(
        None, description="how long a job may last, as the queueing system spells it"
    )
    queue: str | None = Field(None, description="the queue or partition to ask")
    job_extra: list[str] = Field([], description="further directives of the job, one a line")
    prologue: list[str] = Field([], description="commands of the job before its worker starts")
    interface: str | None = Field(None, description="the network interface to use, such as 'ib0'")


class Execution(Options):
    """How runs are executed, and what becomes of those that fail; no trajectory on the evaluation
    axis depends on it."""

    engine: Engine = Field(
        "local", description="'local' processes, or 'dask' for workers on any number of machines"
    )
    scheduler: str | None = Field(
        None, description="with dask: the address of a scheduler that is there, tcp://HOST:PORT"
    )
    job_queue: JobQueue | None = Field(
        None,
        description="with dask: a cluster's queue that starts the workers: name, jobs, cores, "
        "memory, walltime, queue, job_extra, prologue, interface; without it and without a "
        "scheduler, workers are started on this machine",
    )
    code: Literal["shared", "shipped"] = Field(
        "shared",
        description="with dask: the configuration's folder is 'shared' by all machines, or "
        "'shipped' to them",
    )
    processors: Processors = Field(
        "same",
        description="with dask, on the seconds axis: all runs need the 'same' processor, or only "
        "those on one instance ('grouped'), or none ('mixed')",
    )
    tries: int = Field(
        4,
        ge=1,
        le=100,
        description="with dask: a run under which so many workers have died is recorded as "
        "poisonous",
    )
    patience: float = Field(
        120.0,
        gt=0,
        description="with dask: so many seconds a scheduler may be silent, or without any worker, "
        "before a race stops",
    )
    workers: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="processes that run at once; by default one a core, or with dask as many as "
        "there are",
    )
    threads: int = Field(
        1, ge=1, le=1024, description="threads that numerical libraries may use inside one run"
    )
    seconds_per_run: float | None = Field(
        None,
        gt=0,
        description="a run is killed after so many seconds: by default a day, or, on the seconds "
        "axis, twice the budget and a minute",
    )
    memory_mib: int | None = Field(
        None,
        ge=1,
        description="a run is killed above so much memory: by default 80 % of the machine's, "
        "shared among the workers",
    )
    check: bool = Field(
        True, description="try everything out for a second or two at the head of a first race"
    )
    early: int = Field(
        4,
        ge=0,
        le=1024,
        description="while workers would have nothing to do, begin runs that the next round of a "
        "race is likely to ask for: a batch of them, or so many for each worker, or of brief ones "
        "as many as take as long as four decisions; 0 begins none. No decision depends on it",
    )
    fill_workers: bool = Field(
        False,
        description="let a round of a race draw as many instances as keep all workers busy; "
        "decisions then depend on the number of workers",
    )
    failures: Failures = Field(
        Failures(), description="what a failed run means, and how many are tolerated"
    )

    @model_validator(mode="after")
    def _one_cluster(self) -> Execution:
        if self.scheduler and self.job_queue:
            raise ValueError(
                "'scheduler' names a cluster that is there, 'job_queue' starts one: choose one"
            )
        for key in ("scheduler", "job_queue"):
            if getattr(self, key) and self.engine != "dask":
                raise ValueError(f"'{key}' needs 'engine: dask'")
        return self
