"""Populations: every algorithm on every instance. Races draw from them; they are the truth."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "populations"


@dataclass(frozen=True)
class Population:
    """Values[instance, algorithm, time] of whole instances, smaller is better."""

    names: tuple[str, ...]
    times: np.ndarray
    unit: np.ndarray
    values: np.ndarray

    def sample(self, seed: int, size: int) -> np.ndarray:
        """Instances drawn with replacement; the first do not depend on how many are drawn."""
        chosen = np.random.default_rng([seed, 4]).random(size)
        return self.values[(chosen * len(self.values)).astype(int)]


def make(config: Path, store: Path, instances: int, *options: str) -> None:
    """Run everything that a store lacks; it goes on where it was interrupted."""
    command = [sys.executable, "-m", "polarbear", "run", str(config), "--store", str(store)]
    store.parent.mkdir(parents=True, exist_ok=True)
    command += ["--instances", str(instances), *options]
    subprocess.run(command, check=True, stdout=sys.stderr)


def read(store: Path) -> Population:
    """The instances on which every algorithm has a value at the end, a failed run being left at its
    best; nothing is written."""
    return read_with_names(store)[0]


def read_with_names(store: Path) -> tuple[Population, tuple[str, ...]]:
    """The population, and the names of its instances."""
    from polarbear.facts.evidence import evidence_of
    from polarbear.store import StoreOnDisk

    evidence = evidence_of(StoreOnDisk.open(store))
    grid = evidence.grid
    complete = ~np.isnan(grid.values).any(axis=(1, 2))
    people = Population(grid.algorithms, grid.times, evidence.unit_times, grid.values[complete])
    return people, tuple(np.array(grid.instances)[complete].tolist())
