"""`check --contract` on algorithms of known kind, and what it recommends."""

import pytest

import polarbear as pb
from tests.support import ANNEALING

PLANS = "plans for its budget"
INTERRUPTIBLE = "does not depend on its budget"
NO_DIFFERENCE = "shows no difference"


def user(function: str, **options: object) -> dict[str, object]:
    return {"use": "python", "function": f"{ANNEALING}:{function}", "options": options}


KINDS = {
    "cooling": (user("annealing"), PLANS),
    "geometric cooling": (user("annealing", cooling="geometric"), PLANS),
    "local at the end": (user("sampling", share=0.2), PLANS),
    "population by budget": (user("population"), PLANS),
    "local at the end, seedless": (user("sampling", share=0.2, seedless=True), PLANS),
    "fixed cooling": (user("annealing", plans=False), INTERRUPTIBLE),
    "sampling": (user("sampling"), INTERRUPTIBLE),
    "CMA-ES": ({"use": "cma"}, INTERRUPTIBLE),
    "Nelder-Mead": ({"use": "scipy", "method": "nelder-mead"}, INTERRUPTIBLE),
    "sampling, seedless": (user("process_numbers"), NO_DIFFERENCE),
}


def configuration(name: str, **changes: object) -> dict[str, object]:
    return {
        "algorithms": [{"name": name, **KINDS[name][0]}, {"name": "other", "use": "random-search"}],
        "instances": {"suite": "classic"},
        "budget": {"grid": [10, 50, 100, 200, 400]},
        "execution": {"workers": 2},
        **changes,
    }


@pytest.mark.parametrize("name", KINDS)
def test_the_kind_of_each_algorithm_is_found(name):
    checked = pb.check_contract(configuration(name), name)
    assert checked.finding == KINDS[name][1]
    assert checked.plans == (KINDS[name][1] == PLANS)
    assert checked.repeats_itself == ("seedless" not in name)
    assert ("`contract: true`" in checked.recommendation) == checked.plans


def test_a_configured_contract_is_confirmed():
    settings = configuration("cooling")
    settings["algorithms"][0]["contract"] = True
    checked = pb.check_contract(settings, "cooling")
    assert checked.recommendation.startswith("keep `contract`")


def test_what_cannot_be_checked_is_refused():
    settings = configuration("cooling")
    with pytest.raises(pb.PolarBearError, match="did you mean 'cooling'"):
        pb.check_contract(settings, "coolin")
    with pytest.raises(pb.PolarBearError, match="one time only"):
        pb.check_contract({**settings, "budget": {"grid": [400]}}, "cooling")
