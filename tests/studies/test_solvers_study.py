"""Which solver when: sets that agree, primal integrals, heuristics, and a whole run."""

import sys
from pathlib import Path

import numpy as np
import pytest
import solvers
from dispatching import schedule
from populations import Population

import polarbear
from polarbear.problems.job_shop import Jobs, classical_job_shops
from polarbear.store import StoreOnDisk
from tests.support import solver

TIMES = np.array([1.0, 10.0])


def population(shares: dict[str, tuple[float, float]]) -> Population:
    """100 instances on which each algorithm beats 'base' on these shares, at two times."""
    values = np.zeros((100, len(shares) + 1, 2))
    for column, ends in enumerate(shares.values(), 1):
        for k, share in enumerate(ends):
            wins = np.arange(100) < 100 * share
            values[:, column, k] = np.where(wins, -column, column)
    return Population(("base", *shares), TIMES, np.array([0.0, 1.0]), values)


def test_a_set_agrees_if_it_differs_only_by_what_the_rope_allows():
    people = population({"worse": (0.2, 0.3), "late": (0.2, 0.9)})
    assert solvers.agrees(["base", "late"], people)
    assert not solvers.agrees(["base", "late", "worse"], people), "worse is beaten"
    assert not solvers.agrees(["base"], people), "late is the best at the end"
    near = population({"nearly": (0.47, 0.46)})
    assert solvers.agrees(["base", "nearly"], near)
    assert solvers.agrees(["base"], near)


def test_a_primal_integral_is_one_before_there_is_a_value_and_then_the_gap(tmp_path: Path):
    config = {
        "algorithms": [
            solver("knows_a_folder", "north", folder="north"),
            solver("knows_a_folder", "south", folder="south"),
        ],
        "instances": {"suite": "files", "names": ["north/0"]},
        "budget": {"axis": "steps", "grid": [10, 100]},
    }
    polarbear.run(config, tmp_path / "store", workers=1)
    integrals = solvers.primal_integrals(StoreOnDisk.open(tmp_path / "store"))
    # The gap is 1 up to t = 50, and then 0 (the best value is 0) or 1 (0.5 against 0).
    assert integrals["north"]["north/0"] == pytest.approx(0.5)
    assert integrals["south"]["north/0"] == pytest.approx(1.0)


def test_pairs_disagree_where_the_smaller_integral_wins_fewer_duels():
    people = population({"often": (0.9, 0.9)})
    integrals = {"base": {"i": 0.1}, "often": {"i": 0.2}}
    (row,) = solvers.disagreements(integrals, people)
    assert (row["smaller integral"], row["more duels won"]) == ("base", "often")
    assert solvers.disagreements({"base": {"i": 0.3}, "often": {"i": 0.2}}, people) == []


@pytest.mark.parametrize("rule", ["shortest", "most-work"])
def test_dispatching_makes_schedules_between_the_bound_and_one_job_after_the_other(rule: str):
    rng = np.random.default_rng(1)
    for name in ("ft06", "la01", "swv01"):
        shop = classical_job_shops()[name]
        total = sum(map(sum, shop.jobs.durations))
        makespans = [schedule(shop.jobs, rule, rng) for _ in range(5)]
        assert shop.lower_bound <= min(makespans) <= max(makespans) < total
    one_job = Jobs(durations=((3, 4),), machines=((1, 0),))
    assert schedule(one_job, rule, rng) == 7


@pytest.mark.slow
@pytest.mark.peer
def test_the_study_runs_and_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    arguments = ["--quick", "--races", "5", "--stores", tmp_path / "stores", "--out", tmp_path]
    monkeypatch.setattr(sys, "argv", ["solvers.py", *map(str, arguments)])
    assert solvers.main() in (0, 1), "so few instances prove nothing"
    page = (tmp_path / "result.md").read_text()
    for part in ("mip", "job-shop", "cvrp"):
        assert f"\n## {part}\n" in page
        assert f"{part}: the race with new seeds ends with" in page

    monkeypatch.setattr(solvers.races, "one_race", None)  # nothing is done again
    assert solvers.main() in (0, 1)
    assert (tmp_path / "result.md").read_text() == page
