"""How far a race scales: the real race on 1 to 10,000 simulated workers.

    python benchmarks/scaling.py [--lengths STORE] [--figure FILE]

Measures first what the coordinator takes for a run and for a round on this machine, in processor
time, then lets `simulated.py` race with it: without speculative runs, with them, and with rounds
that fill all workers. Runs take 10 s on average, in the proportions that stored runs had
(run-lengths.json, or those of a store), with a heavy tail, crashes and lost workers. Prints a
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
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
from simulated import Costs, Known, Simulated, Workload, configured, simulate
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
WAYS = {
    "no speculative runs": {"early": 0, "fill": False},
    "speculative runs": {"early": 4, "fill": False},
    "speculative runs, filled rounds": {"early": 16, "fill": True},
}
INSTANCES = 200  # of the race that all numbers of workers run
LONG = {"epsilon": 0.005, "limits": {"rounds": 12}}  # a race that is long enough for 1,000 workers
SHORT = 500  # instances of the race with short runs
GOAL, AT = 0.9, 1000


def lengths_of(store: Path) -> list[float]:
    """Quantiles of the lengths of stored runs, each relative to its algorithm's mean."""
    runs = StoreOnDisk.open(store).runs().filter(pl.col("seconds") > 0)
    speed = pl.col("seconds") / pl.col("budget")
    relative = runs.select((speed / speed.mean().over("algorithm")).alias("length"))["length"]
    found = np.quantile(relative.to_numpy(), np.linspace(0.005, 0.995, 100))
    return [round(float(value), 4) for value in found / found.mean()]


class Ready:
    """A pool whose runs are finished as soon as they are requested, from one message each."""

    size = 1

    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self.seconds = 0.0  # of the runs themselves

    def __enter__(self) -> Ready:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def run(self, tasks: Iterable[Task]) -> Iterator[Outcome]:
        for task in tasks:
            since = process_time()
            message = pickle.dumps(execute(task, self._problems))
            self.seconds += process_time() - since
            pickle.dumps(task)
            yield pickle.loads(message)


def measured() -> Costs:
    """What the coordinator takes here, in seconds of processor time, by a race of some rounds."""
    config = configured(early=0, fill=False, instances=200)
    deciding: list[tuple[int, float]] = []
    whole = Race._decided

    def timed(self: Race, *arguments: Any) -> Any:
        since = process_time()
        found = whole(self, *arguments)
        deciding.append((len(self._runs.stored), process_time() - since))
        return found

    executing = 0.0
    run = Race._execute

    def executed(self: Race, *arguments: Any) -> None:
        nonlocal executing
        since = process_time()
        run(self, *arguments)
        executing += process_time() - since

    pool = Ready(Problems(config.instances, config.setting))
    with tempfile.TemporaryDirectory() as folder:
        store = StoreOnDisk.create(Path(folder) / "store", config.stored())
        with (
            store.writing(),
            use_executor(lambda config: pool),
            mock.patch.object(Race, "_decided", timed),
            mock.patch.object(Race, "_execute", executed),
        ):
            race = Race(config, store)
            since = process_time()
            race.run()
            everything = process_time() - since
    rounds, runs = race.state.round, len(race._runs.stored)
    rest = everything - executing - sum(seconds for _, seconds in deciding)
    first, last = deciding[1], deciding[-1]  # the very first compiles
    slope = max(0.0, (last[1] - first[1]) / (last[0] - first[0]))
    return Costs(
        a_run=(executing - pool.seconds) / runs,
        a_round=rest / rounds,
        deciding=max(0.0, first[1] - slope * first[0]),
        deciding_a_run=slope,
    )


