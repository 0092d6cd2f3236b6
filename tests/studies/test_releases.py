"""Releases of a library beside each other, on populations made by hand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from populations import Population, make, read_with_names
from releases import Release, written

from tests.studies.test_mabbob import NAMES, population

QUICK = """
algorithms: [{name: A, use: random-search}, {name: B, use: random-search}]
instances: {suite: classic, dimensions: {from: 2, to: 2}}
budget: {grid: [10, 20]}
"""


def test_only_what_changed_is_said_to_have_changed(tmp_path: Path):
    """An error once in a hundred times, by the correction; 20 instances of 60 lack one of two."""
    people = population()
    values = people.values * 10 ** (0.1 * np.random.default_rng(2).standard_normal((60, 7, 4)))
    values[:, NAMES.index("LPXNES"), 2:] *= 1e3
    names = tuple(f"i{k}" for k in range(60))
    other = Population(people.names, people.times, people.unit, values[::-1][:40])
    text = written(
        [Release("new", people, names), Release("old", other, names[::-1][:40])], tmp_path
    )
    assert text.startswith("40 instances,")
    told = next(line for line in text.splitlines() if "differ at" in line)
    assert re.search(r"LPXNES at [0-9, ]*60000, new ahead of old on 100% to 100% of inst", told)
    assert "CSA" not in told
    assert (tmp_path / "duels.csv").read_text().count("\n") == 1 + 2 * 12
    assert (tmp_path / "changed.csv").read_text().count("\n") == 1 + 7 * 12


def test_a_store_says_what_its_instances_are_called(tmp_path: Path):
    (tmp_path / "quick.yaml").write_text(QUICK)
    make(tmp_path / "quick.yaml", tmp_path / "store", 3, "--quiet")
    people, names = read_with_names(tmp_path / "store")
    assert len(names) == len(set(names)) == len(people.values) == 3
