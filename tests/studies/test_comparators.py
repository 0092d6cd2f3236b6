"""Comparators on the same data, small."""

import comparators
import numpy as np
import pytest
import race
import truths


def test_a_winner_is_judged_by_its_own_question_and_by_who_goes_missing():
    """a beats b early and loses late; c is worse at every time."""
    wins = np.array([
        [[0.5, 0.7, 0.9], [0.3, 0.5, 0.8], [0.1, 0.2, 0.5]],
        [[0.5, 0.4, 0.9], [0.6, 0.5, 0.8], [0.1, 0.2, 0.5]],
    ])  # fmt: skip
    data = race.Data(truths.Truth(np.zeros((1, 3, 2)), wins, unit=np.array([0.0, 1.0])), 0)
    assert comparators._best_at_the_end(data) == 1
    right = comparators._one(data, {1}, 1, 30.0)
    assert (right["right"], right["until_right"]) == (True, 30.0)
    assert (right["kept"], right["members"]) == (1, 2)
    unsure = comparators._one(data, {0, 1}, 1, 30.0)
    assert (unsure["right"], unsure["until_right"], unsure["kept"]) == (True, None, 2)
    assert comparators._one(data, {2}, 1, 30.0)["wrong"] == 1


CHEAP = [
    "a rule that knows the distances",
    "fair F-Race",
    "SPRINT-Race",
    "irace, t-test",
    "successive halving",
    "AOCC, utility",
]


@pytest.mark.parametrize("method", CHEAP)
def test_methods_run_on_the_same_truth_and_are_counted_in_runs(method: str):
    row = comparators.compared({"data": "pl-0.33", "method": method, "seed": 0}, None)
    assert 0 < row["spent"] <= truths.ALGORITHMS * race.LIMIT
    assert 0 <= row["kept"] <= row["members"]


def test_every_method_says_what_it_answers_and_what_it_cannot_say():
    rows = [
        {"data": "pl-0.33", "method": method, "seed": 0, "spent": 10.0, "right": True,
         "until_right": 10.0, "wrong": 0, "eliminated": 2, "kept": 2, "members": 2}
        for method in comparators.METHODS
    ]  # fmt: skip
    table = comparators.table(rows)
    assert [row["method"] for row in table] == list(comparators.METHODS)
    assert all(row["question"] and row["cannot say"] for row in table)


def test_the_claim_names_who_is_cheapest_with_as_few_errors_even_if_it_is_another():
    def row(method: str, until: float | None, wrong: int):
        return {"data": "pl-0.33", "method": method, "spent": 9.0, "until_right": until,
                "wrong": wrong, "eliminated": 4}  # fmt: skip

    rows = [row("PolarBear", 100.0, 0), row("fair F-Race", 50.0, 0), row("the paper's", 10.0, 4)]
    claims = comparators.claims_of(rows)
    assert len(claims.failed) == 1
    assert "is fair F-Race, 50 runs" in claims.failed[0]
    never = comparators.price([row("PolarBear", None, 0)])
    assert never == truths.ALGORITHMS * race.LIMIT
