"""Options of execution: engine, cluster, workers, limits, and the meaning of failed runs."""

from typing import Literal, Self

from pydantic import Field, model_validator

from polarbear.settings.enumerations import ExecutionEngine, Isolation
from polarbear.settings.options import Options
from polarbear.wording import counted, noun

Queue = Literal["slurm", "pbs", "sge", "lsf", "htcondor", "oar", "moab"]
Processors = Literal["same", "grouped", "mixed"]
Meaning = Literal["keeps", "last", "absent", "ends"]
KEEPS: Meaning = "keeps"


class JobQueue(Options):
    """Jobs in which dask-jobqueue starts the workers of a cluster."""

    name: Queue = Field(description="the queueing system of the cluster")
    jobs: int = Field(1, ge=1, le=10_000, description="number of jobs to request")
    cores: int = Field(
        1, ge=1, le=1024, description="cores of a job, each of which executes one run"
    )
    memory: str = Field("2GiB", description="memory of a job, shared by its runs")
    walltime: str | None = Field(
        None, description="time limit of a job, in the format of the queueing system"
    )
    queue: str | None = Field(None, description="queue or partition")
    job_extra: list[str] = Field([], description="further directives of the job, one per line")
    prologue: list[str] = Field([], description="commands of the job before its worker starts")
    interface: str | None = Field(None, description="the network interface to use, such as 'ib0'")


class Failures(Options):
    """How a failed run is ranked, and the share of failed runs that ends a race."""

    means: Meaning = Field(
        KEEPS,
        description="after its failure, a run 'keeps' the best it had found, is 'last', or "
        "is 'absent' from rankings; or it 'ends' the race",
    )
    tolerated: float = Field(
        0.2,
        ge=0,
        le=1,
        description="a race ends with an error when more than this share of an algorithm's runs "
        "has failed",
    )

    @property
    def ranks(self) -> Meaning:
        """How a failed run is ranked; outside of a race, 'ends' means the default."""
        return KEEPS if self.means == "ends" else self.means


class Execution(Options):
    """How runs are executed, and what a failed run means.

    No trajectory on the evaluation axis depends on it.
    """

    engine: ExecutionEngine = Field(
        ExecutionEngine.LOCAL,
        description="'local' processes, or 'dask' for workers on any number of machines",
    )
    scheduler: str | None = Field(
        None, description="with dask: the address of a running scheduler, tcp://HOST:PORT"
    )
    job_queue: JobQueue | None = Field(
        None,
        description="with dask: the job queue that starts the workers: name, jobs, cores, "
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
        description="with dask: a run is recorded as poisonous after this number of workers died "
        "with it",
    )
    patience: float = Field(
        120.0,
        gt=0,
        description="with dask: seconds without an answer of the scheduler, or without any worker, "
        "after which a race stops",
    )
    workers: int | None = Field(
        None,
        ge=1,
        le=1024,
        description="number of processes; by default one per core, or with dask all workers of "
        "the cluster",
    )
    threads: int = Field(
        1, ge=1, le=1024, description="threads that numerical libraries may use in one run"
    )
    seconds_per_run: float | None = Field(
        None,
        gt=0,
        description="seconds after which a run is killed: by default a day or, on the seconds "
        "axis, twice the budget and a minute; on the axis cpu-seconds ten times the budget and a "
        "minute",
    )
    memory_mib: int | None = Field(
        None,
        ge=1,
        description="memory above which a run is killed: by default 80 % of the machine's, "
        "shared among the workers",
    )
    isolation: Isolation = Field(
        Isolation.ALGORITHM,
        description="a process that has executed code of the user, of an algorithm or a problem, "
        "serves no other 'algorithm', or no other 'run'",
    )
    check: bool = Field(
        True, description="try all algorithms for a second or two before the first race"
    )
    early: int = Field(
        4,
        ge=0,
        le=1024,
        description="speculative runs per worker, at least: idle workers begin "
        "runs that the next round of a race is likely to need; 0 for none. No decision depends on "
        "it",
    )
    fill_workers: bool = Field(
        False,
        description="let each round of a race draw enough instances for all workers; decisions "
        "then depend on the number of workers",
    )
    failures: Failures = Field(
        Failures(), description="what a failed run means, and how many are tolerated"
    )

    @model_validator(mode="after")
    def _one_cluster(self) -> Self:
        if self.scheduler and self.job_queue:
            raise ValueError(
                "'scheduler' names a running cluster, 'job_queue' starts one: choose one"
            )
        for key in ("scheduler", "job_queue"):
            if getattr(self, key) and self.engine != "dask":
                raise ValueError(f"'{key}' needs 'engine: dask'")
        return self


def failed_words(runs: int, ranks: str) -> str:
    """A sentence on failed runs and their ranking."""
    if ranks == "last":
        meaning = f"{noun(runs, 'is', 'are')} last from there on"
    elif ranks == "absent":
        meaning = f"{noun(runs, 'is', 'are')} left out of rankings from there on"
    else:
        meaning = f"kept the best {noun(runs, 'it', 'they')} had found"
    return f"{counted(runs, 'run')} failed and {meaning}"
