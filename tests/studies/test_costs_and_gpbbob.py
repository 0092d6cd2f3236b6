"""Costs at the paper's sizes, and the third case study scaled down."""

from __future__ import annotations

import costs
import gpbbob
import numpy as np
import yaml
from populations import Population


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
    times, unit = np.array([0.1, 3.0]), np.array([0.0, 1.0])
    people = Population(names, times, unit, np.tile(curves, (5, 1, 1)))
    assert gpbbob.claims_of([], people).failed == []
    assert gpbbob.truth_table(people)[0] == {"seconds": 0.1, "COV": 0.0, "SEP": 1.0, "NONE": 0.0}
    beaten = Population(names, times, unit, people.values[:, [1, 0, 2]])
    assert len(gpbbob.claims_of([], beaten).failed) == 1
