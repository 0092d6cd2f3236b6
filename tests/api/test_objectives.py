"""Problems with several objectives, from their runs to decisions."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import polarbear as pb
from polarbear.errors import ConfigError
from polarbear.store import StoreOnDisk
from polarbear.store.verify import verify

PROBLEM = """
import math
import random


class Problem:
    lower = [0.0, 0.0]
    upper = [1.0, 1.0]

    def __init__(self, centre):
        self.centre = centre

    def __call__(self, x):
        first = (x[0] - self.centre) ** 2 + x[1] ** 2
        second = (x[0] - 1) ** 2 + (x[1] - self.centre) ** 2
        return first, second


class Stretched(Problem):
    def __call__(self, x):
        first, second = super().__call__(x)
        return math.exp(first) - 7.0, second**3


class Negated(Problem):
    def __call__(self, x):
        first, second = super().__call__(x)
        return -first, -second


class Constrained(Problem):
    def __call__(self, x):
        return super().__call__(x), [x[0] + x[1] - self.centre]


class Vector(Problem):
    def __call__(self, x):
        return (super().__call__(x)[0],)


class Single(Problem):
    def __call__(self, x):
        return super().__call__(x)[0]


KINDS = {
    "plain": Problem,
    "stretched": Stretched,
    "negated": Negated,
    "constrained": Constrained,
    "vector": Vector,
    "single": Single,
}


def make(seed, kind="plain"):
    return KINDS[kind](random.Random(seed).random())


def near(problem, seed, spread=0.1):
    rng = random.Random(seed)
    while True:
        problem([rng.gauss(0.5, spread), rng.gauss(0.3, spread)])


def search(problem, seed):
    rng = random.Random(seed)
    while True:
        problem([rng.random(), rng.random()])


def reporting(problem, seed):
    problem.report(1, [5.0, 5.0], violation=2.0)
    problem.report(2, (9.0, 3.0))
    problem.report(3, [1.0, 1.0], violation=0.5)
    problem.report(4, [3.0, 9.0])
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "front_problem.py").write_text(PROBLEM)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("front_problem", None)


def configuration(kind: str = "plain", **changes: Any) -> dict[str, Any]:
    function = "front_problem.py:{}".format
    several = {} if kind in ("vector", "single") else {"objectives": 2}
    return {
        "algorithms": [
            {"name": "random", "use": "random-search"},
            {"name": "near", "use": "python", "function": function("near")},
            {"name": "search", "use": "python", "function": function("search")},
        ],
        "instances": {
            "suite": "python",
            "function": function("make"),
            "options": {"kind": kind},
            "count": 12,
            **several,
        },
        "budget": {"axis": "evaluations", "grid": [5, 20, 60]},
        "execution": {"workers": 1},
        **changes,
    }


def test_a_run_stores_the_points_that_entered_its_archive(folder: Path):
    store = pb.run(configuration(), "store")
    frame = store.trajectories(["random"])
    assert frame.columns == ["algorithm", "instance", "run_status", "t", "y1", "y2"]
    of_run = frame.filter(pl.col("instance") == "python-0").drop_nulls()
    assert of_run["t"].is_sorted()
    for row in range(1, len(of_run)):
        before = of_run[:row].select("y1", "y2").to_numpy()
        point = of_run.select("y1", "y2").to_numpy()[row]
        assert not (before <= point).all(axis=1).any()
    assert verify(folder / "store").sound
    assert store.runs()["best"].null_count() == 36


def test_larger_values_can_be_better_for_all_objectives(folder: Path):
    plain = pb.run(configuration(), "plain").trajectories(["near"])
    negated = configuration("negated")
    negated["instances"]["maximise"] = True
    frame = pb.run(negated, "negated").trajectories(["near"])
    assert frame.select(y1=-pl.col("y1"), y2=-pl.col("y2")).equals(plain.select("y1", "y2"))


@pytest.mark.parametrize("format", ["csv", "parquet"])
@pytest.mark.parametrize("kind", ["plain", "constrained"])
def test_exported_fronts_are_imported_as_they_were(folder: Path, format: str, kind: str):
    store = pb.run(configuration(kind), "store")
    store.export(format, f"runs.{format}")
    imported = pb.import_data(f"runs.{format}", "imported")
    times = np.array([5.0, 20.0, 60.0])
    grids = [StoreOnDisk.open(folder / name).on_grid(times) for name in ("store", "imported")]
    fronts = [grid.pick(grids[0].instances, ("near", "random")).fronts for grid in grids]
    assert fronts[0] is not None
    assert fronts[1] is not None
    for first, second in zip(fronts[0].ravel(), fronts[1].ravel(), strict=True):
        assert sorted(first.tolist()) == sorted(second.tolist())
    assert imported.trajectories().drop_nulls().height == store.trajectories().drop_nulls().height


