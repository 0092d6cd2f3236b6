"""Whether the first half of the problems differs from the second."""

import numpy as np

from polarbear.facts.order_drift import drift
from polarbear.rankings import rank
from tests.support import Project

NAMES = ("a", "b", "c")
TIMES = np.array([10.0, 100.0, 1000.0])


def population(rng: np.random.Generator) -> np.ndarray:
    """values[problem, algorithm, time] of 120 problems, sorted by the algorithm that is ahead."""
    noise = rng.standard_normal((120, len(NAMES), 1))
    values = noise + 0.5 * rng.standard_normal((120, len(NAMES), len(TIMES)))
    values[np.arange(120), np.repeat(np.arange(len(NAMES)), 40)] -= 2.0
    return values


def positions_of(values: np.ndarray) -> np.ndarray:
    return rank(values, ~np.isnan(values))


def test_problems_sorted_by_kind_drift_and_shuffled_ones_do_not():
    values = population(np.random.default_rng(3))
    found = drift(positions_of(values), NAMES, TIMES, seed=1)
    assert found is not None
    assert found.p <= 0.01
    assert abs(found.first_half - found.second_half) > 0.25
    assert found.words.startswith("the order of the problems matters: at ")
    found_in_random_order = [
        drift(positions_of(np.random.default_rng(seed).permutation(values)), NAMES, TIMES, seed)
        for seed in range(10)
    ]
    assert sum(entry is not None for entry in found_in_random_order) <= 1


def test_it_says_nothing_of_few_problems_or_of_equal_ones():
    values = population(np.random.default_rng(3))
    assert drift(positions_of(values[::20]), NAMES, TIMES, seed=1) is None
    assert drift(positions_of(np.zeros_like(values)), NAMES, TIMES, seed=1) is None


def test_absent_runs_are_no_losses():
    """The second algorithm was run on the first half only: no pair has both halves."""
    values = population(np.random.default_rng(3))[:, :2]
    values[len(values) // 2 :, 1] = np.nan
    assert drift(positions_of(values), NAMES[:2], TIMES, seed=1) is None


def test_a_race_in_a_given_order_warns_of_a_drift(project: Project):
    """The first algorithm wins on the first half of the names, the other one on the second."""
    names = [f"{number:02}" for number in range(40)]
    for order, is_warned in (("given", True), ("random", False)):
        project.configure(
            algorithms=[
                {"name": name, "use": "command", "command": command}
                for name, command in (
                    ("first", ["sh", "-c", "echo 1 {instance}"]),
                    ("second", ["echo", "1", "19.5"]),
                )
            ],
            instances={"suite": "files", "names": names, "order": order},
            budget={"axis": "iterations", "grid": [1]},
            race={"guarantee": "anytime", "alpha": 0.999},
            execution={"workers": 2, "check": False},
        )
        shown = project.race("config.yaml", "--store", order).stdout
        assert (
            "warning: the order of the problems matters: at 1 first beats" in shown
        ) is is_warned
        race = project.json("status", order)["race"]
        assert (race["drift"] is not None) is is_warned
