"""A step of a race turns probabilities into decisions, without files or processes."""

import json
from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from polarbear import racing as race
from polarbear.errors import RaceError
from polarbear.inference.empirical.decisions import decide_by_duels
from polarbear.inference.relations import DecisionTables
from polarbear.racing import ABOVE, ALIKE, BELOW, CROSSING, OPEN, OUT
from polarbear.racing.recommendation import MIN_PROBLEMS
from polarbear.racing.rules import Batch, Rules
from polarbear.rankings.duels import DuelRecord

TIMES = (1.0, 2.0, 3.0, 4.0)


def without_guarantee(**changes) -> Rules:
    """Rules by which probabilities alone decide."""
    return Rules(**{"alpha": 0.99, "guarantee": "none", **changes})


RULES = without_guarantee()


def tables(above, alike=None, error=None, dominates=None) -> DecisionTables:
    """Probabilities from {(a, b): P(a above b) over time}; all other pairs are even.

    The default of ``dominates`` is the lowest P(above) over time.
    """
    alike = alike or {}
    names = sorted({name for pair in [*above, *alike] for name in pair})
    n = len(names)
    n_times = len(next(iter((above or alike).values())))
    better = np.full((n_times, n, n), 0.5)
    for (a, b), p_above in above.items():
        i = names.index(a)
        j = names.index(b)
        better[:, i, j] = p_above
        better[:, j, i] = 1 - np.asarray(p_above)
    equivalent = np.zeros((n_times, n, n))
    for (a, b), p_alike in alike.items():
        i = names.index(a)
        j = names.index(b)
        equivalent[:, i, j] = p_alike
        equivalent[:, j, i] = p_alike
    no_worse = np.maximum(better, equivalent)  # P(no worse) is at least as high as both.
    if dominates is None:
        dominates = better.min(axis=0)
    dominates = np.asarray(dominates, dtype=float)
    errors = None
    if error is not None:
        at_times = np.full_like(better, error)
        over_times = np.full_like(dominates, error)
        errors = DecisionTables(at_times, at_times, at_times, over_times, over_times)
    return DecisionTables(better, equivalent, no_worse, dominates, dominates, errors)


def codes(state, a="A", b="B"):
    return "".join(race.LETTERS[code] for code in state.relation(a, b))


def first_round(above, alike=None, rules=RULES, **changes):
    """State and decisions after a round on 8 instances; ``changes`` replace its probabilities."""
    names = sorted({name for pair in above for name in pair})
    probabilities = replace(tables(above, alike), **changes)
    return race.step(race.start(names, TIMES, rules), rules, 8, probabilities)


def eliminated(decisions):
    return [(out.algorithm, out.by) for out in decisions.eliminated]


def test_an_algorithm_that_is_dominated_at_every_time_is_eliminated():
    state, decisions = first_round({("A", "B"): [0.96] * 4}, rules=without_guarantee(alpha=0.95))
    assert state.candidates == ("A",)
    (out,) = decisions.eliminated
    assert out == race.Elimination("B", "A", 1, 8, pytest.approx(0.96), pytest.approx(0.96))
    assert not state.unresolved
    assert state.share_settled == 1


def test_one_doubtful_time_keeps_an_algorithm_in():
    state, decisions = first_round({("A", "B"): [0.999, 0.98, 0.999, 0.999]})
    assert not decisions.eliminated
    assert codes(state) == ">.>>"
    assert codes(state, "B", "A") == "<.<<"


def test_above_at_each_time_but_not_jointly_stays_and_is_compared_again():
    rules = without_guarantee(elimination="joint")
    above = {("A", "B"): [0.995] * 4}
    state, decisions = first_round(above, rules=rules, dominates=np.array([[0, 0.9], [0, 0]]))
    assert not decisions.eliminated
    assert decisions.reopened == (("A", "B"),)
    assert state.unresolved == ("A", "B")
    jointly = tables(above, dominates=[[0, 0.991], [0, 0]])
    assert eliminated(race.step(state, rules, 8, jointly)[1]) == [("B", "A")]


