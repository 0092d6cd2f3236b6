"""Work of `goals.py` by the version that its goals were set with, whose tree is checked out.

    git worktree add ../before 4b040e8
    python benchmarks/goals.py --before ../before

That gives each row this script, with the old tree before all others on Python's path:

    PYTHONPATH=../before python benchmarks/before.py ../before dirichlet

Its quick start and its commands are its own; its races are by dirichlet, the only model it races
by unless told otherwise. What it cannot do is left out. Needs the packages of today's version, and
`pip install plotly moocore` for the page, `pip install ioh` for MA-BBOB.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import goals
import numpy as np


def rounds() -> list[float]:
    from overhead import Clock, strict_race

    from polarbear.racing import Race
    from polarbear.store import Store

    config, clock = strict_race(), Clock()
    with tempfile.TemporaryDirectory() as folder:
        store = Store.create(Path(folder) / "store", config.plain())
        with store.writing():
            Race(config, store, clock).run()
    seconds = np.array(clock.seconds[1:])
    return [float(seconds.mean()), float(seconds.max())]


def inferred(n: int, n_times: int, instances: int, **options: Any) -> float:
    """Wall seconds of a posterior, the better of two after a first."""
    from inference import grid, positions
    from polarbear.relations import pointwise

    from polarbear.inference import ModelOptions, infer
    from polarbear.rankings import choice_sets

    chosen = ModelOptions(**{"draws": 4000, **options})
    places = positions(n, instances, n_times)
    taken = []
    for _ in range(3):
        begun = time.perf_counter()
        posterior = infer(choice_sets(places), grid(n_times), chosen, 1)
        if options["model"] == "dirichlet":
            pointwise(posterior)
        taken.append(time.perf_counter() - begun)
    return min(taken)


def gaussian_processes() -> list[float]:
    options = {"model": "gp", "draws": 8000}
    return [inferred(5, n_times, 30, **options) for n_times in (60, 1000)]


def evaluation() -> list[float]:
    """Microseconds for a point of MA-BBOB by ioh."""
    from polarbear.budget import Budget

    from polarbear.problems.base import Setting
    from polarbear.problems.ma_bbob import MaBbob

    setting = Setting(seed=1, budget=Budget.model_validate({"grid": [1]}))
    return [goals.microseconds(MaBbob, setting)]


WORK: dict[str, Callable[[], list[float]]] = {
    "commands": goals.commands,
    "quickstart": goals.quick_start,
    "round": rounds,
    "round-dirichlet": rounds,
    "dirichlet": lambda: [inferred(7, 200, 1000, model="dirichlet")],
    "gp": gaussian_processes,
    "page": goals.page,
    "ma-bbob": evaluation,
}


def main() -> int:
    tree, name = Path(sys.argv[1]).resolve(), sys.argv[2]
    sys.path.insert(0, str(tree / "benchmarks"))  # its own races and rankings
    goals.QUICK_START = tree / "configs" / "quickstart.yaml"
    print(json.dumps(WORK[name]()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