def swept(work: Workload, costs: Costs, workers: Sequence[int]) -> dict[str, list[Simulated]]:
    """All ways on all numbers of workers."""
    known = Known()
    found: dict[str, list[Simulated]] = {way: [] for way in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        for way, options in WAYS.items():
            for count in workers:
                place = Path(folder) / f"{len(found[way])}-{way}"
                config = configured(**options, instances=INSTANCES)
                found[way].append(simulate(place, config, count, work, costs, known))
    return found


def table(found: dict[str, list[Simulated]]) -> str:
    lines = [
        "| workers | way | minutes | speed-up | busy | runs used | extra | rounds | coordinator |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    one = found["no speculative runs"][0]
    for way, entries in found.items():
        for entry in entries:
            lines.append(
                f"| {entry.workers:,} | {way} | {entry.seconds / 60:.1f} | "
                f"{one.seconds / entry.seconds:,.1f} | {entry.busy:.0%} | {entry.runs:,} | "
                f"{entry.extra:,} | {entry.rounds} | {entry.coordinating:.1%} |"
            )
    return "\n".join(lines)


# --- the figure ------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 200, 46, 26, 76
COLOURS = ("#777777", "#0072b2", "#d55e00")


def figure(found: dict[str, list[Simulated]]) -> str:
    """Three small charts beside each other: how busy, how fast, and at what price."""
    one = found["no speculative runs"][0]
    least = min(entry.runs for entries in found.values() for entry in entries)
    panels: list[tuple[str, Callable[[Simulated], float], float, bool]] = [
        ("workers busy", lambda entry: entry.busy, 1.0, False),
        ("times as fast as one worker", lambda entry: one.seconds / entry.seconds, 1e4, True),
        ("runs, times as many as needed", lambda e: (e.runs + e.extra) / least, 10.0, True),
    ]
    parts = [_panel(found, number, *panel) for number, panel in enumerate(panels)]
    whole = len(panels) * (WIDTH + GAP)
    for number, (way, colour) in enumerate(zip(found, COLOURS, strict=True)):
        x, y = LEFT + number * 190, TOP + HEIGHT + 52
        parts.append(f'<path d="M{x} {y}h22" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{x + 28}" y="{y + 4}">{way}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {TOP + HEIGHT + 64}" '
        'font-family="sans-serif" font-size="11" fill="#333">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{chr(10).join(parts)}\n</svg>\n'
    )


def _panel(
    found: dict[str, list[Simulated]],
    number: int,
    title: str,
    value: Callable[[Simulated], float],
    top: float,
    logarithmic: bool,
) -> str:
    left = LEFT + number * (WIDTH + GAP)
    most = max(entry.workers for entries in found.values() for entry in entries)

    def across(workers: int) -> float:
        return left + WIDTH * math.log(workers) / math.log(most)

    def up(y: float) -> float:
        share = math.log(max(y, 1.0)) / math.log(top) if logarithmic else y / top
        return TOP + HEIGHT * (1 - share)

    parts = [f'<text x="{left}" y="{TOP - 10}" font-weight="bold">{title}</text>']
    ticks = (
        [10.0**k for k in range(round(math.log10(top)) + 1)] if logarithmic else [0, 0.5, 0.9, 1]
    )
    for tick in ticks:
        shown = f"{tick:,.0f}" if logarithmic else f"{tick:.0%}"
        parts.append(f'<path d="M{left} {up(tick):.1f}h{WIDTH}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{left - 5}" y="{up(tick) + 4:.1f}" text-anchor="end">{shown}</text>'
        )
    for power in range(round(math.log10(most)) + 1):
        x, y = across(10**power), TOP + HEIGHT + 16
        parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{10**power:,}</text>')
    x, y = left + WIDTH / 2, TOP + HEIGHT + 31
    parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="middle">workers</text>')
    for entries, colour in zip(found.values(), COLOURS, strict=True):
        points = " ".join(f"{across(e.workers):.1f},{up(value(e)):.1f}" for e in entries)
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
    costs = measured()
    print(
        f"the coordinator takes {1000 * costs.a_run:.2f} ms a run and "
        f"{1000 * costs.a_round:.0f} ms a round; deciding takes {costs.deciding:.2f} s and "
        f"{1e6 * costs.deciding_a_run:.0f} us for each run there is\n"
    )
    found = swept(work, costs, WORKERS)
    print(table(found), end="\n\n")
    arguments.figure.write_text(figure(found))
    return report(goals(work, costs))


def goals(work: Workload, costs: Costs) -> list[Row]:
    """Whether 1,000 workers are busy in a race that is long enough, and what the coordinator takes.

    Runs of a hundredth of the length on 100 workers ask as much of it as 10,000 workers would.
    """
    rows = []
    way = WAYS["speculative runs, filled rounds"]
    many, few = configured(**way, **LONG), configured(**way, instances=SHORT)
    short = replace(work, seconds=work.seconds / 100, restart=work.restart / 100)
    with tempfile.TemporaryDirectory() as folder:
        for what, config, workers, load in (
            (f"{AT:,} workers, runs of {work.seconds:g} s", many, AT, work),
            (f"100 workers, runs of {short.seconds:g} s", few, 100, short),
        ):
            found = simulate(Path(folder) / what, config, workers, load, costs, Known())
            told = f"{found.busy:.0%}, {found.useful:.0%} in runs that were used"
            meets = load is short or found.busy >= GOAL
            target = f"at least {GOAL:.0%}" if load is work else "(no target)"
            rows.append(Row(f"{what}, {found.runs:,} runs: busy", told, target, meets))
            price = f"{found.extra:,}, in {found.rounds} rounds"
            rows.append(Row(f"{what}: runs that were not used", price, "(no target)", True))
            what = f"{what}: the coordinator, deciding aside"
            rows.append(Row(what, f"{found.coordinating:.0%} of the time", "(no target)", True))
    return rows


if __name__ == "__main__":
    sys.exit(main())
