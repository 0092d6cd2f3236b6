"""Scaling of a race: the real race on 1 to 10,000 simulated workers.

    python benchmarks/scaling.py [--lengths STORE] [--figure FILE]

It first measures the coordinator's processor time for a run and for a round on this machine. Then
`simulated.py` races with these costs: without speculative runs, with them, and with rounds that
fill all workers. Runs take 10 s on average, in the proportions that stored runs had
(run-lengths.json, or those of a store), with a heavy tail, crashes and lost workers. It prints a
table, draws the figure of docs/explanation/scaling.md, and exits with 1 when 1,000 workers are busy
for less than 90 % of the time.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
from simulated import Costs, DecisionCache, Simulated, Workload, configured, simulate
from targets import Row, report

from polarbear.driver.loop import Race
from polarbear.execution.executor_choice import use_executor
from polarbear.execution.outcome import Outcome, Task
from polarbear.execution.run import Problems, execute
from polarbear.store import StoreOnDisk

HERE = Path(__file__).parent
LENGTHS = HERE / "results" / "run-lengths.json"
FIGURE = HERE.parent / "docs" / "explanation" / "scaling.svg"
WORKERS = (1, 10, 100, 1000, 10_000)
MODES = {
    "no speculative runs": {"early": 0, "fill": False},
    "speculative runs": {"early": 4, "fill": False},
    "speculative runs, filled rounds": {"early": 16, "fill": True},
}
INSTANCES = 200  # of the race that is run on each number of workers
LONG_RACE = {"epsilon": 0.005, "limits": {"rounds": 12}}  # long enough for 1,000 workers
N_GOAL_WORKERS = 1000
MIN_BUSY = 0.9  # share of the time of that number of workers
N_SHORT_WORKERS = 100
SHORT_RUN_INSTANCES = 500  # of the race with short runs


def lengths_of(store: Path) -> list[float]:
    """Quantiles of the lengths of stored runs, each relative to its algorithm's mean."""
    runs = StoreOnDisk.open(store).runs().filter(pl.col("seconds") > 0)
    speed = pl.col("seconds") / pl.col("budget")
    relative = runs.select((speed / speed.mean().over("algorithm")).alias("length"))["length"]
    quantiles = np.quantile(relative.to_numpy(), np.linspace(0.005, 0.995, 100))
    return [round(float(length), 4) for length in quantiles / quantiles.mean()]


class InstantPool:
    """A pool that executes runs when their outcomes are requested.

    Tasks and outcomes are pickled, as for worker processes; ``seconds`` are those of the runs.
    """

    size = 1

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self.seconds = 0.0

    def __enter__(self) -> InstantPool:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def wake(self) -> None:
        pass

    def run(
        self, tasks: Iterable[Task | None], over: Callable[[], bool] = lambda: False
    ) -> Iterator[Outcome]:
        for task in tasks:
            if task is None or over():
                return
            start = process_time()
            message = pickle.dumps(execute(task, self._problems))
            self.seconds += process_time() - start
            pickle.dumps(task)
            yield pickle.loads(message)


def measure_costs() -> Costs:
    """The coordinator's seconds of processor time on this machine, measured in a race."""
    config = configured(early=0, fill=False, instances=200)
    decisions: list[tuple[int, float]] = []  # number of runs, seconds
    decide = Race._decided

    def timed_decision(self: Race, *arguments: Any) -> Any:
        start = process_time()
        decided_round = decide(self, *arguments)
        decisions.append((len(self._runs.stored), process_time() - start))
        return decided_round

    execution_seconds = 0.0
    execute_round = Race._execute

    def timed_execution(self: Race, *arguments: Any) -> None:
        nonlocal execution_seconds
        start = process_time()
        execute_round(self, *arguments)
        execution_seconds += process_time() - start

    pool = InstantPool(Problems(config.instances, config.setting))
    with tempfile.TemporaryDirectory() as folder:
        store = StoreOnDisk.create(Path(folder) / "store", config.stored())
        with (
            store.writing(),
            use_executor(lambda config: pool),
            mock.patch.object(Race, "_decided", timed_decision),
            mock.patch.object(Race, "_execute", timed_execution),
        ):
            race = Race(config, store)
            start = process_time()
            race.run()
            total_seconds = process_time() - start
    decision_seconds = sum(seconds for _, seconds in decisions)
    other_seconds = total_seconds - execution_seconds - decision_seconds
    first_runs, first_seconds = decisions[1]  # decisions[0] includes compilation
    last_runs, last_seconds = decisions[-1]
    slope = max(0.0, (last_seconds - first_seconds) / (last_runs - first_runs))
    return Costs(
        per_run=(execution_seconds - pool.seconds) / len(race._runs.stored),
        per_round=other_seconds / race.state.round,
        decision=max(0.0, first_seconds - slope * first_runs),
        decision_per_run=slope,
    )


