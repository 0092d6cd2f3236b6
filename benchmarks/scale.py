"""The cost of large data: processor time and memory of commands on a store of many runs.

    python benchmarks/scale.py --write benchmarks/results/scale.md
    python benchmarks/scale.py --algorithms 20 --against ../other-version
    python benchmarks/scale.py --growth

A long table of 200 algorithms, 1,000 instances and 50 times (10 million rows) is made, imported,
and read by `status`, `select`, `infer` and `report`. Every command is a process of its own; its
processor time and its peak memory are those that the operating system counts. Ten algorithms take
turns as the best one over time, the others are worse than one of these at each time.

``--against`` gives the same commands to another version on the same file, in turn, and prints
ratios. ``--growth`` varies the number of algorithms, instances and times one by one. Exits with 1
when a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

LEADERS = 10
TIME_LIMIT = 900  # seconds of one command
MEGABYTE = 1e6


@dataclass(frozen=True)
class Size:
    """The size of a table, one row for each algorithm, instance and time."""

    algorithms: int = 200
    instances: int = 1_000
    times: int = 50

    @property
    def rows(self) -> int:
        return self.algorithms * self.instances * self.times

    @property
    def options(self) -> tuple[str, ...]:
        """The options of this script that ask for this size."""
        sizes = (self.algorithms, self.instances, self.times)
        names = ("--algorithms", "--instances", "--times")
        return tuple(text for name, n in zip(names, sizes, strict=True) for text in (name, str(n)))

    @property
    def words(self) -> str:
        return f"{self.algorithms} x {self.instances:,} x {self.times} = {self.rows:,}"


@dataclass(frozen=True)
class Goal:
    """The most processor seconds and gigabytes of a command on the store of full size."""

    seconds: float
    gigabytes: float


@dataclass(frozen=True)
class Cost:
    """The cost of a command: processor seconds, peak memory, and whether it ended well."""

    seconds: float
    gigabytes: float
    succeeded: bool


GOALS = {
    "import": Goal(15, 1.2),
    "status": Goal(1, 1.5),
    "select": Goal(5, 1.5),
    "infer": Goal(15, 1.5),
    "report": Goal(15, 0.8),
}
MAX_PAGE_MEGABYTES = 5.0
GROWTH = (
    *(Size(algorithms, 200, 20) for algorithms in (10, 20, 50, 100, 200)),
    *(Size(20, instances, 20) for instances in (100, 1_000, 5_000)),
    *(Size(20, 500, times) for times in (10, 50, 100)),
)


def write_table(path: Path, size: Size) -> None:
    """A long table in CSV or Parquet; values fall at every time, so that no row is superfluous."""
    rng = np.random.default_rng(1)
    times = np.unique(np.round(np.geomspace(10, 100_000, size.times)))
    progress = np.linspace(0, 1, len(times))
    difficulty = rng.normal(0, 1, size.instances)
    instances = [f"instance-{i:05}" for i in range(size.instances)]
    frames = []
    for algorithm in range(size.algorithms):
        best_at = (algorithm % LEADERS) / (LEADERS - 1)
        handicap = 1.0 * (algorithm // LEADERS) / max(1, size.algorithms // LEADERS)
        mean_fall = 3 * progress + 0.8 * np.exp(-8 * (progress - best_at) ** 2) - handicap
        noise = rng.normal(0, 0.3, (size.instances, 1))
        noise = noise + rng.normal(0, 0.02, (size.instances, len(times))).cumsum(axis=1)
        values = difficulty[:, None] - np.maximum.accumulate(mean_fall + noise, axis=1)
        values -= 1e-4 * np.arange(len(times))
        frames.append(
            pl.DataFrame(
                {
                    "algorithm": np.repeat(f"algorithm-{algorithm:03}", values.size),
                    "instance": np.repeat(instances, len(times)),
                    "t": np.tile(times, size.instances),
                    "y": np.round(values, 8).ravel(),
                }
            )
        )
    table = pl.concat(frames)
    if path.suffix == ".parquet":
        table.write_parquet(path)
    else:
        table.write_csv(path)


def commands(table: Path, store: Path, page: Path) -> dict[str, list[str]]:
    """The commands in the order in which they are given."""
    return {
        "import": ["import", str(table), "--store", str(store), "-q"],
        "status": ["status", str(store)],
        "select": ["select", str(store), "--preference", "uniform"],
        "infer": ["infer", str(store), "-q"],
        "report": ["report", str(store), "--html", str(page), "--force", "-q"],
    }


def cost_of(command: Sequence[str], version: Path | None = None) -> Cost:
    """The cost of a command of PolarBear, by the version in a folder."""
    environment = dict(os.environ)
    if version is not None:
        environment["PYTHONPATH"] = str(version)
    process = subprocess.Popen(
        ["timeout", str(TIME_LIMIT), sys.executable, "-P", "-m", "polarbear", *command],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    succeeded = os.waitstatus_to_exitcode(status) == 0
    if not succeeded:
        print(f"polarbear {command[0]}: {errors.strip()[-300:]}", file=sys.stderr)
    seconds = usage.ru_utime + usage.ru_stime
    return Cost(seconds, usage.ru_maxrss * 1024 / 1e9, succeeded)


@dataclass(frozen=True)
class Costs:
    """The costs of all commands by their names, and the size of the page in megabytes."""

    by_command: dict[str, Cost]
    page_megabytes: float


def measure(size: Size, ending: str, versions: Sequence[Path | None]) -> list[Costs]:
    """The costs of the commands by each version, which take turns on the same table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / f"table.{ending}"
        # In a process of its own: a process that is started counts the memory of its parent.
        arguments = ("--table", str(table), *size.options)
        subprocess.run([sys.executable, __file__, *arguments], check=True)
        costs: list[dict[str, Cost]] = [{} for _ in versions]
        pages = [folder / f"page-{number}.html" for number in range(len(versions))]
        for command in GOALS:
            for number, version in enumerate(versions):
                store = folder / f"store-{number}"
                words = commands(table, store, pages[number])[command]
                costs[number][command] = cost_of(words, version)
                print(f"{size.words} {command}: {costs[number][command]}", file=sys.stderr)
        page_megabytes = [
            page.stat().st_size / MEGABYTE if page.exists() else float("nan") for page in pages
        ]
    return [Costs(of, megabytes) for of, megabytes in zip(costs, page_megabytes, strict=True)]


