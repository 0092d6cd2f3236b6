"""Cases that are nearly right: each ends well, or in an error of a line or two.

Ten thousand of them, always the same, in a time that CI has; benchmarks/fuzz.py tries others.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from polarbear.formats import FORMATS
from polarbear.store import Store
from tests.fuzz.targets import Case, all_targets, ends_well, read_all

SHARES = {
    "configuration": 5,  # so many tests, that processes can share them
    "preference": 2,
    "preference file": 1,
    "store": 2,
    **{f"import {name}": 1 for name in FORMATS},
    **{f"import {name} into a store": 1 for name in FORMATS},
}


def numbered(make: Callable[[Random], Case], salt: str = "") -> st.SearchStrategy[Case]:
    """Cases made from a number each: Hypothesis chooses the numbers.

    Another ``salt`` makes other cases of the same numbers.
    """
    return st.integers(0, 2**64 - 1).map(lambda number: make(Random(f"{salt}{number}")))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "part"), [(name, part) for name, parts in SHARES.items() for part in range(parts)]
)
def test_whatever_is_fed_ends_well_or_in_an_error_of_a_line_or_two(
    tmp_path: Path, name: str, part: int, capfd: pytest.CaptureFixture[str]
):
    target = all_targets(tmp_path)[name]

    @settings(
        max_examples=target.share // SHARES[name],
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=numbered(target.make, salt=f"{name} {part}: "))
    def fed(case):
        ends_well(target.feed, case, tmp_path)

    fed()
    assert capfd.readouterr().err == ""  # libraries in Rust print where they panic


def test_every_target_has_its_share_of_ten_thousand_cases(tmp_path: Path):
    targets = all_targets(tmp_path)
    assert targets.keys() == SHARES.keys()
    assert sum(target.share for target in targets.values()) >= 10_000


@pytest.mark.parametrize("name", list(FORMATS))
def test_some_cases_of_every_format_are_taken_and_some_refused(tmp_path: Path, name: str):
    target = all_targets(tmp_path)[f"import {name}"]
    ends: set[bool] = set()

    @settings(
        max_examples=60,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=numbered(target.make))
    def fed(case):
        ends.add(ends_well(target.feed, case, tmp_path))

    fed()
    assert ends == {True, False}


def test_the_store_that_is_changed_is_a_good_one(tmp_path: Path):
    all_targets(tmp_path)
    read_all(Store.open(tmp_path / "good"))
