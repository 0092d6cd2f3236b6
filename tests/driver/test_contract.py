"""Contract algorithms: one run for each contract time, composed to one algorithm of the race."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import polarbear as pb
from polarbear.store import StoreOnDisk
from polarbear.store.runs import Reason
from tests.support import ANNEALING

# The value of a run depends on its budget alone: it is as good as its plan at its end, and bad
# before. The fixed algorithm has the value 1 / t at any time.
CODE = """
def planner(problem, seed):
    budget = problem.budget
    for t in range(1, int(budget) + 1):
        problem.report(t, LATE if t < budget else 0.5 / budget)

LATE = 10.0

def fixed(problem, seed):
    t = 0
    while True:
        t += 1
        problem.report(t, 1 / t)

def seeds(problem, seed):
    problem.report(1, float(seed))
    problem.report(problem.budget, float(seed))

def nothing(problem):
    return 0.0
"""
CONTRACT = {"contract": True}


def configuration(folder: Path, times: list[float], **contract: object) -> dict[str, object]:
    (folder / "algorithms.py").write_text(CODE)
    function = f"{folder / 'algorithms.py'}:"
    return {
        "algorithms": [
            {"name": "planner", "use": "python", "function": function + "planner", **contract},
            {"name": "fixed", "use": "python", "function": function + "fixed"},
        ],
        "instances": {"suite": "classic", "count": 3},
        "budget": {"grid": times},
        "execution": {"workers": 1, "check": False, "early": 0},
    }


TIMES = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 100.0, 130.0, 160.0, 180.0, 200.0]
EIGHT = [1.0, 4.0, 8.0, 32.0, 64.0, 130.0, 160.0, 200.0]


def values_of(store: pb.Store, name: str, times: list[float] = TIMES) -> list[float]:
    """The values of an algorithm on the first problem at some times."""
    grid = StoreOnDisk.open(store.path).on_grid(np.array(times), [name])
    return grid.values[0, 0].tolist()


def test_each_contract_time_has_a_run_with_its_own_budget_and_seed(tmp_path):
    store = pb.run(configuration(tmp_path, TIMES, **CONTRACT), tmp_path / "store")
    runs = store.runs().filter(algorithm="planner")
    on_first = runs.filter(instance=runs["instance"][0]).sort("budget")
    assert on_first["budget"].to_list() == EIGHT
    assert on_first["seed"].n_unique() == on_first["run"].n_unique() == len(EIGHT)
    assert store.result.executed == 3 * (len(EIGHT) + 1)
    again = pb.run(configuration(tmp_path, TIMES, **CONTRACT), tmp_path / "store")
    assert (again.result.executed, again.result.present) == (0, 27)
    # Its value is that of the run with the largest budget by then, also between contract times.
    expected = [0.5 / max(budget for budget in EIGHT if budget <= t) for t in TIMES]
    assert values_of(store, "planner") == expected
    assert values_of(store, "planner", [0.5, 3.0]) == [pytest.approx(np.nan, nan_ok=True), 0.5]


def test_a_shorter_run_that_was_better_does_not_count(tmp_path):
    settings = configuration(tmp_path, [1.0, 2.0, 4.0], **CONTRACT)
    worse = CODE.replace("0.5 / budget", "0.5 * budget")
    (tmp_path / "algorithms.py").write_text(worse)
    store = pb.run(settings, tmp_path / "store")
    assert values_of(store, "planner", [1.0, 2.0, 3.0, 4.0]) == [0.5, 1.0, 1.0, 2.0]


def test_a_missing_run_leaves_its_span_empty(tmp_path):
    settings = configuration(tmp_path, [1.0, 2.0, 4.0], **CONTRACT)
    store = pb.run(settings, tmp_path / "store")
    disk = StoreOnDisk.open(store.path)
    middle = disk.all_runs().filter((pl.col("algorithm") == "planner") & (pl.col("budget") == 2))
    with disk.writing():
        disk.set_aside.add(middle, Reason.FORGOTTEN)
    values = disk.on_grid(np.array([1.0, 2.0, 3.0, 4.0]), ["planner"]).values[0, 0]
    np.testing.assert_array_equal(values, [0.5, np.nan, np.nan, 0.125])
    reached = {run.reached for run, _, _ in disk.trajectories(["planner"])}
    assert reached == {1.0}


def test_a_race_decides_at_contract_times(tmp_path):
    """The planner is better at its contract times, and at 3, where its value is carried, worse."""
    settings = configuration(tmp_path, [1.0, 2.0, 3.0, 4.0], contract={"points": 2})
    store = pb.race(settings, tmp_path / "store")
    standings = store.standings()
    assert standings.pareto_set == ("planner",)
    assert [out.by for out in standings.eliminated] == ["planner"]
    # Without a contract one run to the end is judged at all times, and looks worse at the first.
    without = pb.race(configuration(tmp_path, [1.0, 2.0, 3.0, 4.0]), tmp_path / "without")
    assert without.standings().pareto_set == ("planner", "fixed")


def test_a_preference_for_one_time_needs_one_run(tmp_path):
    settings = configuration(tmp_path, TIMES, **CONTRACT)
    store = pb.race(settings, tmp_path / "store", preference="at 100")
    budgets = set(store.runs().filter(algorithm="planner")["budget"])
    assert budgets == {64.0}
    assert store.result.purposes[0].choice == "planner"  # 0.5 / 64 against 1 / 100
    wider = pb.race(settings, tmp_path / "store")
    assert set(wider.runs().filter(algorithm="planner")["budget"]) == set(EIGHT)
    # The runs at other times are made on the problems of the first race, too.
    first = wider.instances()["instance"][0]
    assert len(wider.runs().filter(algorithm="planner", instance=first)) == len(EIGHT)


def rounds_of(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted((folder / "rounds").glob("round-*.json"))]


def test_a_race_that_is_interrupted_after_any_round_ends_the_same(tmp_path):
    settings = configuration(tmp_path, TIMES, **CONTRACT)
    whole = pb.race(settings, tmp_path / "whole")
    for limit in (1, 2, 3):
        limited = {**settings, "race": {"limits": {"rounds": limit}}}
        pb.race(limited, tmp_path / "parts")
    parts = pb.race(settings, tmp_path / "parts")
    assert rounds_of(tmp_path / "parts") == rounds_of(tmp_path / "whole")
    assert parts.standings().pareto_set == whole.standings().pareto_set
    record = json.loads(rounds_of(tmp_path / "whole")[0])
    assert record["state"]["contracts"]["planner"] == EIGHT
    assert record["ran_at"]["planner"] == EIGHT


def test_speculative_runs_and_workers_change_nothing(tmp_path):
    settings = configuration(tmp_path, TIMES, **CONTRACT)
    pb.race(settings, tmp_path / "one")
    busy = {**settings, "execution": {"workers": 2, "check": False, "early": 4}}
    pb.race(busy, tmp_path / "two")
    assert rounds_of(tmp_path / "one") == rounds_of(tmp_path / "two")


def test_a_newcomer_with_a_contract_catches_up(tmp_path):
    settings = configuration(tmp_path, TIMES)
    settings["algorithms"][0]["name"] = "told all"
    pb.race(settings, tmp_path / "store")
    entry = {**settings["algorithms"][0], "name": "planner", **CONTRACT}
    settings["algorithms"].append(entry)
    store = pb.race(settings, tmp_path / "store", add=["planner"])
    # With all of the budget it does what the other one does that is told about all of it.
    assert store.standings().pareto_set == ("told all", "planner")
    assert [out.algorithm for out in store.standings().eliminated] == ["fixed"]


def test_a_contract_that_is_switched_on_asks_to_decide_again(tmp_path):
    settings = configuration(tmp_path, TIMES)
    pb.race(settings, tmp_path / "store")
    with_contract = configuration(tmp_path, TIMES, **CONTRACT)
    with pytest.raises(pb.PolarBearError, match="contract"):
        pb.race(with_contract, tmp_path / "store")
    with pytest.raises(pb.PolarBearError, match="use --rerun planner"):
        pb.race(with_contract, tmp_path / "store", keep=["planner"], redecide=True)
    store = pb.race(with_contract, tmp_path / "store", redecide=True)
    assert store.standings().pareto_set == ("planner",)
    assert set(store.runs().filter(algorithm="planner")["budget"]) <= set(EIGHT)
    # More points keep the runs, and decide again.
    more = configuration(tmp_path, TIMES, contract={"points": 12})
    with pytest.raises(pb.PolarBearError, match="contract times are others"):
        pb.race(more, tmp_path / "store")
    before = set(store.runs()["run"])
    after = pb.race(more, tmp_path / "store", redecide=True)
    assert before <= set(after.runs()["run"])


def test_more_problems_run_every_contract_time(tmp_path):
    settings = configuration(tmp_path, TIMES, **CONTRACT)
    pb.race(settings, tmp_path / "store")
    store = pb.race(settings, tmp_path / "store", more=2)
    last = store.instances()["instance"][-1]
    assert len(store.runs().filter(algorithm="planner", instance=last)) == len(EIGHT)


def test_common_seeds_are_those_of_the_problem(tmp_path):
    settings = configuration(tmp_path, [1.0, 2.0, 4.0], **CONTRACT)
    store = pb.run({**settings, "seeds": "common"}, tmp_path / "store")
    assert store.runs().group_by("instance").agg(pl.col("seed").n_unique())["seed"].max() == 1


def test_a_failed_run_of_one_budget_can_be_repeated_alone(tmp_path):
    settings = configuration(tmp_path, [1.0, 2.0, 4.0], **CONTRACT)
    broken = CODE.replace(
        "    budget = problem.budget\n",
        "    budget = problem.budget\n    if budget == 2: raise ValueError('no plan for 2')\n",
        1,
    )
    (tmp_path / "algorithms.py").write_text(broken)
    store = pb.run(settings, tmp_path / "store")
    assert store.result.failed_runs == 3
    (tmp_path / "algorithms.py").write_text(CODE)
    store = pb.run(settings, tmp_path / "store", retry_failed=True, keep=["planner", "fixed"])
    assert (store.result.executed, store.result.failed_runs) == (3, 0)


TIMES_OF_ANNEALING = [25, 50, 100, 200, 400, 800]


def annealing(seed: int, **contract: object) -> dict[str, object]:
    """Simulated annealing that cools down for its budget, and with a fixed plan for 400."""
    entry = {"use": "python", "function": f"{ANNEALING}:annealing"}
    return {
        "seed": seed,
        "algorithms": [
            {"name": "cooling", **entry, **contract},
            {"name": "fixed", **entry, "options": {"plans": False}},
        ],
        "instances": {"suite": "classic"},
        "budget": {"grid": TIMES_OF_ANNEALING},
        "execution": {"check": False, "early": 0},
        "race": {"limits": {"instances": 250}},
    }


def win_rates(store: pb.Store) -> np.ndarray:
    """How often cooling beats the fixed plan at each time."""
    times = np.array(TIMES_OF_ANNEALING, dtype=float)
    values = StoreOnDisk.open(store.path).on_grid(times, ["cooling", "fixed"]).values
    cooling = values[:, 0]
    fixed = values[:, 1]
    wins = (cooling < fixed) + 0.5 * (cooling == fixed)
    return np.nanmean(np.where(np.isnan(cooling + fixed), np.nan, wins), axis=0)


@pytest.mark.slow
def test_annealing_is_ranked_as_runs_with_each_budget_are(tmp_path):
    """The truth is that of other problems, on which it was given each budget, and no other seed."""
    truth = win_rates(pb.run(annealing(99, contract=True), tmp_path / "truth", instances=200))
    is_clear = abs(truth - 0.5) > 0.1
    assert is_clear[1:4].all()
    assert (truth[1:4] > 0.6).all()
    store = pb.race(annealing(1, contract=True), tmp_path / "contract")
    leaders = {
        t: span.algorithms[0]
        for span in store.standings().recommended
        for t in TIMES_OF_ANNEALING
        if span.start <= t <= span.stop
    }
    for t, rate in zip(TIMES_OF_ANNEALING, truth, strict=True):
        if abs(rate - 0.5) > 0.1:
            assert leaders[t] == ("cooling" if rate > 0.5 else "fixed")
    # One run that is given all is far from its best at early times, and seems to be worse there.
    without = win_rates(pb.run(annealing(1), tmp_path / "without", instances=100))
    assert (without[2:4] < 0.5).all()


def test_a_gate_compares_contracts_at_the_times_that_they_share(tmp_path):
    """Between them one of the two is out of date, which is no loss of the other's code."""
    settings = configuration(tmp_path, TIMES, **CONTRACT)
    planner = settings["algorithms"][0]
    settings["algorithms"] = [planner, {**planner, "name": "fewer", "contract": {"points": 3}}]
    result = pb.gate(
        settings, baseline="planner", candidate="fewer", store=tmp_path / "store", instances=16
    )
    assert result.to_dict()["verdict"] == "identical"


@pytest.mark.parametrize(
    ("contract", "words"),
    [
        ("yes please", "contract: expected true, false or {points: K}, found 'yes please'"),
        ({"points": 1}, "contract.points: input should be greater than or equal to 2, found 1"),
        ({"point": 3}, "unknown key 'point'; did you mean 'points'?"),
    ],
)
def test_an_invalid_contract_is_refused_in_one_line(tmp_path, contract, words):
    settings = configuration(tmp_path, TIMES, contract=contract)
    with pytest.raises(pb.PolarBearError) as refusal:
        pb.run(settings, tmp_path / "store")
    assert words in str(refusal.value)
    assert not (tmp_path / "store").exists()
