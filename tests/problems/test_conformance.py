"""Every suite in the registry keeps the promises of the base."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polarbear.problems import SUITES, Kind, Problem, Setting, Suite
from polarbear.settings.grid import Budget
from tests.support import SOLVERS

OPTIONS: dict[str, dict[str, Any]] = {
    "files": {"names": [f"file-{i}.tsp" for i in range(30)]},
    "gp-bbob": {"dimension": {"mean": 5, "sd": 2, "from": 2, "to": 9}},
    "python": {"function": f"{SOLVERS}:bowl"},
    "wfg": {"dimensions": [12, 14, 24]},
    "zdt": {"dimensions": [5, 10, 20, 30]},
}
NEEDS_IOH = {"pbo"}
NEED_PYMOO = {"dtlz", "wfg", "zdt"}
FILES = {Kind.MIP, Kind.JOB_SHOP, Kind.ROUTING}
SETTING = Setting(3, Budget(grid=(10.0, 100.0)), "/", ("A", "B"))


@pytest.fixture(
    params=[
        pytest.param(suite, marks=pytest.mark.peer if suite in NEED_PYMOO else ())
        for suite in SUITES
    ]
)
def suite(request: pytest.FixtureRequest) -> Suite:
    if request.param in NEEDS_IOH:
        pytest.importorskip("ioh", reason="ioh is not installed: pip install '.[bbob]'")
    suite_class = SUITES[request.param]
    return suite_class.model_validate({"suite": request.param, **OPTIONS.get(request.param, {})})


def test_ids_are_distinct_stable_and_independent_of_what_was_drawn_before(suite: Suite):
    forwards = [suite.instance(i, SETTING) for i in range(20)]
    backwards = [suite.instance(i, SETTING) for i in reversed(range(20))]
    assert forwards == backwards[::-1]
    assert len({instance.id for instance in forwards}) == 20


def test_another_seed_gives_another_stream(suite: Suite):
    other = Setting(4, SETTING.budget, SETTING.folder, SETTING.algorithms)
    assert [suite.instance(i, SETTING).spec for i in range(20)] != [
        suite.instance(i, other).spec for i in range(20)
    ]


def test_a_spec_survives_json_and_rebuilds_the_same_problem(suite: Suite):
    spec = suite.instance(0, SETTING).spec
    restored_spec = json.loads(json.dumps(dict(spec)))
    assert restored_spec == dict(spec)
    first = suite.build(spec, SETTING)
    second = suite.build(restored_spec, SETTING)
    if suite.offers() is Kind.NAME:
        assert first == second == spec["name"]
    elif suite.offers() in FILES:
        text = Path(first).read_bytes()
        Path(first).unlink()
        rebuilt = suite.build(restored_spec, SETTING)
        assert text == Path(rebuilt).read_bytes()
    elif suite.offers() is Kind.SCORES:
        trajectories = zip(first.trajectory("A"), second.trajectory("A"), strict=True)
        for first_values, second_values in trajectories:
            assert first_values.tobytes() == second_values.tobytes()
    else:
        assert isinstance(first, Problem)
        rng = np.random.default_rng(0)
        for _ in range(5):
            x = rng.uniform(first.lower, first.upper)
            if suite.offers() is Kind.INTEGER:
                x = rng.integers(first.lower, first.upper, endpoint=True)
            outcome = first.evaluate(x)
            value = outcome[0] if isinstance(outcome, tuple) else outcome
            assert np.all(np.isfinite(value))
            assert outcome == second.evaluate(x)


class Numbers(Suite):
    """A finite suite whose problems are in a meaningful order."""

    kind = Kind.NAME

    def size(self, setting: Setting) -> int:
        return 30

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Any]:
        return f"{index:02}", {"number": index}

    def build(self, spec: Any, setting: Setting) -> str:
        return str(spec["number"])


class InOrder(Numbers):
    has_own_order = True


def ids(suite: Suite, seed: int) -> list[str]:
    setting = Setting(seed, SETTING.budget)
    return [suite.instance(index, setting).id for index in range(30)]


def test_a_finite_suite_is_shuffled_by_the_seed_unless_it_has_an_order_of_its_own():
    in_order = [f"{number:02}" for number in range(30)]
    shuffled = ids(Numbers(suite="numbers"), seed=1)
    assert sorted(shuffled) == in_order
    assert shuffled != in_order
    assert shuffled == ids(Numbers(suite="numbers"), seed=1)
    assert shuffled != ids(Numbers(suite="numbers"), seed=2)
    assert ids(InOrder(suite="numbers"), seed=1) == in_order