def goal_table(size: Size, costs: Costs, other: Costs | None) -> list[str]:
    """The costs of the commands, their goals where the size is the full one, and ratios."""
    lines = [
        f"{size.words} rows.",
        "",
        "| command | CPU s | at most | GB | at most | CPU s, GB of the other version | ratios |",
        "|---|---|---|---|---|---|---|",
    ]
    has_goals = size == Size()
    for name, cost in costs.by_command.items():
        goal = GOALS[name]
        seconds_limit = f"{goal.seconds:g}" if has_goals else ""
        gigabytes_limit = f"{goal.gigabytes:g}" if has_goals else ""
        before = ""
        ratios = ""
        if other is not None:
            other_cost = other.by_command[name]
            before = f"{other_cost.seconds:.1f}, {other_cost.gigabytes:.2f}"
            if not other_cost.succeeded:
                before = "refused"
            else:
                ratios = f"{cost.seconds / other_cost.seconds:.2f}, "
                ratios += f"{cost.gigabytes / other_cost.gigabytes:.2f}"
        measured = f"{cost.seconds:.1f}" if cost.succeeded else "refused"
        lines.append(
            f"| {name} | {measured} | {seconds_limit} | {cost.gigabytes:.2f} | "
            f"{gigabytes_limit} | {before} | {ratios} |"
        )
    limit = f", at most {MAX_PAGE_MEGABYTES:g}" if has_goals else ""
    lines += ["", f"The page has {costs.page_megabytes:.1f} MB{limit}."]
    return lines


def growth_table(sizes: Sequence[Size], costs: Sequence[Costs]) -> list[str]:
    """How costs grow with the number of algorithms, instances and times: a row for each size."""
    names = list(GOALS)
    lines = [
        f"| algorithms | instances | times | rows | {' | '.join(names)} | page |",
        f"|---|---|---|---|{'---|' * (len(names) + 1)}",
    ]
    for size, costs_of_size in zip(sizes, costs, strict=True):
        cells = [
            f"{cost.seconds:.1f} s, {cost.gigabytes:.2f} GB" if cost.succeeded else "refused"
            for cost in costs_of_size.by_command.values()
        ]
        lines.append(
            f"| {size.algorithms} | {size.instances:,} | {size.times} | {size.rows:,} | "
            f"{' | '.join(cells)} | {costs_of_size.page_megabytes:.1f} MB |"
        )
    return lines


def meets_goals(costs: Costs) -> bool:
    """Whether every command ended well and within its goals."""
    within = [
        cost.succeeded
        and cost.seconds <= GOALS[name].seconds
        and cost.gigabytes <= GOALS[name].gigabytes
        for name, cost in costs.by_command.items()
    ]
    return all(within) and costs.page_megabytes <= MAX_PAGE_MEGABYTES


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--algorithms", type=int, default=Size.algorithms)
    parser.add_argument("--instances", type=int, default=Size.instances)
    parser.add_argument("--times", type=int, default=Size.times)
    parser.add_argument("--ending", choices=("csv", "parquet"), default="csv")
    parser.add_argument("--against", type=Path, help="the folder of another version")
    parser.add_argument("--growth", action="store_true", help="vary the size of the table")
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--write", type=Path, help="a Markdown file for the result")
    arguments = parser.parse_args()
    size = Size(arguments.algorithms, arguments.instances, arguments.times)
    if arguments.table:
        write_table(arguments.table, size)
        return 0
    versions = [None] if arguments.against is None else [None, arguments.against.resolve()]
    costs = measure(size, arguments.ending, versions)
    lines = goal_table(size, costs[0], costs[1] if len(costs) > 1 else None)
    if arguments.growth:
        costs_by_size = [measure(other, arguments.ending, [None])[0] for other in GROWTH]
        lines += ["", *growth_table(GROWTH, costs_by_size)]
    print(*lines, sep="\n")
    if arguments.write:
        machine = f"{platform.machine()}, {os.cpu_count()} processors"
        title = ["# Large data", "", f"`python benchmarks/scale.py` on {machine}.", ""]
        arguments.write.write_text("\n".join([*title, *lines, ""]))
    return int(size == Size() and not meets_goals(costs[0]))


if __name__ == "__main__":
    sys.exit(main())