def test_an_elimination_shows_the_neutral_probability_and_asks_for_the_sceptical_one():
    above = {("A", "B"): [0.999] * 4}
    estimate = np.array([[0.5, 0.9993], [0.0007, 0.5]])
    sceptical = np.array([[0, 0.991], [0, 0]])
    _, decisions = first_round(above, dominates=sceptical, estimate=estimate)
    assert decisions.eliminated[0].probability == pytest.approx(0.9993)
    _, decisions = first_round(above, dominates=np.full((2, 2), 0.98), estimate=estimate)
    assert not decisions.eliminated


SURE = [0.999] * 4


def duels(wins, losses, shared=None) -> DuelRecord:
    """The record of one pair; numbers are those at all times, or a list of one for each time."""
    wins, losses = (np.broadcast_to(np.array(n, dtype=float), 4)[:, None] for n in (wins, losses))
    return DuelRecord(wins, losses, 0 * wins, wins + losses if shared is None else shared, 2)


@pytest.mark.parametrize(
    ("sceptical", "record", "out"),
    [
        (0.951, duels(10, 0), True),
        (0.949, duels(10, 0), False),
        (0.951, duels([10, 10, 9, 10], [0, 0, 1, 0]), False),  # a wealth of 6 at one time
        (0.951, duels(12, 0, shared=np.array([[12], [12], [12], [9]])), False),
    ],
    ids=["both", "not probable enough", "too little wealth at a time", "too few problems"],
)
def test_an_elimination_asks_for_the_sceptical_probability_and_for_wealth_at_every_time(
    sceptical, record, out
):
    rules = Rules()
    probabilities = tables({("A", "B"): SURE}, dominates=[[0, sceptical], [0, 0]])
    state, decisions = race.step(race.start("AB", TIMES, rules), rules, 12, probabilities, record)
    assert state.candidates == (("A",) if out else ("A", "B"))
    assert bool(state.open_pairs) != out
    if out:
        (elimination,) = decisions.eliminated
        assert elimination.sceptical == sceptical
        assert elimination.wealth == pytest.approx(29.93, abs=0.01)


def test_a_pair_without_the_wealth_for_an_elimination_stays_open_where_it_lacks():
    rules = Rules()
    record = duels([9, 20, 9, 20], [2, 0, 2, 0])
    start = race.start("AB", TIMES, rules)
    state, decisions = race.step(start, rules, 20, tables({("A", "B"): SURE}), record)
    assert codes(state) == ".>.>"
    assert decisions.reopened == (("A", "B"),)
    free = without_guarantee()
    assert race.step(start, free, 20, tables({("A", "B"): SURE}), record)[1].eliminated


def test_nothing_is_settled_on_fewer_problems_than_a_recommendation_needs():
    above = {("A", "B"): [0.999, 0.999, 0.001, 0.001]}
    few = duels(MIN_PROBLEMS, 0, shared=np.full((4, 1), MIN_PROBLEMS - 1))
    start = race.start("AB", TIMES, RULES)
    state, _ = race.step(start, RULES, 8, tables(above), few)
    assert codes(state) == "...."
    state, _ = race.step(start, RULES, 8, tables(above), duels(MIN_PROBLEMS, 0))
    assert codes(state) == ">><<"


CYCLE = {("A", "B"): SURE, ("B", "C"): SURE, ("C", "A"): SURE}


@pytest.mark.parametrize(
    ("above", "pairs", "candidates"),
    [
        # In a chain, the order does not matter, and the surest dominator that survives is named.
        ({("A", "B"): SURE, ("B", "C"): SURE, ("A", "C"): [0.98] * 4}, ["BA", "CB"], "A"),
        ({("A", "C"): [0.995] * 4, ("B", "C"): SURE, ("A", "B"): [0.5] * 4}, ["CB"], "AB"),
        (CYCLE, [], "ABC"),
        ({**CYCLE, ("D", "A"): SURE}, ["AD"], "BCD"),
    ],
)
def test_eliminations_of_chains_and_cycles(above, pairs, candidates):
    state, decisions = first_round(above)
    assert eliminated(decisions) == [tuple(pair) for pair in pairs]
    assert state.candidates == tuple(candidates)
    assert decisions.cycles == ((("A", "B", "C"),) if ("C", "A") in above else ())
    if above == CYCLE:
        assert not decisions.reopened
        assert not state.open_pairs  # The race ends, and its decisions name the cycle.


