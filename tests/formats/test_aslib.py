"""Scenarios of ASlib: runtimes and qualities, with features and their costs."""

from pathlib import Path

import pytest

import polarbear as pb
from polarbear.errors import ImportFailedError
from polarbear.facts.features import features
from polarbear.store import StoreOnDisk

DESCRIPTION = """
scenario_id: TEST
performance_measures: [runtime]
maximize: [false]
performance_type: [runtime]
algorithm_cutoff_time: 100
feature_steps:
  basic: {provides: [size, shape]}
"""
RUNS = """
% a comment
@RELATION runs
@ATTRIBUTE instance_id STRING
@ATTRIBUTE repetition NUMERIC
@ATTRIBUTE algorithm STRING
@ATTRIBUTE 'runtime' NUMERIC
@ATTRIBUTE runstatus {ok, timeout, memout, not_applicable, crash, other}
@DATA
'in,a',1,quick,0,ok
'in,a',1,slow,50.5,ok
b,1,quick,100,timeout
b,1,slow,20,ok
c,1,quick,?,crash
c,1,slow,?,timeout
"""
VALUES = """
@relation features
@attribute instance_id string
@attribute repetition numeric
@attribute size numeric
@attribute shape {round, flat}
@data
'in,a',1,3,round
b,1,7.5,?
"""
COSTS = """
@relation costs
@attribute instance_id string
@attribute repetition numeric
@attribute basic numeric
@attribute probing numeric
@data
'in,a',1,0.25,0.5
b,1,0.5,?
"""
FILES = {
    "description.txt": DESCRIPTION,
    "algorithm_runs.arff": RUNS,
    "feature_values.arff": VALUES,
    "feature_costs.arff": COSTS,
}


def scenario(folder: Path, **changes: str) -> Path:
    """A scenario in a folder; changes are by the first word of the name of a file."""
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(changes.get(name.partition(".")[0], text))
    return folder


def test_a_run_has_its_value_when_it_has_solved_the_instance(tmp_path: Path):
    store = pb.import_data(scenario(tmp_path / "aslib"), tmp_path / "s", "aslib", points=5)
    assert store.axis == "seconds"
    assert store.algorithms == ("quick", "slow")
    values = StoreOnDisk.open(store.path).on_grid(store.times)
    assert values.instances == ("in,a", "b", "c")
    times = store.times.tolist()
    for instance, name, solved in (("in,a", 1, 50.5), ("b", 1, 20), ("in,a", 0, 0), ("b", 0, 1e9)):
        row = values.instances.index(instance)
        expected = [0.0 if t >= solved else float("inf") for t in times]
        assert values.values[row, name].tolist() == expected
    duels = store.duels("quick", "slow", at=times[-1])
    assert (duels.wins_a, duels.wins_b) == (0, 1)


def test_features_and_the_sum_of_their_costs_are_stored(tmp_path: Path):
    store = pb.import_data(scenario(tmp_path / "aslib"), tmp_path / "s", "aslib", points=5)
    known = features(StoreOnDisk.open(store.path))
    assert known.column("size").values[:2].tolist() == [3, 7.5]  # type: ignore[union-attr]
    assert known.column("shape").values == ("round", None, None)
    assert known.costs.tolist() == [0.75, 0.5, 0]


def test_qualities_are_values_at_the_end_of_a_run(tmp_path: Path):
    description = DESCRIPTION.replace("[runtime]", "[quality]", 1).replace("[false]", "[true]")
    folder = scenario(
        tmp_path / "aslib",
        description=description.replace("[runtime]", "[solution_quality]"),
        algorithm_runs=RUNS.replace("'runtime'", "quality"),
    )
    store = pb.import_data(folder, tmp_path / "s", "aslib")
    assert store.times.tolist() == [1]
    assert store.duels("quick", "slow").wins_b == 1
    assert features(StoreOnDisk.open(store.path)).costs.tolist() == [0, 0]


def test_repetitions_of_an_instance_are_one_problem(tmp_path: Path):
    runs = f"{RUNS}b,2,quick,90,ok\nb,2,slow,95,ok\n"
    folder = scenario(tmp_path / "aslib", algorithm_runs=runs)
    store = pb.import_data(folder, tmp_path / "s", "aslib", points=5)
    disk = StoreOnDisk.open(store.path)
    assert disk.problems()["b#2"] == "b"
    assert features(disk).of(["b#1", "b#2"]).column("size").values.tolist() == [7.5, 7.5]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"description": "just a text"}, "has no 'performance_measures'"),
        ({"description": "a: [b"}, "is not YAML"),
        ({"algorithm_runs": RUNS + "x,1\n"}, "has 5 attributes, but a row of 2"),
        ({"algorithm_runs": RUNS.replace("instance_id", "name")}, "instance_id"),
        ({"algorithm_runs": RUNS.replace("50.5", "long")}, "could not convert"),
        ({"algorithm_runs": RUNS.partition("@DATA")[0]}, "no run in .* has a result"),
    ],
)
def test_an_invalid_scenario_is_refused_in_one_line(tmp_path: Path, changes, words: str):
    folder = scenario(tmp_path / "aslib", **changes)
    with pytest.raises(ImportFailedError, match=words) as refusal:
        pb.import_data(folder, tmp_path / "s", "aslib")
    assert len(str(refusal.value).splitlines()) == 1
    assert not (tmp_path / "s").exists()
