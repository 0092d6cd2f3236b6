"""The paper's second case study, on populations made by hand."""

from pathlib import Path

import classical
import mabbob
import mabbob_truth
import numpy as np
import population_races as races
import pytest
from populations import Population, make, read

from polarbear.racing.rules import Rules

NAMES = ("CSA", "MSR", "TPA", "XNES", "MXNES", "LPXNES", "RS")
TIMES = np.array([100.0, 500.0, 5000.0, 60_000.0])


def population(size: int = 60) -> Population:
    """MXNES is first early, CSA then, XNES at the end; the others are worse in their order."""
    rng = np.random.default_rng(1)
    worse = {"CSA": 0, "MSR": 5, "TPA": 2, "XNES": 0, "MXNES": 0, "LPXNES": 6, "RS": 9}
    bonus = {"MXNES": (3, 3, -1, -1), "CSA": (0, 0, 3, 0), "XNES": (-1, -1, 0, 3)}
    levels = np.array([np.full(4, worse[n]) - np.array(bonus.get(n, (0,) * 4)) for n in NAMES])
    values = 10.0 ** (levels - 2 + rng.standard_normal((size, len(NAMES), 4)))
    return Population(NAMES, TIMES, np.linspace(0, 1, 4), values)


def test_leaders_and_crossings_are_those_that_were_put_in():
    people = population()
    assert [mabbob_truth.leader(people, t) for t in TIMES] == ["MXNES", "MXNES", "CSA", "XNES"]
    assert mabbob_truth.crossing(people, "CSA", "XNES") == 60_000
    assert mabbob_truth.crossing(people, "XNES", "CSA") == np.inf
    assert mabbob_truth.crossing(people, "RS", "CSA") == 100


def test_who_is_clearly_beaten_is_beaten_by_one_and_the_same_at_every_time():
    assert set(mabbob_truth.clearly_beaten(population(), 0.05)) >= {"MSR", "LPXNES", "RS"}
    assert not {"CSA", "XNES", "MXNES"} & set(mabbob_truth.clearly_beaten(population(), 0.05))


def test_ties_are_broken_by_the_place_in_the_list_and_nothing_else_changes():
    values = np.array([[[1.0], [1.0], [0.5], [2.0]]])
    assert mabbob.without_ties(values, reverse=False)[0, :, 0].argsort().tolist() == [2, 0, 1, 3]
    assert mabbob.without_ties(values, reverse=True)[0, :, 0].argsort().tolist() == [2, 1, 0, 3]


def test_targets_count_by_orders_of_magnitude_and_time_linearly():
    assert classical.shares(np.array([1e3, 1e2, 1e-3, 1e-8, 0.0])).tolist() == [0, 0, 0.5, 1, 1]
    values = np.array([[[1e2, 1e-3, 1e-8]]])
    areas = classical.areas(values, np.array([0.0, 1.0, 4.0]))
    assert areas[0, 0] == pytest.approx((0 * 1 + 0.5 * 3) / 4)


def test_attainment_is_the_share_of_runs_at_or_below_a_target_as_moocore_has_it():
    import moocore

    runs = np.array([[[10.0, 1.0]], [[100.0, 1e-4]], [[1.0, 1e-6]]])  # three of one algorithm
    attained = classical.attained(runs)[0]
    points = np.array([[float(k), runs[i, 0, k]] for i in range(3) for k in range(2)])
    surface = moocore.eaf(points, sets=np.repeat([1, 2, 3], 2), percentiles=[200 / 3])
    for k, level in ((0, 10.0), (1, 1e-4)):  # the levels that two of three runs reach by time k
        reached = surface[surface[:, 0] <= k][:, 1].min()
        assert reached == level
        assert attained[k][level * (1 - 1e-9) <= classical.TARGETS].min() == pytest.approx(2 / 3)
        assert attained[k][level * (1 - 1e-9) > classical.TARGETS].max() < 2 / 3


@pytest.mark.parametrize("name", ["default", "paper"])
def test_a_race_finds_the_set_and_says_what_it_saved(name, tmp_path, monkeypatch):
    """One seed, fixed; clear differences."""
    monkeypatch.setattr(mabbob, "LIMIT", 48)
    people = population()
    rules = Rules(elimination="pointwise", resolution="strict", guarantee="none")
    row = {"way": name, "seed": 0, **mabbob.one_race({"way": name, "seed": 0}, people, rules)}
    assert {"CSA", "XNES", "MXNES"} <= set(row["left"])
    assert {e["who"] for e in row["eliminated"]} >= {"MSR", "LPXNES", "RS"}
    assert not any(e["wrong"] for e in row["eliminated"])
    assert sum(row["by_algorithm"].values()) == pytest.approx(row["evaluations"])
    assert row["saved_of_as_many"] > 0
    assert row["selections"]["uniform"]["mean"] in row["left"]
    ways = {name: mabbob.way_of(name, rules)}
    table = races.summary([row], people, ways, mabbob.PAPER, "XNES")
    assert (table[0]["way"], table[0]["races"], table[0]["XNES kept"]) == (name, 1, 1)
    assert races.eliminations([row])[0]["algorithm"] == row["eliminated"][0]["who"]
    assert races.selections([row])[0]["preference"] == "uniform"
    assert "XNES" in mabbob_truth.written(people, tmp_path)
    assert "CSA" in classical.written(people, tmp_path)
    assert {"truth.csv", "truth.png", "ecdf.csv", "aocc.csv", "eaf.csv"} <= {
        p.name for p in tmp_path.iterdir()
    }


def test_a_population_is_made_by_one_command_and_reading_it_leaves_it_as_it_was(tmp_path: Path):
    config = tmp_path / "s.yaml"
    config.write_text(
        "seed: 1\nalgorithms:\n  - {name: A, use: synthetic}\n  - {name: B, use: synthetic}\n"
        "instances: {suite: synthetic}\nbudget: {grid: [1, 10]}\n"
    )
    store = tmp_path / "store"
    make(config, store, 3)
    before = sorted(path.name for path in store.rglob("*"))
    people = read(store)
    assert people.values.shape == (3, 2, 2)
    assert people.names == ("A", "B")
    assert sorted(path.name for path in store.rglob("*")) == before
