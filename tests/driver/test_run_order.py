"""The order in which missing runs are made."""

from itertools import groupby
from pathlib import Path

from polarbear.config.configuration import parse
from polarbear.driver.collect import RUNS_IN_A_ROW, RunPlan
from polarbear.settings.options import Source
from polarbear.store import StoreOnDisk

N_INSTANCES = RUNS_IN_A_ROW + 8


def algorithms_in_order(folder: Path, axis: str) -> list[str]:
    """The names of two algorithms of a user and two of PolarBear's, in the order of their runs."""
    (folder / "mine.py").write_text("def solve(problem, seed):\n    problem(problem.lower)\n")
    mine = {"use": "python", "function": f"{folder}/mine.py:solve"}
    entries = [
        {"name": "mine", **mine},
        {"name": "random", "use": "random-search"},
        {"name": "other", **mine},
        {"name": "again", "use": "random-search"},
    ]
    grid = [1] if axis == "seconds" else [10]
    config = parse(
        {
            "algorithms": entries,
            "instances": {"suite": "classic"},
            "budget": {"axis": axis, "grid": grid},
        },
        Source("test"),
    )
    store = StoreOnDisk.create(folder / "s", config.stored())
    instances = [config.instances.instance(i, config.setting) for i in range(N_INSTANCES)]
    tasks = RunPlan(config, store).missing({}, instances)
    assert len({(task.algorithm.name, task.instance.id) for task in tasks}) == len(tasks)
    return [task.algorithm.name for task in tasks]


def test_an_algorithm_of_a_user_makes_several_runs_in_a_row(tmp_path: Path):
    rows = [
        (name, len([*group]))
        for name, group in groupby(algorithms_in_order(tmp_path, "evaluations"))
    ]
    of_users = [row for row in rows if row[0] in ("mine", "other")]
    assert of_users == [
        ("mine", RUNS_IN_A_ROW),
        ("other", RUNS_IN_A_ROW),
        ("mine", 8),
        ("other", 8),
    ]


def test_algorithms_take_turns_where_seconds_are_measured(tmp_path: Path):
    names = algorithms_in_order(tmp_path, "seconds")
    assert names == ["again", "mine", "other", "random"] * N_INSTANCES