@pytest.mark.parametrize(("p", "is_reinstated"), [(0.8, True), (0.3, False)])
def test_an_algorithm_returns_if_it_is_ahead_of_the_eliminator_of_its_eliminator(p, is_reinstated):
    above = {("A", "B"): SURE, ("B", "C"): [p] * 4, ("C", "A"): [0.9] * 4}
    state, decisions = first_round(above)
    assert state.candidates == ("A", "C")
    assert not decisions.cycles
    state, decisions = race.step(state, RULES, 8, tables({**above, ("C", "A"): SURE}))
    assert [out.algorithm for out in decisions.eliminated] == ["A"]
    assert decisions.reinstated == (("B",) if is_reinstated else ())
    assert state.candidates == (("B", "C") if is_reinstated else ("C",))
    if is_reinstated:
        assert state.open_pairs == [("B", "C")]
        state, decisions = race.step(state, RULES, 8, tables(CYCLE))
        assert decisions.cycles == (("A", "B", "C"),)
        assert decisions.reinstated == ("A",)
        assert state.candidates == ("A", "B", "C")
        assert not state.open_pairs


@pytest.mark.parametrize("seed", range(5))
def test_a_race_on_a_cyclic_truth_ends_with_all_three_and_names_the_cycle(seed):
    """Each beats the next on 80 % of the problems at every time, in batches of 8.

    With 300 problems all three are certain. A wrong end has a probability below 1e-6.
    """
    rng = np.random.default_rng(seed)
    rules = Rules()
    state = race.start("ABC", TIMES, rules)
    n_wins = np.zeros(3)  # These are wins of A over B, of A over C, and of B over C.
    n_problems = 0
    cycles: tuple[tuple[str, ...], ...] = ()
    while state.open_pairs and n_problems < 300:
        n_wins += (rng.random((8, 3)) < [0.8, 0.2, 0.8]).sum(axis=0)
        n_problems += 8
        wins = np.tile(n_wins, (len(TIMES), 1))
        record = DuelRecord(wins, n_problems - wins, 0 * wins, n_problems + 0 * wins, 3)
        state, decisions = race.step(state, rules, 8, decide_by_duels(record, 0.05, 1.0), record)
        cycles = decisions.cycles
    assert state.candidates == ("A", "B", "C")
    assert cycles == (("A", "B", "C"),)
    assert n_problems < 300


@pytest.mark.parametrize(
    ("resolution", "expected"), [("membership", ">xxx"), ("crossing", ">..."), ("strict", ">...")]
)
def test_no_worse_at_one_time_settles_a_pair_if_the_other_is_better_at_another(
    resolution, expected
):
    """B is certainly no worse at the last time: better or equivalent, neither of them surely."""
    above = {("A", "B"): [0.999, 0.7, 0.6, 0.3]}
    alike = {("A", "B"): [0, 0.1, 0.1, 0.69]}
    no_worse = tables(above, alike).no_worse
    no_worse[3, 1, 0] = 0.991
    state, decisions = first_round(
        above, alike, without_guarantee(resolution=resolution), no_worse=no_worse
    )
    assert codes(state) == expected
    assert bool(decisions.settled_pairs) == (resolution == "membership")
    assert state.candidates == ("A", "B")


@pytest.mark.parametrize(("p", "expected"), [(0.6, "...."), (0.999, ">>>>")])
def test_no_worse_settles_nothing_if_none_is_better_and_does_not_prevent_dominance(p, expected):
    state, _ = first_round({("A", "B"): [p] * 4}, no_worse=np.full((4, 2, 2), 0.999))
    assert codes(state) == expected


@pytest.mark.parametrize(
    ("resolution", "above", "alike", "expected"),
    [
        ("membership", [0.999, 0.7, 0.6, 0.001], [0] * 4, ">xx<"),
        ("membership", [0.999, 0.7, 0.6, 0.6], [0, 0, 0, 0.995], ">xx="),
        ("membership", [0.5] * 4, [0.995] * 4, "===="),
        ("strict", [0.999, 0.7, 0.6, 0.001], [0] * 4, ">..<"),
    ],
)
def test_a_pair_is_settled_by_its_resolution(resolution, above, alike, expected):
    rules = without_guarantee(resolution=resolution)
    state, decisions = first_round({("A", "B"): above}, {("A", "B"): alike}, rules)
    assert codes(state) == expected
    assert decisions.settled_pairs == (() if "." in expected else (("A", "B"),))
    assert state.candidates == ("A", "B")
    if resolution == "strict":  # Settled times stay settled.
        above = {("A", "B"): [0.9, 0.995, 0.6, 0.2]}
        alike = {("A", "B"): [0, 0, 0.991, 0]}
        state, _ = race.step(state, rules, 8, tables(above, alike))
        assert codes(state) == ">>=<"
        assert not state.unresolved


