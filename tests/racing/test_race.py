"""The pure half of a race: probabilities in, decisions out."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polarbear import racing as race
from polarbear.errors import RaceError
from polarbear.inference.empirical.decisions import decide_by_duels
from polarbear.inference.relations import DecisionTables
from polarbear.racing import ABOVE, ALIKE, BELOW, CROSSING, OPEN, OUT
from polarbear.racing.decide import reached
from polarbear.racing.rules import Batch, Rules
from polarbear.rankings.duels import DuelRecord

TIMES = (1.0, 2.0, 3.0, 4.0)


def tables(above, alike=None, error=None, dominates=None) -> DecisionTables:
    """Probabilities from {(a, b): P(a above b) over time}; others are even.

    ``dominates`` is the lowest over time where it is not given.
    """
    names = sorted({name for pair in above for name in pair} | {n for p in alike or {} for n in p})
    n, times = len(names), len(next(iter((above or alike).values())))
    better, equivalent = np.full((times, n, n), 0.5), np.zeros((times, n, n))
    for (a, b), values in above.items():
        i, j = names.index(a), names.index(b)
        better[:, i, j], better[:, j, i] = values, 1 - np.asarray(values)
    for (a, b), values in (alike or {}).items():
        i, j = names.index(a), names.index(b)
        equivalent[:, i, j] = equivalent[:, j, i] = values
    no_worse = np.maximum(better, equivalent)  # at least
    over = better.min(axis=0) if dominates is None else np.asarray(dominates, dtype=float)
    errors = None
    if error is not None:
        errors = DecisionTables(
            *(np.full_like(better, error),) * 3, *(np.full_like(over, error),) * 2
        )
    return DecisionTables(better, equivalent, no_worse, over, over, errors)


def codes(state, a, b):
    return "".join(race.LETTERS[code] for code in state.relation(a, b))


def test_one_algorithm_is_no_race():
    with pytest.raises(RaceError, match="at least two algorithms, found 1"):
        race.start(["A"], TIMES, Rules())


def test_who_is_dominated_at_every_time_is_out():
    state = race.start("AB", TIMES, Rules(alpha=0.95))
    state, decisions = race.step(state, Rules(alpha=0.95), 8, tables({("A", "B"): [0.96] * 4}))
    assert state.candidates == ("A",)
    (out,) = decisions.eliminated
    assert (out.algorithm, out.by, out.round, out.instances) == ("B", "A", 1, 8)
    assert out.probability == pytest.approx(0.96)
    assert not state.unresolved
    assert state.share_settled == 1


def test_one_doubtful_time_keeps_an_algorithm_in():
    state = race.start("AB", TIMES, Rules(alpha=0.95))
    rules = Rules(alpha=0.95)
    state, decisions = race.step(state, rules, 8, tables({("A", "B"): [0.99, 0.94, 0.99, 0.99]}))
    assert not decisions.eliminated
    assert codes(state, "A", "B") == ">.>>"
    assert codes(state, "B", "A") == "<.<<"


def test_above_at_each_time_but_not_jointly_stays_and_is_compared_again():
    rules = Rules(alpha=0.95, elimination="joint")
    at_each_time = {("A", "B"): [0.97] * 4}
    state = race.start("AB", TIMES, rules)
    state, decisions = race.step(
        state, rules, 8, tables(at_each_time, dominates=[[0, 0.9], [0, 0]])
    )
    assert not decisions.eliminated
    assert decisions.reopened == (("A", "B"),)
    assert state.unresolved == ("A", "B")
    jointly = tables(at_each_time, dominates=[[0, 0.96], [0, 0]])
    state, decisions = race.step(state, rules, 8, jointly)
    assert [out.algorithm for out in decisions.eliminated] == ["B"]


def test_an_elimination_shows_the_neutral_probability_and_asks_for_the_sceptical_one():
    neutral = np.array([[0.5, 0.9993], [0.0007, 0.5]])
    sceptical = tables({("A", "B"): [0.999] * 4}, dominates=[[0, 0.991], [0, 0]])
    found = replace(sceptical, estimate=neutral)
    _, decisions = race.step(race.start("AB", TIMES, Rules()), Rules(), 8, found)
    assert decisions.eliminated[0].probability == pytest.approx(0.9993)
    doubtful = replace(found, dominates=np.full((2, 2), 0.98))
    _, decisions = race.step(race.start("AB", TIMES, Rules()), Rules(), 8, doubtful)
    assert not decisions.eliminated


def test_a_chain_of_dominances_is_out_at_once_whatever_the_order():
    table = tables({("A", "B"): [0.999] * 4, ("B", "C"): [0.999] * 4, ("A", "C"): [0.98] * 4})
    state, decisions = race.step(race.start("ABC", TIMES, Rules()), Rules(), 8, table)
    assert state.candidates == ("A",)
    assert [(out.algorithm, out.by) for out in decisions.eliminated] == [("B", "A"), ("C", "B")]


CYCLE = {("A", "B"): [0.999] * 4, ("B", "C"): [0.999] * 4, ("C", "A"): [0.999] * 4}


def test_a_cycle_of_dominances_keeps_all_of_its_members_and_is_named():
    state, decisions = race.step(race.start("ABC", TIMES, Rules()), Rules(), 8, tables(CYCLE))
    assert state.candidates == ("A", "B", "C")
    assert decisions.cycles == (("A", "B", "C"),)
    assert not decisions.eliminated
    assert not decisions.reopened
    assert not state.open_pairs  # the race ends and says so


def test_an_algorithm_outside_a_cycle_eliminates_its_members():
    above = {**CYCLE, ("D", "A"): [0.999] * 4}
    state, decisions = race.step(race.start("ABCD", TIMES, Rules()), Rules(), 8, tables(above))
    assert [(out.algorithm, out.by) for out in decisions.eliminated] == [("A", "D")]
    assert decisions.cycles == (("A", "B", "C"),)
    assert state.candidates == ("B", "C", "D")


def test_an_algorithm_returns_when_its_eliminator_is_eliminated_by_one_that_it_is_ahead_of():
    state = race.start("ABC", TIMES, Rules())
    first = {("A", "B"): [0.999] * 4, ("B", "C"): [0.8] * 4, ("C", "A"): [0.9] * 4}
    state, decisions = race.step(state, Rules(), 8, tables(first))
    assert state.candidates == ("A", "C")
    assert not decisions.cycles
    later = {("A", "B"): [0.999] * 4, ("B", "C"): [0.8] * 4, ("C", "A"): [0.999] * 4}
    state, decisions = race.step(state, Rules(), 8, tables(later))
    assert [out.algorithm for out in decisions.eliminated] == ["A"]
    assert decisions.reinstated == ("B",)
    assert state.candidates == ("B", "C")
    assert state.open_pairs == [("B", "C")]
    state, decisions = race.step(state, Rules(), 8, tables(CYCLE))
    assert decisions.cycles == (("A", "B", "C"),)
    assert decisions.reinstated == ("A",)
    assert state.candidates == ("A", "B", "C")
    assert not state.open_pairs


def test_an_algorithm_stays_eliminated_where_its_eliminators_eliminator_is_ahead_of_it():
    state = race.start("ABC", TIMES, Rules())
    first = {("A", "B"): [0.999] * 4, ("B", "C"): [0.3] * 4, ("C", "A"): [0.9] * 4}
    state, _ = race.step(state, Rules(), 8, tables(first))
    second = {("A", "B"): [0.999] * 4, ("B", "C"): [0.3] * 4, ("C", "A"): [0.999] * 4}
    state, decisions = race.step(state, Rules(), 8, tables(second))
    assert not decisions.reinstated
    assert state.candidates == ("C",)


@pytest.mark.parametrize("seed", range(5))
def test_a_race_on_a_cyclic_truth_ends_with_all_three_and_names_the_cycle(seed):
    """Each beats the next on 80 % of the problems at every time, in batches of 8. With 300
    problems all three are certain; a wrong end has a probability below 1e-6."""
    rng, rules = np.random.default_rng(seed), Rules()
    state = race.start("ABC", TIMES, rules)
    forward = np.zeros(3)  # wins of A over B, of A over C, of B over C
    seen = named = 0
    while state.open_pairs and seen < 300:
        forward += (rng.random((8, 3)) < [0.8, 0.2, 0.8]).sum(axis=0)
        seen += 8
        wins = np.tile(forward, (len(TIMES), 1))
        record = DuelRecord(wins, seen - wins, 0 * wins, 3)
        state, decisions = race.step(state, rules, 8, decide_by_duels(record, 0.05, 1.0))
        named = decisions.cycles
    assert state.candidates == ("A", "B", "C")
    assert named == (("A", "B", "C"),)
    assert seen < 300


def test_who_is_reached_is_found_as_by_walking():
    rng = np.random.default_rng(1)
    for _ in range(200):
        n = int(rng.integers(1, 9))
        steps = rng.random((n, n)) < rng.random()
        walked, last = steps, steps
        for _ in range(n):
            last = (last.astype(int) @ steps) > 0
            walked = walked | last
        assert np.array_equal(reached(steps), walked)


def test_the_surviving_and_surest_dominator_is_named():
    table = {("A", "C"): [0.995] * 4, ("B", "C"): [0.999] * 4, ("A", "B"): [0.5] * 4}
    _, decisions = race.step(race.start("ABC", TIMES, Rules()), Rules(), 8, tables(table))
    assert [(out.algorithm, out.by) for out in decisions.eliminated] == [("C", "B")]


def test_all_about_those_who_are_out_is_settled():
    table = {("A", "C"): [0.999] * 4, ("B", "C"): [0.7] * 4, ("A", "B"): [0.5] * 4}
    state, _ = race.step(race.start("ABC", TIMES, Rules()), Rules(), 8, tables(table))
    assert codes(state, "B", "C") == "----"
    assert codes(state, "A", "C") == ">>>>"
    assert state.open_pairs == [("A", "B")]


def test_as_good_at_one_time_settles_a_pair_of_which_the_other_is_better_elsewhere():
    """B is better or as good at the last time, though neither of these is certain."""
    believed = tables({("A", "B"): [0.999, 0.7, 0.6, 0.3]}, {("A", "B"): [0, 0.1, 0.1, 0.69]})
    no_worse = believed.no_worse.copy()
    no_worse[3, 1, 0] = 0.991
    found = replace(believed, no_worse=no_worse)
    for resolution, expected in (("membership", ">xxx"), ("crossing", ">..."), ("strict", ">...")):
        rules = Rules(resolution=resolution)
        state, decisions = race.step(race.start("AB", TIMES, rules), rules, 8, found)
        assert codes(state, "A", "B") == expected
        assert bool(decisions.settled_pairs) == (resolution == "membership")
        assert state.candidates == ("A", "B")


def test_being_as_good_settles_nothing_where_nobody_is_better_anywhere():
    found = replace(tables({("A", "B"): [0.6] * 4}), no_worse=np.full((4, 2, 2), 0.999))
    state, _ = race.step(race.start("AB", TIMES, Rules()), Rules(), 8, found)
    assert codes(state, "A", "B") == "...."


def test_who_is_better_at_every_time_puts_the_other_out_though_it_is_as_good():
    found = replace(tables({("A", "B"): [0.999] * 4}), no_worse=np.full((4, 2, 2), 0.999))
    state, _ = race.step(race.start("AB", TIMES, Rules()), Rules(), 8, found)
    assert state.candidates == ("A",)


def test_crossing_resolution_ends_a_pair_early():
    table = tables({("A", "B"): [0.999, 0.7, 0.6, 0.001]})
    state, decisions = race.step(race.start("AB", TIMES, Rules()), Rules(), 8, table)
    assert codes(state, "A", "B") == ">xx<"
    assert decisions.settled_pairs == (("A", "B"),)


def test_strict_resolution_goes_on_until_every_time_is_settled():
    rules = Rules(resolution="strict")
    state = race.start("AB", TIMES, rules)
    state, _ = race.step(state, rules, 8, tables({("A", "B"): [0.999, 0.7, 0.6, 0.001]}))
    assert codes(state, "A", "B") == ">..<"
    state, _ = race.step(
        state,
        rules,
        8,
        tables({("A", "B"): [0.9, 0.995, 0.6, 0.2]}, {("A", "B"): [0, 0, 0.991, 0]}),
    )
    assert codes(state, "A", "B") == ">>=<"  # what was settled stays so
    assert not state.unresolved


def test_a_tie_and_a_dominance_count_as_crossing():
    table = tables({("A", "B"): [0.999, 0.7, 0.6, 0.6]}, {("A", "B"): [0, 0, 0, 0.995]})
    state, _ = race.step(race.start("AB", TIMES, Rules()), Rules(), 8, table)
    assert codes(state, "A", "B") == ">xx="
    assert state.candidates == ("A", "B")


def test_equivalent_everywhere_ends_the_race():
    table = tables({("A", "B"): [0.5] * 4}, {("A", "B"): [0.995] * 4})
    state, _ = race.step(race.start("AB", TIMES, Rules()), Rules(), 8, table)
    assert codes(state, "A", "B") == "===="
    assert not state.open_pairs


def test_above_everywhere_by_the_record_but_not_at_once_is_looked_at_again():
    rules = Rules(resolution="strict")
    state = race.start("AB", TIMES, rules)
    state, _ = race.step(state, rules, 8, tables({("A", "B"): [0.999, 0.999, 0.995, 0.9]}))
    state, decisions = race.step(state, rules, 8, tables({("A", "B"): [0.999, 0.97, 0.985, 0.995]}))
    assert decisions.reopened == (("A", "B"),)
    assert codes(state, "A", "B") == ">.>>"


def test_an_algorithm_runs_up_to_its_last_open_time_under_pointwise_elimination():
    table = {("A", "B"): [0.7, 0.999, 0.999, 0.999], ("A", "C"): [0.7, 0.7, 0.7, 0.999]}
    rules = Rules(resolution="strict")
    state, _ = race.step(
        race.start("ABC", TIMES, rules), rules, 8, tables({**table, ("B", "C"): [0.999] * 4})
    )
    assert state.candidates == ("A", "B")
    assert race.horizons(state, rules) == {"A": 1.0, "B": 1.0}
    table[("B", "C")] = [0.7, 0.999, 0.7, 0.999]
    state, _ = race.step(race.start("ABC", TIMES, rules), rules, 8, tables(table))
    assert race.horizons(state, rules) == {"A": 3.0, "B": 3.0, "C": 3.0}


@pytest.mark.parametrize(("truncate", "until"), [(False, 4.0), (True, 1.0)])
def test_runs_end_at_the_last_open_time_unless_they_are_not_to_be_truncated(truncate, until):
    rules = Rules(elimination="joint", resolution="strict", truncate=truncate)
    table = tables({("A", "B"): [0.7, 0.999, 0.999, 0.999]}, dominates=np.zeros((2, 2)))
    state, _ = race.step(race.start("AB", TIMES, rules), rules, 8, table)
    assert race.horizons(state, rules) == {"A": until, "B": until}


@pytest.mark.parametrize(
    ("given", "temporal", "elimination", "truncate"),
    [
        ({}, False, "pointwise", True),
        ({}, True, "joint", False),
        ({"elimination": "pointwise"}, True, "pointwise", True),
        ({"truncate": True}, True, "joint", True),
    ],
)
def test_what_the_rules_leave_open_follows_from_the_model(given, temporal, elimination, truncate):
    rules = Rules(**given).under(temporal)
    assert (rules.elimination, rules.truncate) == (elimination, truncate)


def test_the_batch_doubles_without_progress_halves_with_much_and_is_clipped():
    rules = Rules(resolution="strict", batch=Batch(share=None))
    nothing = tables({("A", "B"): [0.7] * 4})
    state = race.start("AB", TIMES, rules)
    sizes = []
    for _ in range(5):
        state, _ = race.step(state, rules, state.batch, nothing)
        sizes.append(state.batch)
    assert sizes == [16, 32, 64, 64, 64]
    much = tables({("A", "B"): [0.999, 0.7, 0.7, 0.7]})
    state, decisions = race.step(state, rules, 8, much)
    assert (decisions.newly_settled, decisions.open_before) == (1, 4)
    assert state.batch == 32
    many = tuple(range(1, 21))
    state = replace(race.start("AB", many, rules), batch=32)
    little = tables({("A", "B"): [0.999] + [0.7] * 19})
    assert race.step(state, rules, 8, little)[0].batch == 32
    least = replace(race.start("AB", TIMES, rules), batch=8)
    assert race.step(least, rules, 8, much)[0].batch == 8


def test_a_batch_is_no_more_than_a_share_of_the_instances_so_far_and_no_less_than_the_least():
    rules = Rules(resolution="strict")
    nothing = tables({("A", "B"): [0.7] * 4})
    state = replace(race.start("AB", TIMES, rules), instances=64)
    found = []
    for _ in range(20):
        state, _ = race.step(state, rules, state.batch, nothing)
        found.append((state.instances, state.batch))
    assert found[:3] == [(72, 8), (80, 8), (88, 8)]
    assert found[3:5] == [(96, 9), (105, 10)]
    assert all(8 <= batch <= max(8, 0.1 * instances) for instances, batch in found)


def test_a_newcomers_batch_is_a_share_of_the_instances_that_it_has_seen():
    rules = Rules(resolution="strict")
    state = race.admit(replace(race.start("AB", TIMES, rules), instances=640), "C", rules)
    nothing = tables({("A", "B"): [0.7] * 4, ("A", "C"): [0.7] * 4})
    for _ in range(3):
        state, _ = race.step(state, rules, state.batch, nothing)
    assert (state.caught_up, state.batch) == (24, 8)


def test_an_untrusted_posterior_decides_nothing_and_is_counted():
    state = race.start("AB", TIMES, Rules())
    state, decisions = race.step(state, Rules(), 8, None)
    assert (state.round, state.instances, state.untrusted) == (1, 8, 1)
    assert decisions == race.Decisions()
    state, _ = race.step(state, Rules(), 8, tables({("A", "B"): [0.7] * 4}))
    assert state.untrusted == 0


def test_a_newcomer_is_judged_alone_until_it_has_caught_up():
    rules = Rules()
    state = race.start("AB", TIMES, rules)
    state, _ = race.step(state, rules, 16, tables({("A", "B"): [0.7] * 4}))
    state = race.admit(state, "C", rules)
    assert state.open_pairs == [("A", "B"), ("A", "C"), ("B", "C")]
    assert race.horizons(state, rules) == {"C": 4.0}
    table = tables({("A", "B"): [0.999] * 4, ("A", "C"): [0.7] * 4, ("B", "C"): [0.7] * 4})
    state, decisions = race.step(state, rules, 8, table)
    assert codes(state, "A", "B") == "...."  # another evidence's business
    assert not decisions.eliminated
    assert (state.joining, state.caught_up, state.instances) == ("C", 8, 16)
    state, decisions = race.step(state, rules, 8, table)
    assert (state.joining, decisions.caught_up) == (None, "C")


def test_a_newcomer_that_is_out_needs_not_catch_up():
    rules = Rules()
    state = race.start("AB", TIMES, rules)
    state, _ = race.step(state, rules, 64, tables({("A", "B"): [0.7] * 4}))
    state = race.admit(state, "C", rules)
    table = {("A", "B"): [0.7] * 4, ("A", "C"): [0.999] * 4, ("B", "C"): [0.7] * 4}
    state, decisions = race.step(state, rules, 8, tables(table))
    assert [(out.algorithm, out.instances) for out in decisions.eliminated] == [("C", 8)]
    assert state.joining is None
    assert state.instances == 64


def test_a_newcomer_can_put_others_out():
    rules = Rules()
    state = race.start("AB", TIMES, rules)
    state, _ = race.step(state, rules, 64, tables({("A", "B"): [0.7] * 4}))
    state = race.admit(state, "C", rules)
    table = {("A", "B"): [0.7] * 4, ("C", "A"): [0.999] * 4, ("C", "B"): [0.999] * 4}
    state, _ = race.step(state, rules, 8, tables(table))
    assert state.candidates == ("C",)
    assert not state.open_pairs


def test_a_newcomer_is_not_compared_with_those_who_are_out():
    rules = Rules()
    state = race.start("AB", TIMES, rules)
    state, _ = race.step(state, rules, 64, tables({("A", "B"): [0.999] * 4}))
    state = race.admit(state, "C", rules)
    assert codes(state, "B", "C") == "----"
    assert state.open_pairs == [("A", "C")]


def test_nobody_enters_twice_or_beside_another_newcomer():
    rules = Rules()
    state = race.start("AB", TIMES, rules)
    with pytest.raises(RaceError, match="'A' is in the race already"):
        race.admit(state, "A", rules)
    with pytest.raises(RaceError, match="'D' must wait until 'C' has caught up"):
        race.admit(race.admit(state, "C", rules), "D", rules)


@pytest.mark.parametrize(
    ("above", "alike", "more"),
    [
        ([0.7, 0.5, 0.01, 0.999], 0, False),
        ([0.7, 0.5, 0.01, 0.965], 0, False),  # settles this time only: both run on anyway
        ([0.5, 0.5, 0.5, 0.5], [0.99, 0.99, 0.99, 0.96], True),  # ends the pair
        ([0.999, 0.999, 0.999, 0.965], 0, True),  # eliminates
        ([0.999, 0.999, 0.999, 0.935], 0, True),  # might eliminate
        ([0.999, 0.999, 0.999, 0.5], 0, False),
    ],
)
def test_more_draws_are_needed_where_a_decision_is_within_its_monte_carlo_error(above, alike, more):
    rules = Rules(resolution="strict", alpha=0.95)
    state = race.start("AB", TIMES, rules)
    equivalent = {("A", "B"): np.broadcast_to(alike, 4)}
    found = tables({("A", "B"): above}, equivalent, error=0.01)
    assert race.needs_more_draws(state, rules, 8, found) is more
    assert not race.needs_more_draws(state, rules, 8, replace(found, errors=None))


def test_a_checkpoint_gives_back_the_state_to_the_byte():
    rules = Rules()
    state = race.start(["A", 'odd "name"', "ß"], TIMES, rules)
    settled = state.settled.copy()
    settled[0], settled[1, 1], settled[2, 3] = [ABOVE, BELOW, ALIKE, CROSSING], OUT, OUT
    out = race.Elimination("ß", "A", 2, 16, 0.9934)
    state = replace(state, settled=settled, eliminated=(out,), round=2, instances=16, joining="ß")
    text = json.dumps(race.to_plain(state))
    again = race.from_plain(json.loads(text))
    assert json.dumps(race.to_plain(again)) == text
    assert again.eliminated == state.eliminated
    assert (again.settled == state.settled).all()


probability = st.sampled_from([0.0, 0.005, 0.3, 0.5, 0.7, 0.98, 0.992, 1.0])


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(["strict", "crossing"]))
def test_a_step_does_what_the_papers_loops_say(data, resolution):
    """Algorithm 1 written out, with eliminations by any candidate of the round's beginning."""
    n, times = data.draw(st.integers(2, 4)), data.draw(st.integers(1, 4))
    names = "ABCD"[:n]
    above = {
        pair: data.draw(st.lists(probability, min_size=times, max_size=times))
        for pair in combinations(names, 2)
    }
    alike = {
        pair: data.draw(st.lists(probability, min_size=times, max_size=times)) for pair in above
    }
    table = tables(above, alike)
    rules = Rules(alpha=0.99, resolution=resolution)
    state, decisions = race.step(race.start(names, range(times), rules), rules, 8, table)

    def p(a, b, t):
        return above[a, b][t] if (a, b) in above else 1 - above[b, a][t]

    def tie(a, b, t):
        return (alike[a, b][t] if (a, b) in alike else alike[b, a][t]) >= 0.99

    def beats(a, b, t):
        return p(a, b, t) >= 0.99

    everywhere = {
        (a, b): all(beats(a, b, t) for t in range(times)) for a in names for b in names if a != b
    }
    reach = dict(everywhere)
    for k in names:
        for a in names:
            for b in names:
                if len({a, b, k}) == 3 and reach[a, k] and reach[k, b]:
                    reach[a, b] = True
    out = {b for (a, b), yes in everywhere.items() if yes and not reach[b, a]}
    survivors, back = set(names) - out, set(decisions.reinstated)
    for name in back:  # no survivor dominates it, and it is ahead of one of them
        assert not any(everywhere[by, name] for by in survivors)
        assert any(all(p(name, by, t) > 0.5 for t in range(times)) for by in survivors)
    out -= back
    assert set(state.candidates) == set(names) - out
    for a, b in above:
        for t in range(times):
            found = state.relation(a, b)[t]
            certain = beats(a, b, t) or beats(b, a, t) or tie(a, b, t)
            crossing = any(
                (beats(a, b, s) or tie(a, b, s))
                and (beats(b, a, u) or tie(a, b, u))
                and (beats(a, b, s) or beats(b, a, u))
                for s in range(times)
                for u in range(times)
            )
            if {a, b} & out:
                assert found != OPEN
            elif everywhere[a, b] or everywhere[b, a]:  # only in a cycle, or reinstated
                continue
            else:
                assert (found != OPEN) == (certain or (crossing and resolution == "crossing"))
