"""The stores on which reports are tested."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import polarbear as pb
from polarbear.store import StoreOnDisk
from tests.support import SOLVERS, solver, synthetic

RATINGS = {
    "good": [0.5, 0.5, 0.4, 0.3, 0.2, 0.2],
    "late": [0.2, 0.2, 0.3, 0.4, 0.6, 0.6],
    "bad": [0.05, 0.05, 0.05, 0.05, 0.05, 0.05],
    "mid": [0.15, 0.15, 0.15, 0.15, 0.1, 0.1],
}
QUICK = {"model": "dirichlet", "method": "laplace", "draws": 1000}
THREE = {"A": [0.6, 0.2], "B": [0.3, 0.3], "C": [0.1, 0.5]}
HOSTILE = [
    "<script>alert('x')</script>",
    "quote \" and ' and & and \\",
    "long" * 50,
    "مرحبا עברית",
    "$x_1$ and $\\frac{1}{",
    "漢字 🐻 e\u0301",
]


def runs_of(
    folder: Path, instances: int, ratings: dict[str, list[float]], **changes: Any
) -> StoreOnDisk:
    """A store of runs, without a race."""
    config = {**synthetic(ratings), "budget": {"grid": [10, 100]}, **changes}
    pb.run(config, folder / "store", instances=instances, workers=1)
    return StoreOnDisk.open(folder / "store")


def raced(folder: Path, rules: dict[str, Any] | None = None, **changes: Any) -> StoreOnDisk:
    """A race with eliminations and crossings."""
    config = {
        "seed": 7,
        **synthetic(RATINGS),
        "budget": {"grid": [10, 20, 30, 40, 50, 60]},
        "execution": {"workers": 1},
        "race": {"alpha": 0.95, "regret": None, **(rules or {})},
        "inference": {"draws": 1000},
        **changes,
    }
    pb.race(config, folder / "store")
    return StoreOnDisk.open(folder / "store")


def inferred(
    folder: Path,
    ratings: dict[str, list[float]],
    model: str = "dirichlet",
    instances: int = 12,
    **changes: Any,
) -> StoreOnDisk:
    """Runs and a posterior, without a race."""
    store = runs_of(folder, instances, ratings, **changes)
    method = "auto" if model == "empirical" else "laplace"
    pb.open(store.path).infer(model=model, method=method, draws=400, seed=1)
    return store


def many(count: int) -> dict[str, list[float]]:
    rng = np.random.default_rng(5)
    return {f"algorithm {i:02}": rng.uniform(0.1, 1, 2).round(3).tolist() for i in range(count)}


def failing(folder: Path) -> StoreOnDisk:
    return raced(
        folder,
        algorithms=[
            solver("fails_sometimes", "often", every=2),
            solver("coordinate_descent"),
            solver("fails_sometimes", "seldom", every=3),
        ],
        instances={"suite": "classic", "dimensions": {"from": 2, "to": 3}},
        budget={"grid": [5, 20, 60]},
        execution={"workers": 1, "failures": {"tolerated": 1}},
        rules={"limits": {"instances": 64}},
    )


def of_two_folders(folder: Path) -> StoreOnDisk:
    """Runs on four files of one folder and two of another, each the home of an algorithm."""
    config = {
        "algorithms": [solver("knows_a_folder", name, folder=name) for name in ("north", "south")],
        "instances": {
            "suite": "files",
            "names": [*(f"north/{number}" for number in range(4)), "south/0", "south/1"],
        },
        "budget": {"axis": "steps", "grid": [10, 100]},
    }
    pb.run(config, folder / "store", workers=1)
    return StoreOnDisk.open(folder / "store")


def with_constraints(folder: Path) -> StoreOnDisk:
    """Runs on problems with constraints, which violate them at first."""
    config = {
        "algorithms": [{"name": "one", "use": "random-search"}, {"name": "other", "use": "cma"}],
        "instances": {"suite": "linear-constraints"},
        "budget": {"grid": [2, 10, 100]},
    }
    pb.run(config, folder / "store", instances=6, workers=1)
    return StoreOnDisk.open(folder / "store")


def with_objectives(folder: Path) -> StoreOnDisk:
    """Runs on problems with two objectives."""
    config = {
        "algorithms": [
            {"name": name, "use": "random-search"} for name in ("one", "other", "third")
        ],
        "instances": {"suite": "python", "function": f"{SOLVERS}:two_bowls", "objectives": 2},
        "budget": {"grid": [2, 10, 60]},
    }
    pb.run(config, folder / "store", instances=6, workers=1)
    return StoreOnDisk.open(folder / "store")


KINDS: dict[str, Callable[[Path], StoreOnDisk]] = {
    "raced": lambda folder: raced(folder, inference=QUICK),
    "runs only": lambda folder: runs_of(folder, 5, THREE),
    "inferred": lambda folder: inferred(folder, {"A": [0.6, 0.2], "B": [0.4, 0.8]}, "random-walk"),
    "one algorithm": lambda folder: runs_of(folder, 5, {"alone": [1.0, 1.0]}),
    "one time": lambda folder: raced(
        folder,
        **synthetic({name: values[:1] for name, values in RATINGS.items()}),
        budget={"grid": [10]},
    ),
    "one round": lambda folder: raced(folder, rules={"limits": {"rounds": 1}}),
    "joint": lambda folder: raced(folder, rules={"elimination": "joint", "limits": {"rounds": 2}}),
    "hostile names": lambda folder: inferred(
        folder, {name: [0.3 + 0.1 * i, 0.5] for i, name in enumerate(HOSTILE)}
    ),
    "twenty algorithms": lambda folder: inferred(folder, many(20)),
    "failures": failing,
    "two folders": of_two_folders,
    "constraints": with_constraints,
    "objectives": with_objectives,
}

# Stores that are described by another model than the default.
MODELS = {"inferred": "random-walk", "hostile names": "dirichlet", "twenty algorithms": "dirichlet"}
