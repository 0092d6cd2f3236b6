"""Computing times of inference: the paper's beside ours, at the same sizes.

The paper states seconds on its own machine. Here the same models and sizes are inferred by

- ``native``: PolarBear's embedded engine, as many draws as the paper's chains gave (8,000);
- ``empirical``: the default model, which answers the same question without ratings;
- ``stan``: Pathfinder for the independent model, NUTS for the others, through CmdStan (--stan).

One thread, rankings drawn from Plackett-Luce. Processor seconds are given beside the clock's, which
also count what else the machine was doing. Compiling is not counted: all but Stan's is done twice,
and the second time stands; of Stan's it is not counted where its programs were compiled before.

    python studies/costs.py              minutes of one core
    python studies/costs.py --stan       more than an hour: NUTS on a full GP takes its time
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import common
import numpy as np
from common import Claims, Lines, Row, deadline, markdown, told, write_csv

from polarbear.inference import ModelOptions, infer
from polarbear.rankings import rank
from polarbear.rankings.choice_sets import count_choice_sets

DRAWS = 8000


@dataclass(frozen=True)
class Size:
    """A model, algorithms, instances and times; how many seconds the paper says it takes.

    ``cores`` are those the paper gave it, ``words`` what it says.
    """

    model: str
    n: int
    instances: int
    times: int
    paper: float
    cores: int
    words: str
    method: str = "mcmc"


SIZES = (
    Size("dirichlet", 30, 100, 1, 10, 1, "under 10 s a time, Pathfinder", "pathfinder"),
    Size("dirichlet", 7, 1000, 200, 120, 8, "under 2 minutes, Pathfinder", "pathfinder"),
    Size("hierarchical", 5, 30, 100, 100, 4, "below 100 s, NUTS"),
    Size("bspline", 5, 30, 100, 100, 4, "below 100 s, NUTS"),
    Size("sparse-gp", 5, 30, 100, 180, 4, "about 180 s, NUTS"),
    Size("hsgp", 5, 30, 100, 300, 4, "around 300 s, NUTS"),
    Size("random-walk", 5, 30, 100, 300, 4, "around 300 s, NUTS"),
    Size("gp", 5, 30, 60, 500, 4, "exceeding 500 s, NUTS"),
)


def rankings(size: Size) -> np.ndarray:
    """Positions from Plackett-Luce ratings that wander over time, the same for every way."""
    rng = np.random.default_rng(1)
    mu = np.cumsum(rng.normal(0, 1 / np.sqrt(size.times), (size.times, size.n)), axis=0)
    values = -mu.T - rng.gumbel(size=(size.instances, size.n, size.times))
    return rank(values)


def options_of(size: Size, engine: str, draws: int = DRAWS) -> ModelOptions:
    if engine == "empirical":
        return ModelOptions(draws=draws)
    if engine == "native":
        return ModelOptions(model=size.model, draws=draws, dependence="independent")
    return ModelOptions(
        model=size.model, engine="stan", method=size.method, draws=draws,
        dependence="independent",
    )  # fmt: skip


def measured(task: Row, draws: int = DRAWS) -> Row:
    """Seconds by the clock and of the processor, children too, of the last time."""
    size = SIZES[task["size"]]
    positions = rankings(size)
    unit = np.linspace(0, 1, size.times) if size.times > 1 else np.array([0.0])
    options = options_of(size, task["way"], draws)
    costs: Row = {}
    for _ in range(1 if task["way"] == "stan" else 2):
        sets = count_choice_sets(positions)
        clock = time.perf_counter()
        processor = _processor()
        posterior = infer(sets, unit, options, 1, threads=1, positions=positions)
        costs = {
            "seconds": time.perf_counter() - clock,
            "processor": _processor() - processor,
            "usable": bool(posterior.usable),
        }
    return costs


def _processor() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def table(rows: list[Row], engines: tuple[str, ...]) -> list[Row]:
    lines = []
    for number, size in enumerate(SIZES):
        line: Row = {
            "model": size.model,
            "algorithms": size.n,
            "instances": size.instances,
            "times": size.times,
            "the paper": f"{size.words}, {size.cores} cores",
        }
        for engine in engines:
            measurements = [row for row in rows if row["size"] == number and row["way"] == engine]
            for key, words in (("seconds", "s"), ("processor", "core s")):
                line[f"{engine}, {words}"] = (
                    float(measurements[0][key]) if measurements else "not measured"
                )
        lines.append(line)
    return lines


def claims_of(rows: list[Row]) -> Claims:
    claims = Claims()
    for row in rows:
        size = SIZES[row["size"]]
        if row["way"] != "stan":
            claims.check(
                f"{size.model}, n {size.n}, P {size.instances}, T {size.times}: {row['way']} took "
                f"{row['processor']:.2g} core seconds, less than the paper's {size.cores} cores "
                f"for {size.paper:.0f} s",
                row["processor"] < size.paper * size.cores,
            )
    return claims


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--stan", action="store_true", help="Stan, too; needs CmdStan")
    parser.add_argument("--minutes", type=float, help="begin nothing further after so many")
    parser.add_argument("--out", type=Path, default=common.RESULTS / "costs")
    args = parser.parse_args()
    engines = ("empirical", "native", *(("stan",) if args.stan else ()))
    lines = Lines(args.out / "measured.jsonl", ("size", "way"))
    tasks = ({"size": number, "way": engine} for engine in engines for number in range(len(SIZES)))
    n_left = lines.complete(tasks, measured, deadline(args.minutes))
    measured_engines = tuple(dict.fromkeys((*engines, *(row["way"] for row in lines.rows))))
    rows = table(lines.rows, measured_engines)
    write_csv(args.out / "costs.csv", rows)
    claims = claims_of(lines.rows)
    print(told(args.out, "What inference costs", [("Times", markdown(rows))], claims))
    if n_left:
        print(f"{n_left} are left: the same command goes on", file=sys.stderr)
    return 1 if claims.failed else 0


if __name__ == "__main__":
    sys.exit(main())