def test_reports_have_values_and_violations(folder: Path):
    reporting = {"name": "reporting", "use": "python", "function": "front_problem.py:reporting"}
    store = pb.run(configuration(algorithms=[reporting]), "store")
    frame = store.trajectories().filter(pl.col("instance") == "python-0")
    assert frame["t"].to_list() == [1, 2, 4]
    assert frame["y1"].to_list() == [5, 9, 3]
    assert frame["violation"].to_list() == [2, 0, 0]


def test_a_program_prints_a_value_for_each_objective(folder: Path):
    program = folder / "program.py"
    program.write_text("print('1 5 5 2\\n2 9 3 0\\n3 1 1 0.5\\n4 3 9')")
    command = f"{sys.executable} program.py"
    entry = {"name": "program", "use": "command", "command": command}
    instances = {"suite": "files", "names": ["a"], "objectives": 2}
    store = pb.run(configuration(algorithms=[entry], instances=instances), "store")
    frame = store.trajectories()
    assert frame["y2"].to_list() == [5, 3, 9]
    assert frame["violation"].to_list() == [2, 0, 0]
    program.write_text("print('1 5')")
    store = pb.run(configuration(algorithms=[entry], instances=instances), "other")
    assert "is not 3 numbers 't y1 y2'" in store.runs()["message"][0]


def test_an_archive_can_be_bounded(folder: Path):
    bounded = configuration()
    bounded["instances"]["archive_size"] = 3
    pb.run(bounded, "store")
    disk = StoreOnDisk.open(folder / "store")
    fronts = disk.on_grid(np.array([60.0])).fronts
    assert fronts is not None
    assert {len(front) for front in fronts.ravel()} == {3}
    assert disk.settings.instances.options["archive_size"] == 3


def test_rows_with_columns_y1_and_y2_are_fronts_and_with_y1_alone_values(folder: Path):
    pl.DataFrame(
        {
            "algorithm": ["a"] * 3 + ["b"] * 2,
            "instance": ["x"] * 5,
            "t": [1, 2, 3, 1, 3],
            "y1": [3.0, 2.0, 4.0, 1.0, 5.0],
            "y2": [3.0, 4.0, 4.0, 9.0, 5.0],
        }
    ).write_csv("rows.csv")
    store = pb.import_data("rows.csv", "store")
    rows = store.trajectories().drop_nulls().select("algorithm", "t", "y1", "y2").rows()
    assert rows == [("a", 1, 3, 3), ("a", 2, 2, 4), ("b", 1, 1, 9), ("b", 3, 5, 5)]
    pl.read_csv("rows.csv").drop("y2").write_csv("one.csv")
    assert "y" in pb.import_data("one.csv", "one").trajectories().columns


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"trajectory": "last"}, "is for one objective"),
        ({"inference": {"model": "gp"}}, "needs a total order"),
        ({"race": {"tie_tolerance": 0.1}}, "a tolerance is for one value"),
        ({"algorithms": [{"name": "a", "use": "scipy", "method": "powell"}]}, "one objective; for"),
        ({"algorithms": [{"name": "a", "use": "random-search", "contract": True}]}, "one final"),
    ],
)
def test_what_needs_one_objective_is_refused(folder: Path, changes: dict[str, Any], reason: str):
    with pytest.raises(ConfigError, match=reason):
        pb.run(configuration(**changes), "store")
    assert not (folder / "store").exists()


def test_a_problem_with_more_values_than_configured_says_what_to_set(folder: Path):
    one = configuration()
    del one["instances"]["objectives"]
    store = pb.run(one, "store")
    assert "objectives: 2" in store.runs()["message"][0]


def race_configuration(kind: str = "plain", **rules: Any) -> dict[str, Any]:
    limits = {"limits": {"rounds": 2}}
    return configuration(kind, race={**limits, **rules}, inference={"draws": 400})


def decisions(result: Any) -> tuple[Any, ...]:
    facts = result.to_dict()
    eliminated = [
        (entry["algorithm"], entry["by"], entry["round"], entry["probability"])
        for entry in facts["eliminated"]
    ]
    return facts["pareto_set"], eliminated, facts["share_settled"], facts["incomparable"]