def test_a_pair_that_was_above_at_each_time_but_never_at_all_in_one_round_is_reopened():
    rules = without_guarantee(resolution="strict")
    state, _ = first_round({("A", "B"): [0.999, 0.999, 0.995, 0.9]}, rules=rules)
    state, decisions = race.step(state, rules, 8, tables({("A", "B"): [0.999, 0.97, 0.985, 0.995]}))
    assert decisions.reopened == (("A", "B"),)
    assert codes(state) == ">.>>"


def test_an_algorithm_runs_up_to_its_last_open_time_under_pointwise_elimination():
    above = {("A", "B"): [0.7, 0.999, 0.999, 0.999], ("A", "C"): [0.7, 0.7, 0.7, 0.999]}
    rules = without_guarantee(resolution="strict")
    state, _ = first_round({**above, ("B", "C"): SURE}, rules=rules)
    assert state.candidates == ("A", "B")
    assert race.horizons(state, rules) == {"A": 1.0, "B": 1.0}
    state, _ = first_round({**above, ("B", "C"): [0.7, 0.999, 0.7, 0.999]}, rules=rules)
    assert race.horizons(state, rules) == {"A": 3.0, "B": 3.0, "C": 3.0}


@pytest.mark.parametrize(("truncate", "until"), [(False, 4.0), (True, 1.0)])
def test_runs_end_at_the_last_open_time_unless_they_are_not_to_be_truncated(truncate, until):
    rules = without_guarantee(elimination="joint", resolution="strict", truncate=truncate)
    above = {("A", "B"): [0.7, 0.999, 0.999, 0.999]}
    state, _ = first_round(above, rules=rules, dominates=np.zeros((2, 2)))
    assert race.horizons(state, rules) == {"A": until, "B": until}


@pytest.mark.parametrize(
    ("options", "temporal", "elimination", "truncate"),
    [
        ({}, False, "pointwise", True),
        ({}, True, "joint", False),
        ({"elimination": "pointwise"}, True, "pointwise", True),
        ({"truncate": True}, True, "joint", True),
    ],
)
def test_the_model_decides_the_rules_that_have_no_value(options, temporal, elimination, truncate):
    rules = Rules(**options).under(temporal)
    assert (rules.elimination, rules.truncate) == (elimination, truncate)


def test_the_batch_doubles_without_progress_halves_with_much_and_is_clipped():
    rules = without_guarantee(resolution="strict", batch=Batch(share=None))
    none_settled = tables({("A", "B"): [0.7] * 4})
    state = race.start("AB", TIMES, rules)
    sizes = []
    for _ in range(5):
        state, _ = race.step(state, rules, state.batch, none_settled)
        sizes.append(state.batch)
    assert sizes == [16, 32, 64, 64, 64]
    one_of_4_settled = tables({("A", "B"): [0.999, 0.7, 0.7, 0.7]})
    state, decisions = race.step(state, rules, 8, one_of_4_settled)
    assert (decisions.newly_settled, decisions.open_before) == (1, 4)
    assert state.batch == 32
    twenty_times = tuple(range(1, 21))
    state = replace(race.start("AB", twenty_times, rules), batch=32)
    one_of_20_settled = tables({("A", "B"): [0.999] + [0.7] * 19})
    assert race.step(state, rules, 8, one_of_20_settled)[0].batch == 32
    with_least_batch = replace(race.start("AB", TIMES, rules), batch=8)
    assert race.step(with_least_batch, rules, 8, one_of_4_settled)[0].batch == 8


def test_a_batch_is_no_more_than_a_share_of_the_instances_so_far_and_no_less_than_the_least():
    rules = without_guarantee(resolution="strict")
    none_settled = tables({("A", "B"): [0.7] * 4})
    state = replace(race.start("AB", TIMES, rules), instances=64)
    sizes = []
    for _ in range(20):
        state, _ = race.step(state, rules, state.batch, none_settled)
        sizes.append((state.instances, state.batch))
    assert sizes[:3] == [(72, 8), (80, 8), (88, 8)]
    assert sizes[3:5] == [(96, 9), (105, 10)]
    assert all(8 <= batch <= max(8, 0.1 * instances) for instances, batch in sizes)


