"""Almost valid input is accepted, or refused with an error of one or two lines.

Four thousand cases, always the same; benchmarks/fuzz.py tries others.
"""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

from polarbear.formats import FORMATS
from polarbear.store import StoreOnDisk
from tests.fuzz import grammars
from tests.fuzz.targets import Target, all_targets, ends_well, read_all, store_files

# A generator whose draws Hypothesis chooses, and lowers to shrink a failing case.
GENERATORS = st.randoms(use_true_random=False)
IMPORTS = [f"import {name}" for name in FORMATS]
TARGETS = ["configuration", "preference", "preference file", *IMPORTS]


def feed_cases(target: Target, folder: Path, count: int) -> set[bool]:
    """Feed cases to a target, drawn by Hypothesis; return how they ended."""
    ends: set[bool] = set()

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=GENERATORS.map(target.make))
    def feed(case):
        ends.add(ends_well(target.feed, case, folder))

    feed()
    return ends


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_any_input_is_accepted_or_refused_in_one_or_two_lines(tmp_path, name, capfd):
    target = all_targets(tmp_path)[name]
    assert feed_cases(target, tmp_path, target.share) == {True, False}
    assert capfd.readouterr().err == ""  # libraries in Rust print where they panic


def test_a_failing_case_is_shrunk_to_what_makes_it_fail():
    many = settings(max_examples=5000, derandomize=True, database=None, deadline=None)
    text = find(
        GENERATORS.map(grammars.configuration), lambda case: "truncate" in case, settings=many
    )
    assert text.splitlines() == [
        "seed: 1",
        "algorithms: [{name: a, use: random-search}]",
        "instances: {suite: classic}",
        "budget: {axis: evaluations, grid: {from: 1, to: 9, points: 3}}",
        "race: {truncate: 1}",
    ]


def test_every_target_has_its_share_of_four_thousand_cases(tmp_path: Path):
    targets = all_targets(tmp_path)
    assert list(targets) == TARGETS
    assert sum(target.share for target in targets.values()) >= 4000


def test_the_store_whose_files_are_changed_is_a_good_one(tmp_path: Path):
    store_files(tmp_path)
    read_all(StoreOnDisk.open(tmp_path / "good"))
