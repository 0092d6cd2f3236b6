"""Weights of instances in a configuration: by name or pattern, and what cannot be one."""

from typing import Any

import pytest

from polarbear.config.configuration import Config, parse
from polarbear.errors import ConfigError, ProblemError
from polarbear.problems.weights import weight_of
from polarbear.settings.options import Source


def configured(weights: Any, names: tuple[str, ...] = ("a1", "a2", "b1"), **race: Any) -> Config:
    return parse(
        {
            "algorithms": [{"name": "s", "use": "command", "command": "./s {instance}"}],
            "instances": {"suite": "files", "names": list(names), "weights": weights},
            "budget": {"grid": [1, 10]},
            "race": race,
        },
        Source("config.yaml"),
    )


def test_a_name_goes_before_patterns_and_the_first_pattern_before_others():
    weights = {"a*": 2.0, "*1": 3.0, "a1": 0.5}
    weights_by_name = [weight_of(name, weights) for name in ("a1", "a2", "b1", "b2")]
    assert weights_by_name == [0.5, 2.0, 3.0, 1.0]


@pytest.mark.parametrize("value", [-1, 0, float("nan"), float("inf"), 1001, True, "much", None])
def test_what_cannot_be_a_weight_is_refused_in_a_line(value: Any):
    with pytest.raises(ConfigError) as caught:
        configured({"a1": value})
    message = str(caught.value)
    assert "the weight of 'a1' must be a number above 0 and at most 1,000, found" in message
    assert "\n" not in message


def test_a_weight_of_no_instance_is_refused_with_the_nearest():
    config = configured({"paris-7": 2}, ("paris-1", "rome-1"))
    with pytest.raises(
        ProblemError, match="'paris-7' matches none of the 2 instances; did you mean 'paris-1'?"
    ):
        config.instances.check_weights(config.setting)
    config = configured({"a*": 2})
    config.instances.check_weights(config.setting)


def test_bets_and_weights_do_not_go_together():
    with pytest.raises(ConfigError, match="every instance counts once, but 'instances' has weig"):
        configured({"a1": 2}, guarantee="anytime")
