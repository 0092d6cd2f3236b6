"""Costs, GP-BBOB, modules, Pathfinder and releases, small or on populations made by hand."""

import re
from pathlib import Path

import costs
import gpbbob
import modules
import numpy as np
import pathfinder
import pytest
import yaml
from populations import Population, make, read_with_names
from releases import Release, written

from polarbear.config.configuration import parse
from polarbear.racing.rules import Rules
from polarbear.settings.options import Source
from tests.studies.test_mabbob import NAMES, population


def test_what_is_measured_stands_beside_what_the_paper_says_and_what_is_not_says_so():
    row = {"size": 0, "way": "empirical", **costs.measured({"size": 0, "way": "empirical"}, 400)}
    assert row["processor"] > 0
    table = costs.table([row], ("empirical", "native"))
    assert table[0]["empirical, s"] == row["seconds"]
    assert table[0]["native, s"] == table[1]["empirical, s"] == "not measured"
    assert "under 10 s" in table[0]["the paper"]
    slow = {**row, "processor": 1e9}
    assert (costs.claims_of([row]).failed, len(costs.claims_of([slow]).failed)) == ([], 1)


def test_scaling_takes_a_tenth_of_the_time_and_a_quarter_of_the_dimensions_and_keeps_the_rest():
    full = yaml.safe_load(gpbbob.CONFIG.read_text())
    small = gpbbob.scaled(full)
    assert small["budget"]["grid"]["to"] == full["budget"]["grid"]["to"] / 10
    assert small["instances"]["dimension"]["mean"] == full["instances"]["dimension"]["mean"] // 4
    assert small["algorithms"] == full["algorithms"]
    assert small["race"] == full["race"]


def test_the_papers_set_is_looked_for_among_those_whom_nobody_beats_at_every_time():
    names = ("COV", "SEP", "NONE")
    curves = np.array([[3.0, 3.0], [1.0, 2.0], [2.0, 1.0]])
    times = np.array([0.1, 3.0])
    unit = np.array([0.0, 1.0])
    people = Population(names, times, unit, np.tile(curves, (5, 1, 1)))
    assert gpbbob.claims_of([], people).failed == []
    assert gpbbob.truth_table(people)[0] == {"seconds": 0.1, "COV": 0.0, "SEP": 1.0, "NONE": 0.0}
    beaten = Population(names, times, unit, people.values[:, [1, 0, 2]])
    assert len(gpbbob.claims_of([], beaten).failed) == 1


@pytest.mark.parametrize("name", modules.CHANGES)
def test_a_change_is_one_of_every_cma_and_can_be_configured(name: str):
    plain = yaml.safe_load(modules.CONFIG.read_text())
    config = parse(modules.changed(plain, modules.CHANGES[name]), Source(name))
    (key,) = modules.CHANGES[name]
    before = parse(plain, Source("plain"))
    for plain_algorithm, changed_algorithm in zip(
        before.algorithms, config.algorithms, strict=True
    ):
        same = plain_algorithm.model_dump() == changed_algorithm.model_dump()
        assert same == (plain_algorithm.name == "RS")
        assert changed_algorithm.model_dump(exclude={key}) == plain_algorithm.model_dump(
            exclude={key}
        )
    assert config.instances == before.instances


def test_all_are_compared_with_the_first(tmp_path: Path):
    people = population()
    names = tuple(f"i{k}" for k in range(60))
    ways = [Release(name, people, names) for name in ("plain", "one", "two")]
    text = written(ways, tmp_path, "way", with_first=True)
    assert text.startswith("60 instances, all algorithms on each by each way.")
    assert "by the first way" in text
    compared = (tmp_path / "changed.csv").read_text().splitlines()[1:]
    pairs = {tuple(line.split(",")[2:4]) for line in compared}
    assert pairs == {("one", "plain"), ("two", "plain")}


@pytest.mark.stan
def test_pathfinder_and_exact_draws_are_told_apart_by_no_more_than_draws_are(monkeypatch):
    """With 1,000 draws each a probability has a standard error of 0.016 at most; 84 of them are
    looked at, of which the largest difference is beyond 5 of those once in a million times."""
    monkeypatch.setattr(pathfinder, "LIMIT", 16)
    few = {"draws": 1000}
    monkeypatch.setattr(pathfinder, "EXACT", pathfinder.EXACT.model_copy(update=few))
    monkeypatch.setattr(pathfinder, "PATHFINDER", pathfinder.PATHFINDER.model_copy(update=few))
    row = pathfinder.compared(
        0, population(), Rules(alpha=0.99, resolution="strict", guarantee="none")
    )
    assert row["instances"] == 16
    assert not row["XNES is out"]
    assert row["exact again, at most"] < 5 * 0.016 * np.sqrt(2)
    assert row["Pathfinder, off by"] < 0.1
    text = pathfinder.written([{"seed": 0, **row}], 0.99)
    assert "XNES is out within 16 instances in 0." in text


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