def simulate_all(
    work: Workload, costs: Costs, worker_counts: Sequence[int]
) -> dict[str, list[Simulated]]:
    """The races of each mode, one for each number of workers."""
    cache = DecisionCache()
    races: dict[str, list[Simulated]] = {mode: [] for mode in MODES}
    with tempfile.TemporaryDirectory() as folder:
        for mode, options in MODES.items():
            for workers in worker_counts:
                store = Path(folder) / f"{workers}-{mode}"
                config = configured(**options, instances=INSTANCES)
                races[mode].append(simulate(store, config, workers, work, costs, cache))
    return races


def table(races: dict[str, list[Simulated]]) -> str:
    lines = [
        "| workers | mode | minutes | speed-up | busy | runs used | extra | rounds | coordinator |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    on_one_worker = races["no speculative runs"][0]
    for mode, races_of_mode in races.items():
        for race in races_of_mode:
            lines.append(
                f"| {race.workers:,} | {mode} | {race.seconds / 60:.1f} | "
                f"{on_one_worker.seconds / race.seconds:,.1f} | {race.busy:.0%} | "
                f"{race.runs:,} | {race.extra:,} | {race.rounds} | {race.coordinating:.1%} |"
            )
    return "\n".join(lines)


# --- the figure ------------------------------------------------------------------------------

# Pixels of a panel, its margins, and the gap between panels
WIDTH = 300
HEIGHT = 200
LEFT = 46
TOP = 26
GAP = 76
COLOURS = ("#777777", "#0072b2", "#d55e00")


@dataclass(frozen=True)
class Panel:
    """A chart over the number of workers; its vertical axis ends at ``top``."""

    title: str
    measure: Callable[[Simulated], float]
    top: float
    is_logarithmic: bool

    def height(self, value: float) -> float:
        """The height of a value as a share of the panel's."""
        if self.is_logarithmic:
            return math.log(max(value, 1.0)) / math.log(self.top)
        return value / self.top

    def ticks(self) -> list[tuple[float, str]]:
        """The ticks of the vertical axis, and their labels."""
        if self.is_logarithmic:
            powers = [10.0**k for k in range(round(math.log10(self.top)) + 1)]
            return [(power, f"{power:,.0f}") for power in powers]
        return [(share, f"{share:.0%}") for share in (0, 0.5, 0.9, 1)]


def figure(races: dict[str, list[Simulated]]) -> str:
    """Three charts beside each other: busy workers, the speed-up, and the number of runs."""
    on_one_worker = races["no speculative runs"][0]
    fewest_runs = min(race.runs for races_of_mode in races.values() for race in races_of_mode)
    panels = [
        Panel("workers busy", lambda race: race.busy, 1.0, False),
        Panel(
            "times as fast as one worker",
            lambda race: on_one_worker.seconds / race.seconds,
            1e4,
            True,
        ),
        Panel(
            "runs, times as many as needed",
            lambda race: (race.runs + race.extra) / fewest_runs,
            10.0,
            True,
        ),
    ]
    parts = [_drawn(panel, LEFT + k * (WIDTH + GAP), races) for k, panel in enumerate(panels)]
    total_width = len(panels) * (WIDTH + GAP)
    y = TOP + HEIGHT + 52
    for k, (mode, colour) in enumerate(zip(races, COLOURS, strict=True)):
        x = LEFT + k * 190
        parts.append(f'<path d="M{x} {y}h22" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 28}" y="{y + 4}">{mode}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total_width} {TOP + HEIGHT + 64}" '
        'font-family="sans-serif" font-size="11" fill="#333">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{chr(10).join(parts)}\n</svg>\n'
    )


def _drawn(panel: Panel, x_start: float, races: dict[str, list[Simulated]]) -> str:
    """The SVG elements of a panel with the curve of each mode."""
    most_workers = max(race.workers for races_of_mode in races.values() for race in races_of_mode)

    def x_of(workers: int) -> float:
        return x_start + WIDTH * math.log(workers) / math.log(most_workers)

    def y_of(value: float) -> float:
        return TOP + HEIGHT * (1 - panel.height(value))

    parts = [f'<text x="{x_start}" y="{TOP - 10}" font-weight="bold">{panel.title}</text>']
    for tick, label in panel.ticks():
        y = y_of(tick)
        parts.append(f'<path d="M{x_start} {y:.1f}h{WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{x_start - 5}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    y = TOP + HEIGHT + 16
    for power in range(round(math.log10(most_workers)) + 1):
        x = x_of(10**power)
        parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{10**power:,}</text>')
    x = x_start + WIDTH / 2
    y = TOP + HEIGHT + 31
    parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="middle">workers</text>')
    for races_of_mode, colour in zip(races.values(), COLOURS, strict=True):
        points = " ".join(
            f"{x_of(race.workers):.1f},{y_of(panel.measure(race)):.1f}" for race in races_of_mode
        )
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
    return "\n".join(parts)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lengths", type=Path, help="take run lengths from this store")
    parser.add_argument("--figure", type=Path, default=FIGURE, help="where to draw")
    arguments = parser.parse_args()
    if arguments.lengths is not None:
        LENGTHS.write_text(json.dumps(lengths_of(arguments.lengths)) + "\n")
    work = Workload(tuple(json.loads(LENGTHS.read_text())))
    costs = measure_costs()
    print(
        f"the coordinator takes {1000 * costs.per_run:.2f} ms a run and "
        f"{1000 * costs.per_round:.0f} ms a round; a decision takes {costs.decision:.2f} s and "
        f"{1e6 * costs.decision_per_run:.0f} us for each stored run\n"
    )
    races = simulate_all(work, costs, WORKERS)
    print(table(races), end="\n\n")
    arguments.figure.write_text(figure(races))
    return report(goals(work, costs))


def goals(work: Workload, costs: Costs) -> list[Row]:
    """Whether 1,000 workers are busy in a race that is long enough, and the coordinator's load.

    Runs of a hundredth of the length on 100 workers load the coordinator as 10,000 workers would.
    """
    mode = MODES["speculative runs, filled rounds"]
    short_work = replace(work, seconds=work.seconds / 100, restart=work.restart / 100)
    with tempfile.TemporaryDirectory() as folder:
        long_race = simulate(
            Path(folder) / "long",
            configured(**mode, **LONG_RACE),
            N_GOAL_WORKERS,
            work,
            costs,
            DecisionCache(),
        )
        short_runs = simulate(
            Path(folder) / "short",
            configured(**mode, instances=SHORT_RUN_INSTANCES),
            N_SHORT_WORKERS,
            short_work,
            costs,
            DecisionCache(),
        )
    return [
        *goal_rows(long_race, work, MIN_BUSY),
        *goal_rows(short_runs, short_work, None),
    ]


def goal_rows(race: Simulated, work: Workload, min_busy: float | None) -> list[Row]:
    label = f"{race.workers:,} workers, runs of {work.seconds:g} s"
    return [
        Row(
            f"{label}, {race.runs:,} runs: busy",
            f"{race.busy:.0%}, {race.useful:.0%} in runs that were used",
            "(no target)" if min_busy is None else f"at least {min_busy:.0%}",
            min_busy is None or race.busy >= min_busy,
        ),
        Row(
            f"{label}: runs that were not used",
            f"{race.extra:,}, in {race.rounds} rounds",
            "(no target)",
            True,
        ),
        Row(
            f"{label}: the coordinator, without decisions",
            f"{race.coordinating:.0%} of the time",
            "(no target)",
            True,
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())