def test_a_newcomers_batch_is_a_share_of_the_instances_that_it_has_seen():
    rules = without_guarantee(resolution="strict")
    state = race.admit(replace(race.start("AB", TIMES, rules), instances=640), "C", rules)
    none_settled = tables({("A", "B"): [0.7] * 4, ("A", "C"): [0.7] * 4})
    for _ in range(3):
        state, _ = race.step(state, rules, state.batch, none_settled)
    assert (state.caught_up, state.batch) == (24, 8)


def test_an_untrusted_posterior_decides_nothing_and_is_counted():
    state = race.start("AB", TIMES, RULES)
    state, decisions = race.step(state, RULES, 8, None)
    assert (state.round, state.instances, state.untrusted) == (1, 8, 1)
    assert decisions == race.Decisions()
    state, _ = race.step(state, RULES, 8, tables({("A", "B"): [0.7] * 4}))
    assert state.untrusted == 0


def with_newcomer(instances, p=0.7):
    """The state of a race of A and B that C enters after a round."""
    state, _ = race.step(
        race.start("AB", TIMES, RULES), RULES, instances, tables({("A", "B"): [p] * 4})
    )
    return race.admit(state, "C", RULES)


def test_a_newcomer_is_judged_alone_until_it_has_caught_up():
    state = with_newcomer(16)
    assert state.open_pairs == [("A", "B"), ("A", "C"), ("B", "C")]
    assert race.horizons(state, RULES) == {"C": 4.0}
    table = tables({("A", "B"): SURE, ("A", "C"): [0.7] * 4, ("B", "C"): [0.7] * 4})
    state, decisions = race.step(state, RULES, 8, table)
    assert codes(state) == "...."  # Only pairs with the newcomer are judged.
    assert not decisions.eliminated
    assert (state.joining, state.caught_up, state.instances) == ("C", 8, 16)
    state, decisions = race.step(state, RULES, 8, table)
    assert (state.joining, decisions.caught_up) == (None, "C")


def test_a_newcomer_eliminates_and_is_eliminated_and_meets_only_candidates():
    above = {("A", "B"): [0.7] * 4, ("A", "C"): SURE, ("B", "C"): [0.7] * 4}
    state, decisions = race.step(with_newcomer(64), RULES, 8, tables(above))
    assert [(out.algorithm, out.instances) for out in decisions.eliminated] == [("C", 8)]
    assert (state.joining, state.instances) == (None, 64)
    above = {("A", "B"): [0.7] * 4, ("C", "A"): SURE, ("C", "B"): SURE}
    state, _ = race.step(with_newcomer(64), RULES, 8, tables(above))
    assert (state.candidates, state.open_pairs) == (("C",), [])
    state = with_newcomer(64, p=0.999)
    assert codes(state, "B", "C") == "----"
    assert state.open_pairs == [("A", "C")]


def test_an_algorithm_enters_once_and_not_while_another_one_catches_up():
    rules = RULES
    state = race.start("AB", TIMES, rules)
    with pytest.raises(RaceError, match="'A' is in the race already"):
        race.admit(state, "A", rules)
    with pytest.raises(RaceError, match="'D' must wait until 'C' has caught up"):
        race.admit(race.admit(state, "C", rules), "D", rules)


@pytest.mark.parametrize(
    ("above", "alike", "needs_more"),
    [
        ([0.7, 0.5, 0.01, 0.999], 0, False),
        # The last time is barely settled, but both algorithms run on for the other times.
        ([0.7, 0.5, 0.01, 0.965], 0, False),
        # The pair is barely settled.
        ([0.5, 0.5, 0.5, 0.5], [0.99, 0.99, 0.99, 0.96], True),
        # B is barely eliminated, or barely not.
        ([0.999, 0.999, 0.999, 0.965], 0, True),
        ([0.999, 0.999, 0.999, 0.935], 0, True),
        ([0.999, 0.999, 0.999, 0.5], 0, False),
    ],
)
def test_more_draws_are_needed_if_a_decision_is_within_its_monte_carlo_error(
    above, alike, needs_more
):
    rules = without_guarantee(resolution="strict", alpha=0.95)
    state = race.start("AB", TIMES, rules)
    equivalent = {("A", "B"): np.broadcast_to(alike, 4)}
    probabilities = tables({("A", "B"): above}, equivalent, error=0.01)
    assert race.needs_more_draws(state, rules, 8, probabilities) is needs_more
    exact = replace(probabilities, errors=None)
    assert not race.needs_more_draws(state, rules, 8, exact)


