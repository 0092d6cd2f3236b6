"""How the stores that reports are tested on are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from polarbear.config import Execution, Failures
from polarbear.driver.evidence import evidence_of
from polarbear.driver.posterior_cache import cached_posterior, keep
from polarbear.inference import ModelOptions
from polarbear.store import Store
from tests.driver.test_loop import configured, optimisers, run
from tests.driver.test_posterior_cache import synthetic
from tests.support import solver

RATINGS = {
    "good": [0.5, 0.5, 0.4, 0.3, 0.2, 0.2],
    "late": [0.2, 0.2, 0.3, 0.4, 0.6, 0.6],
    "bad": [0.05, 0.05, 0.05, 0.05, 0.05, 0.05],
    "mid": [0.25, 0.25, 0.25, 0.25, 0.15, 0.15],
}
HOSTILE = [
    "<script>alert('x')</script>",
    "quote \" and ' and & and \\",
    "long" * 50,
    "مرحبا עברית",
    "$x_1$ and $\\frac{1}{",
    "漢字 🐻 e\u0301",
]


def raced(folder: Path, **changes: Any) -> Store:
    """A race with eliminations and crossings."""
    changes = {"names": tuple(RATINGS), "ratings": RATINGS, **changes}
    return run(configured(**changes), folder / "store")[1]


def inferred(
    folder: Path, ratings: dict[str, list[float]], model: str = "dirichlet", **changes: Any
) -> Store:
    """Runs and a posterior, without a race."""
    store = synthetic(folder, instances=12, ratings=ratings, **changes)
    evidence = evidence_of(store)
    learned = cached_posterior(store, evidence, ModelOptions(model=model, draws=400), seed=1)
    with store.writing():
        keep(store, evidence, learned)
    return store


def many(count: int) -> dict[str, list[float]]:
    rng = np.random.default_rng(5)
    return {f"algorithm {i:02}": rng.uniform(0.1, 1, 2).round(3).tolist() for i in range(count)}


def failing(folder: Path) -> Store:
    entries = [
        solver("fails_sometimes", "often", every=2),
        solver("coordinate_descent"),
        solver("fails_sometimes", "seldom", every=3),
    ]
    config = optimisers(*entries)
    lenient = Execution(workers=1, failures=Failures(tolerated=1))
    return run(replace(config, execution=lenient), folder / "store")[1]


KINDS: dict[str, Callable[[Path], Store]] = {
    "raced": lambda folder: raced(folder, inference={"model": "dirichlet", "draws": 1000}),
    "runs only": lambda folder: synthetic(folder, instances=5),
    "inferred": lambda folder: inferred(folder, {"A": [0.6, 0.2], "B": [0.4, 0.8]}, "random-walk"),
    "one algorithm": lambda folder: synthetic(folder, instances=5, ratings={"alone": [1.0, 1.0]}),
    "one time": lambda folder: raced(
        folder,
        ratings={name: [values[0]] for name, values in RATINGS.items()},
        budget={"grid": [10]},
    ),
    "one round": lambda folder: raced(folder, rules={"limits": {"rounds": 1}}),
    "joint": lambda folder: raced(
        folder,
        rules={"elimination": "joint", "limits": {"rounds": 2}},
        inference={"model": "random-walk", "draws": 400},
    ),
    "hostile names": lambda folder: inferred(
        folder, {name: [0.3 + 0.1 * i, 0.5] for i, name in enumerate(HOSTILE)}
    ),
    "twenty algorithms": lambda folder: inferred(folder, many(20)),
    "failures": failing,
}