@pytest.mark.parametrize("duel", ["coverage", "dominance"])
def test_increasing_transformations_of_each_objective_decide_the_same(folder: Path, duel: str):
    plain = pb.race(race_configuration(duel=duel), "plain").standings()
    stretched = pb.race(race_configuration("stretched", duel=duel), "stretched").standings()
    assert decisions(plain) == decisions(stretched)
    assert plain.incomparable is not None
    assert len(plain.incomparable) == 3


def test_one_objective_as_a_vector_of_length_one_gives_the_same_race(folder: Path):
    single = pb.race(race_configuration("single"), "single")
    vector = pb.race(race_configuration("vector"), "vector")
    facts = [store.standings().to_dict() for store in (single, vector)]
    for of_store in facts:
        for key in ("store", "next"):
            del of_store[key]
        assert "incomparable" not in of_store
    assert facts[0] == facts[1]
    keys = ["algorithm", "instance", "t"]
    assert single.trajectories().sort(keys).equals(vector.trajectories().sort(keys))


@pytest.fixture
def raced(folder: Path) -> Any:
    return pb.race(race_configuration(), "raced")


def test_everything_after_a_race_works(raced: Any, folder: Path):
    inferred = raced.infer(draws=400).facts()
    assert len(inferred.incomparable) == 3
    assert "mean win rate" in inferred.table()[0][0]
    assert "incomparable duels: " in inferred.remarks()[0]
    assert raced.select("uniform").choice in raced.algorithms
    duels = raced.duels("near", "random")
    assert duels.wins_a + duels.wins_b + duels.ties == len(duels.duels)
    assert "incomparable" in duels.one_line()
    assert duels.times_as_long[0].median is None
    report = raced.report("page.html", png="figures")
    assert (folder / "page.html").stat().st_size > 10_000
    text = " ".join(report.text().split())
    assert "Incomparable duels: " in text
    assert "the one that weakly dominates the larger share of the other wins" in text


def test_a_portfolio_is_the_union_of_its_fronts(raced: Any):
    everything = raced.select("at 60", all=True, portfolio=3)
    single = raced.select("at 60", all=True, portfolio=1)
    assert everything.portfolio_values.startswith("win rates of the members' fronts together")
    assert everything.portfolio_has_winner is None
    # The union of all is at least as good as each of them, so it loses to none.
    assert everything.portfolio_ranking[0].mean > 0.5
    assert everything.portfolio_ranking[0].mean >= single.portfolio_ranking[0].mean


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.infer("dirichlet"),
        lambda store: store.select("uniform", value="firsts"),
        lambda store: store.select("uniform", value="theta"),
        lambda store: store.export("preflib", "rankings.soi"),
        lambda store: store.export("ioh", "ioh"),
        lambda store: store.compare(),
        lambda store: store.plot("ecdf"),
        lambda store: store.plot("aocc"),
        lambda store: store.plot("ratings"),
        lambda store: store.plot("key-rounds"),
    ],
)
def test_what_needs_a_total_order_or_a_value_is_refused_in_one_line(raced: Any, ask: Any):
    with pytest.raises(pb.errors.PolarBearError, match="with several objectives") as refusal:
        ask(raced)
    assert "\n" not in str(refusal.value)


def test_indicators_with_units_decide_races_too(folder: Path):
    for duel in ("hypervolume", "epsilon", "igd+"):
        store = pb.race(race_configuration(duel=duel), f"store-{duel}")
        assert store.standings().rounds >= 1
    with_reference = race_configuration(duel="hypervolume", reference=[2.0, 2.0])
    assert pb.race(with_reference, "reference").standings().rounds >= 1
    with pytest.raises(ConfigError, match="expected 2 objectives, found 1 number"):
        pb.race(race_configuration(duel="hypervolume", reference=[2.0]), "other")


def test_a_gate_compares_fronts(folder: Path):
    entries = configuration()["algorithms"]
    same = {**entries[1], "name": "same"}
    spread = {**entries[1], "name": "spread", "options": {"spread": 3.0}}
    config = configuration(algorithms=[entries[1], same, spread])
    gated = pb.gate(config, baseline="near", candidate="spread", store="gate", instances=40)
    facts = gated.to_dict()
    assert facts["verdict"] == "worse"
    assert facts["times_as_long"][0]["median"] is None
