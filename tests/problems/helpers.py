"""Helpers of tests of suites."""

from importlib.util import find_spec
from typing import Any

import pytest

from polarbear.problems import SUITES, Setting, Suite
from polarbear.problems.base import Spec
from polarbear.settings.grid import Budget
from polarbear.settings.options import Source, validate

SETTING = Setting(seed=1, budget=Budget.model_validate({"grid": [10]}))
ERROR_RATE = 1e-4  # with which a test on random draws would fail by chance, had it another seed

needs_ioh = pytest.mark.skipif(
    find_spec("ioh") is None,
    reason="ioh is not installed: pip install '.[bbob]' (on arm64 Linux it compiles from source)",
)


def suite(name: str, **options: Any) -> Suite:
    return validate(SUITES[name], {"suite": name, **options}, Source("config"))


def specs(name: str, count: int, **options: Any) -> list[Spec]:
    drawn_from = suite(name, **options)
    return [drawn_from.instance(index, SETTING).spec for index in range(count)]
