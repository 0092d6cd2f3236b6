"""Groups of options are validated once, with the same errors in Python as in a file."""

import copy
import pickle
from typing import ClassVar

import pytest
from pydantic import Field, field_validator

import polarbear as pb
from polarbear.config.execution import Failures
from polarbear.errors import ConfigError
from polarbear.racing.rules import Rules
from polarbear.settings.decision_levels import checked_level
from polarbear.settings.options import OF_OTHER_VERSIONS, Options, Source, validate


class Inner(Options):
    size: int = Field(1, ge=0)


class Counted(Options):
    checks: ClassVar[list[int]] = []
    size: int
    inner: Inner = Inner()

    @field_validator("size")
    @classmethod
    def _counted(cls, size: int) -> int:
        cls.checks.append(size)
        return size


def test_options_are_validated_once():
    Counted.checks.clear()
    options = Counted(size=3)
    assert Counted.checks == [3]
    assert copy.deepcopy(options) == options == pickle.loads(pickle.dumps(options))
    assert validate(Counted, {"size": 3}, Source("a file")) == options
    assert Counted.checks == [3, 3]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Counted(), "Counted: the key 'size' is missing"),
        (lambda: Counted(size=1, sise=2), "Counted: sise: unknown key 'sise'; did you mean 'size'"),
        (
            lambda: Counted(size=1, inner={"size": -1}),
            "Counted: inner.size: input should be greater than or equal to 0, found -1",
        ),
        (
            lambda: Counted(size=1, inner=3),
            "Counted: inner: expected a mapping of settings, found 3",
        ),
        (lambda: pb.adapters.Cma(), "Cma: the key 'name' is missing"),
        (lambda: pb.Budget(), "Budget: the key 'grid' is missing"),
        (lambda: pb.Budget(grid=[]), "Budget: grid: a listed grid needs at least one time"),
    ],
)
def test_a_group_made_in_python_is_refused_in_the_words_of_a_file(make, words):
    with pytest.raises(ConfigError) as error:
        make()
    assert str(error.value).startswith(words)


def test_keys_of_another_version_are_ignored_in_a_store_and_refused_in_a_file():
    stored = {"means": "last", "patience": 3}
    with pytest.raises(ConfigError, match="unknown key 'patience'"):
        validate(Failures, stored, Source("a file"))
    assert Failures.model_validate(stored, context=OF_OTHER_VERSIONS) == Failures(means="last")


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.01, float("nan")])
def test_a_decision_level_is_above_one_half_and_at_most_one(alpha: float):
    with pytest.raises(ValueError, match=r"alpha must be above 0\.5 and at most 1"):
        checked_level(alpha)


def test_a_decision_level_in_percent_is_refused_with_the_probability():
    assert checked_level(1) == 1
    with pytest.raises(ConfigError, match=r"found 95: did you mean 0\.95\?"):
        Rules(alpha=95)
