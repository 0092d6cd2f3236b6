"""Verdicts on a pair have their plain meaning, for all combinations of codes on short grids."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from polarbear import racing as race
from polarbear.inference.relations import DecisionTables
from polarbear.racing import LETTERS, Elimination, Verdict, VerdictKind, verdict, verdict_on
from polarbear.racing.rules import Rules
from polarbear.racing.verdicts import AT_A_TIME, SIGNS, WORDS
from tests.racing.test_race import tables

LONGEST = 4
COMBINATIONS = [
    "".join(letters)
    for length in range(1, LONGEST + 1)
    for letters in product(LETTERS, repeat=length)
]

# The meaning of each kind, as a condition on the letters of a pair. Each letter stands for a time:
# > and < for a better algorithm, = for equivalence; x, - and . for no relation.
MEANING = {
    VerdictKind.OPEN: lambda s: "." in s,
    VerdictKind.CROSSING: lambda s: "." not in s and ">" in s and "<" in s,
    VerdictKind.MOOT: lambda s: "." not in s and "-" in s and not (">" in s and "<" in s),
    VerdictKind.DOMINATES: lambda s: set(s) == {">"},
    VerdictKind.DOMINATED: lambda s: set(s) == {"<"},
    VerdictKind.NEVER_WORSE: lambda s: set(s) == {">", "="},
    VerdictKind.NEVER_BETTER: lambda s: set(s) == {"<", "="},
    VerdictKind.SOMETIMES_BETTER: lambda s: {">", "x"} <= set(s) <= {">", "x", "="},
    VerdictKind.SOMETIMES_WORSE: lambda s: {"<", "x"} <= set(s) <= {"<", "x", "="},
    VerdictKind.EQUIVALENT: lambda s: set(s) == {"="},
    VerdictKind.SOMETIMES_EQUIVALENT: lambda s: set(s) == {"=", "x"},
    VerdictKind.NOTHING_SHOWN: lambda s: set(s) == {"x"},
}
# The claim that a reader sees in each phrase, as a condition on the letters.
CLAIMS = {
    "A is better than B at every time": lambda s: set(s) == {">"},
    "B is better than A at every time": lambda s: set(s) == {"<"},
    "at some times and equivalent at the others": lambda s: set(s) in ({">", "="}, {"<", "="}),
    "A is better than B at some times": lambda s: ">" in s,
    "B is better than A at some times": lambda s: "<" in s,
    "(A better at some times": lambda s: ">" in s,
    "(B better at some times": lambda s: "<" in s,
    # All times are settled if one is better at some time and the other no worse at another.
    "equivalent or better at others": lambda s: "x" in s,
    "each is better at some times": lambda s: {">", "<"} <= set(s),
    "equivalent at every time": lambda s: set(s) == {"="},
    "equivalent at some times": lambda s: "=" in s,
    "no relation was shown at the others": lambda s: set(s) <= {"=", "x"} and "x" in s,
    "no relation between A and B was shown": lambda s: not set(s) & set("><="),
    "still open": lambda s: "." in s,
    "not compared further: one of them is eliminated": lambda s: "-" in s and "." not in s,
}


def codes(letters: str) -> list[int]:
    return [LETTERS.index(letter) for letter in letters]


def judged(letters: str) -> Verdict:
    return verdict(codes(letters))


def swapped(letters: str) -> str:
    return letters.translate(str.maketrans("><", "<>"))


def indices(letters: str, letter: str) -> tuple[int, ...]:
    return tuple(i for i, other in enumerate(letters) if other == letter)


def test_every_combination_of_codes_has_the_one_kind_that_it_means():
    assert set(MEANING) == set(VerdictKind)
    for letters in COMBINATIONS:
        expected_kinds = [kind for kind, holds in MEANING.items() if holds(letters)]
        pair_verdict = judged(letters)
        assert [pair_verdict.kind] == expected_kinds, letters
        assert pair_verdict.above == indices(letters, ">"), letters
        assert pair_verdict.below == indices(letters, "<"), letters
        assert pair_verdict.alike == indices(letters, "="), letters


def test_words_claim_nothing_that_was_not_shown():
    claimed = set()
    for letters in COMBINATIONS:
        words = judged(letters).words("A", "B")
        phrases = [phrase for phrase in CLAIMS if phrase in words]
        assert phrases, words
        for phrase in phrases:
            assert CLAIMS[phrase](letters), (letters, words)
        claimed |= set(phrases)
    assert claimed == set(CLAIMS)


def test_a_verdict_from_the_other_side_says_the_same():
    for letters in COMBINATIONS:
        of_first = judged(letters)
        of_second = judged(swapped(letters))
        assert of_second == of_first.mirrored(), letters
        if of_second.kind != of_first.kind:
            assert of_second.words("B", "A") == of_first.words("A", "B")


def test_every_kind_and_every_code_has_words_and_signs_differ():
    assert set(SIGNS) == set(WORDS) == set(VerdictKind)
    assert len(set(SIGNS.values())) == len(VerdictKind)
    assert len(set(AT_A_TIME)) == len(LETTERS)
    assert judged("=").words("{b}", "{0}") == "{b} and {0} are equivalent at every time"


def test_an_eliminator_dominates_whatever_was_settled_at_single_times():
    state = race.start("AB", (1.0, 2.0, 3.0), Rules())
    settled = np.array([codes(">x=")], dtype=np.int8)
    elimination = Elimination("B", "A", 3, 24, 0.995)
    state = race.State(state.algorithms, state.times, 8, settled, eliminated=(elimination,))
    assert verdict_on(state, "A", "B") == Verdict(VerdictKind.DOMINATES, above=(0, 1, 2))
    assert verdict_on(state, "B", "A") == Verdict(VerdictKind.DOMINATED, below=(0, 1, 2))


# (P(A better), P(equivalent)) at one time. "slightly above" is better within the ROPE.
BELIEFS = {
    "above": (0.995, 0.0),
    "below": (0.005, 0.0),
    "alike": (0.6, 0.995),
    "slightly above": (0.995, 0.995),
    "undecided": (0.6, 0.3),
}


def believed(names: tuple[str, ...]) -> DecisionTables:
    above = [BELIEFS[name][0] for name in names]
    alike = [BELIEFS[name][1] for name in names]
    return tables({("A", "B"): above}, {("A", "B"): alike})


@pytest.mark.parametrize("resolution", ["crossing", "strict"])
@pytest.mark.parametrize(("times", "rounds"), [(1, 3), (2, 2), (3, 1)])
def test_a_verdict_contains_only_relations_that_a_round_has_shown(resolution, times, rounds):
    """A relation in a verdict was certain in some round, after every sequence of beliefs.

    Only under crossing resolution a settled time can be without a relation.
    """
    rules = Rules(resolution=resolution, alpha=0.99, guarantee="none")
    kinds = set()
    for sequence in product(product(BELIEFS, repeat=times), repeat=rounds):
        state = race.start("AB", range(1, times + 1), rules)
        for names in sequence:
            state, _ = race.step(state, rules, 8, believed(names))
        pair_verdict = verdict_on(state, "A", "B")
        kind = pair_verdict.kind
        kinds.add(kind)
        for time_indices, sufficient_beliefs in (
            (pair_verdict.above, {"above", "slightly above"}),
            (pair_verdict.below, {"below"}),
            (pair_verdict.alike, {"alike"}),
        ):
            for t in time_indices:
                assert sufficient_beliefs & {names[t] for names in sequence}, sequence
        if state.open_pairs:
            assert kind is VerdictKind.OPEN
        elif len(state.candidates) == 1:
            assert kind in (VerdictKind.DOMINATES, VerdictKind.DOMINATED)
        else:
            # Both algorithms are candidates, so neither was better at every time.
            assert kind not in (
                VerdictKind.OPEN,
                VerdictKind.MOOT,
                VerdictKind.DOMINATES,
                VerdictKind.DOMINATED,
            )
            n_shown = sum(len(times_with) for times_with in pair_verdict[1:])
            assert n_shown == times or resolution == "crossing"
    with_unsettled_times = {
        VerdictKind.SOMETIMES_BETTER,
        VerdictKind.SOMETIMES_WORSE,
        VerdictKind.SOMETIMES_EQUIVALENT,
    }
    assert VerdictKind.NOTHING_SHOWN not in kinds
    if resolution == "strict":
        assert not kinds & with_unsettled_times
    elif times == 3:
        assert VerdictKind.SOMETIMES_BETTER in kinds


def test_the_docs_say_what_every_verdict_means():
    text = (Path(__file__).parents[2] / "docs" / "explanation" / "racing.md").read_text()
    section = text.partition("## How algorithms and pairs stand")[2].partition("\n## ")[0]
    for kind in VerdictKind:
        assert f"`{kind}`" in section


def test_a_member_was_better_than_each_other_candidate_at_some_time():
    state = race.start(("a", "b", "c"), (1.0, 2.0), Rules())
    ab = codes("><")
    ac = codes(">=")
    bc = codes("==")
    state = replace(state, settled=np.array([ab, ac, bc], dtype=np.int8))
    assert [race.is_shown_member(state, name) for name in "abc"] == [True, False, False]
    elimination = race.Elimination("c", "a", 1, 16, 0.99)
    without_c = replace(state, eliminated=(elimination,))
    assert [race.is_shown_member(without_c, name) for name in "abc"] == [True, True, False]
