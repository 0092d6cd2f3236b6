"""The looks of a gate: up to a limit of instances, or as long as time permits."""

import json

from polarbear.regression.look_plans import LimitPlan, TimePlan
from tests.support import Project, solver


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def plan_of(seconds: float, seconds_per_instance: float, limit: int | None = None):
    """The sizes and shares of a plan, and the time that it takes."""
    clock = Clock()
    plan = TimePlan(seconds, limit, clock)
    sizes = []
    shares = []
    for size in iter(plan.next_size, None):
        clock.now += seconds_per_instance * (size - (sizes[-1] if sizes else 0))
        sizes.append(size)
        shares.append(plan.share())
    return sizes, shares, clock.now - 100


def test_a_plan_with_a_limit_ends_there_with_the_whole_error():
    plan = LimitPlan(100)
    sizes = []
    shares = []
    for size in iter(plan.next_size, None):
        sizes.append(size)
        shares.append(plan.share())
    assert sizes == [8, 16, 24, 32, 40, 50, 62, 77, 96, 100]
    assert shares == [size / 100 for size in sizes]


def test_batches_fill_the_time_and_do_not_exceed_it():
    sizes, shares, seconds = plan_of(60, seconds_per_instance=0.5)
    assert 55 <= seconds <= 60
    assert sizes[-1] >= 110
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert shares[0] == 8 * 0.5 / 60


def test_time_that_suffices_for_the_first_batch_only_makes_it_the_last():
    sizes, shares, _ = plan_of(5, seconds_per_instance=1)
    assert (sizes, shares) == ([8], [1.0])


def test_a_finite_suite_ends_a_plan_in_time():
    sizes, shares, seconds = plan_of(1000, seconds_per_instance=1, limit=30)
    assert sizes[-1] == 30
    assert shares[-1] == 1
    assert seconds == 30


def test_minutes_replace_the_number_of_instances(tmp_path):
    project = Project(tmp_path)
    project.configure(
        algorithms=[
            {**solver("coordinate_descent"), "name": "main"},
            {"name": "branch", "use": "random-search"},
        ],
        budget={"grid": {"from": 5, "to": 20, "points": 3}},
        race={"limits": {"instances": 8}},
    )
    versions = ("--baseline", "main", "--candidate", "branch", "--json")
    done = project("gate", "config.yaml", *versions, "--minutes", "0.2", "--instances", "20")
    gate_result = json.loads(done.stdout)
    assert 8 <= gate_result["problems"] <= 20
    assert done.returncode in (0, 4)
    error = project.refused("gate", "config.yaml", *versions, "--minutes", "0")
    assert "--minutes is a number above 0" in error
