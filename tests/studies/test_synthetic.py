"""The paper's first case study, small: the truths are the paper's, and races find them."""

import numpy as np
import pytest
import synthetic
import synthetic_coverage
import ways


@pytest.mark.parametrize(("example", "pareto"), [(1, "AB"), (2, "A"), (3, "ACDH")])
def test_the_truths_have_the_papers_pareto_sets(example: int, pareto: str):
    names = synthetic.configured(example).setting.algorithms
    members = synthetic.true_duels(example).pareto
    assert "".join(names[i] for i in members) == pareto


def test_drawn_values_win_as_often_as_the_truth_says_and_do_not_depend_on_how_many_are_drawn():
    """3,000 instances: a share is off by more than 0.045 once in a million."""
    values = synthetic.drawn_values(1, 5, 3000)
    won = (values[:, 0] < values[:, 1]).mean(axis=0)
    assert np.abs(won - synthetic.true_duels(1).won[:, 0, 1]).max() < 0.045
    assert (synthetic.drawn_values(1, 5, 10) == values[:10]).all()


def test_a_race_by_default_puts_nobody_out_wrongly_and_says_what_it_cost():
    """One seed, fixed."""
    row = synthetic.one_race({"example": 1, "way": "default", "seed": 0})
    assert row["wrong"] == 0
    assert row["kept"] == row["members"] == 2
    assert row["evaluations"] <= 5 * 20 * row["instances"]
    table = synthetic.summary([{"example": 1, "way": "default", "seed": 0, **row}], (1,), WAYS)
    assert [(line["way"], line["races"], line["right"]) for line in table] == [("default", 1, 1)]
    claims = synthetic.claims_of([{"example": 1, "way": "default", "seed": 0, **row}], (1,), WAYS)
    assert claims.failed == []


@pytest.mark.slow
def test_a_race_as_the_paper_has_it_goes_by_ratings_of_a_gp(monkeypatch: pytest.MonkeyPatch):
    """Two rounds of one seed: some of the clearly inferior are put out, by A, as in the paper."""
    monkeypatch.setattr(synthetic, "LIMIT", 16)
    monkeypatch.setattr(ways, "DRAWS", 2000)
    values = synthetic.drawn_values(1, 0, 16)
    strategy = synthetic.way_of("paper", 1)
    assert (strategy.options.model, strategy.options.dependence) == ("gp", "independent")
    assert (strategy.rules.elimination, strategy.heeds_duels) == ("joint", False)
    budget = synthetic.configured(1).budget
    names = synthetic.configured(1).setting.algorithms
    replayed = synthetic.raced(strategy, values, names, budget.times, budget.unit_times, 0)
    out = {(e.algorithm, e.by) for e in replayed.state.eliminated}
    assert out
    assert out <= {("C", "A"), ("D", "A"), ("E", "A")}


def test_intervals_of_the_default_model_cover_the_truth():
    """Two samples of 40 instances, 400 correlated pair-times each: fixed seeds."""
    (row,) = synthetic_coverage.table(1, 2, (40,))
    assert row["within 95 % intervals"] > 0.9


WAYS = synthetic.WAYS