def test_a_checkpoint_restores_the_state_to_the_byte():
    rules = RULES
    state = race.start(["A", 'odd "name"', "ß"], TIMES, rules)
    settled = state.settled.copy()
    settled[0] = [ABOVE, BELOW, ALIKE, CROSSING]
    settled[1, 1] = OUT
    settled[2, 3] = OUT
    out = race.Elimination("ß", "A", 2, 16, 0.9934, sceptical=0.96, wealth=21.5)
    state = replace(state, settled=settled, eliminated=(out,), round=2, instances=16, joining="ß")
    text = json.dumps(state.to_plain())
    restored = race.State.from_plain(json.loads(text))
    assert json.dumps(restored.to_plain()) == text
    assert restored.eliminated == state.eliminated
    assert (restored.settled == state.settled).all()


probability = st.sampled_from([0.0, 0.005, 0.3, 0.5, 0.7, 0.98, 0.992, 1.0])


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.data(), st.sampled_from(["strict", "crossing"]))
def test_a_step_does_what_the_papers_loops_say(data, resolution):
    """The test writes out Algorithm 1; all candidates of the round's beginning eliminate."""
    n = data.draw(st.integers(2, 4))
    n_times = data.draw(st.integers(1, 4))
    names = "ABCD"[:n]
    over_times = st.lists(probability, min_size=n_times, max_size=n_times)
    above = {pair: data.draw(over_times) for pair in combinations(names, 2)}
    alike = {pair: data.draw(over_times) for pair in above}
    rules = without_guarantee(alpha=0.99, resolution=resolution)
    start = race.start(names, range(n_times), rules)
    state, decisions = race.step(start, rules, 8, tables(above, alike))

    def p_above(a, b, t):
        return above[a, b][t] if (a, b) in above else 1 - above[b, a][t]

    def is_tie(a, b, t):
        return (alike[a, b][t] if (a, b) in alike else alike[b, a][t]) >= 0.99

    def beats(a, b, t):
        return p_above(a, b, t) >= 0.99

    def is_crossing(a, b):
        """Whether a is better and b no worse at some times, or b better and a no worse."""
        return any(
            (beats(a, b, s) or is_tie(a, b, s))
            and (beats(b, a, u) or is_tie(a, b, u))
            and (beats(a, b, s) or beats(b, a, u))
            for s, u in product(range(n_times), repeat=2)
        )

    dominates = {
        (a, b): all(beats(a, b, t) for t in range(n_times)) for a, b in permutations(names, 2)
    }
    reaches = dict(dominates)  # The transitive closure follows: Warshall's algorithm.
    for k in names:
        for a, b in permutations(names, 2):
            if k not in (a, b) and reaches[a, k] and reaches[k, b]:
                reaches[a, b] = True
    out = {b for (a, b), is_dominated in dominates.items() if is_dominated and not reaches[b, a]}
    survivors = set(names) - out
    reinstated = set(decisions.reinstated)
    for name in reinstated:  # No survivor dominates it, and it is ahead of one of them.
        assert not any(dominates[by, name] for by in survivors)
        assert any(all(p_above(name, by, t) > 0.5 for t in range(n_times)) for by in survivors)
    out -= reinstated
    assert set(state.candidates) == set(names) - out
    for a, b in above:
        for t in range(n_times):
            is_settled = state.relation(a, b)[t] != OPEN
            is_certain = beats(a, b, t) or beats(b, a, t) or is_tie(a, b, t)
            if {a, b} & out:
                assert is_settled
            elif dominates[a, b] or dominates[b, a]:
                continue  # The pair is in a cycle, or one of them is reinstated.
            else:
                is_settled_by_crossing = resolution == "crossing" and is_crossing(a, b)
                assert is_settled == (is_certain or is_settled_by_crossing)
