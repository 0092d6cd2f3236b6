"""Plurals, lists, probabilities, shares and times are worded in one place, and truly."""

import re
from pathlib import Path

import pytest

from polarbear import wording

CASES = {
    wording.counted: {
        **{(0, "round"): "0 rounds", (1, "round"): "1 round", (12000, "round"): "12,000 rounds"},
        (1, "kind of failure", "kinds of failure"): "1 kind of failure",
        (3, "kind of failure", "kinds of failure"): "3 kinds of failure",
    },
    wording.joined: {
        **{((),): "", (("A",),): "A", (("A", "B"),): "A and B", (("A", "B", "C"),): "A, B and C"},
        (("A", "B", "C"), "or"): "A, B or C",
    },
    wording.multiples: {(("B", "A", "B"),): "2 x B, 1 x A"},
    # Times have three digits and no power of ten.
    wording.time: {
        **{(0.2227272,): "0.223", (0.00309544,): "0.0031", (19.64268759,): "19.6", (74.0,): "74"},
        **{(999.7,): "1,000", (2714.2,): "2,714", (12000.0,): "12,000"},
    },
    # A number to type has as few digits as its interval allows.
    wording.short_between: {(19.64268759, 50): 20, (19.64268759, 19.7): 19.7, (80, 80): 80},
    # Zero has no minus sign.
    wording.percent_cell: {(-0.001,): "0%"},
    wording.fixed: {(-0.0004, 3): "0.000"},
    wording.points: {(-0.001,): "0"},
    wording.timed: {
        (1.0, "evaluations"): "1 evaluation",
        (0.99999, "seconds"): "1 second",
        (0.5, "seconds"): "0.5 seconds",
        (2000, "evaluations"): "2,000 evaluations",
        (1, "ms"): "1 ms",
    },
    wording.singular: {
        **{("evaluations",): "evaluation", ("queries",): "query", ("batches",): "batch"},
        **{("passes",): "pass", ("CPU seconds",): "CPU second", ("s",): "s", ("t",): "t"},
        ("progress",): "progress",
    },
    wording.duration: {(3.25,): "3.2 s", (45,): "45 s", (720,): "12 min", (12240,): "3.4 h"},
    wording.size: {(12,): "12 B", (3.4 * 2**20,): "3.4 MiB", (2**42,): "4096.0 GiB"},
    wording.decisive: {
        **{(0.0,): "0.00", (0.001,): "under 0.01", (0.954,): "0.95", (0.9912,): "0.9912"},
        **{(0.999999,): "over 0.9999", (1.0,): "over 0.9999"},
    },
    # A probability or a share looks certain only if it is.
    wording.probability: {
        **{(0.0,): "0.00", (0.004,): "under 0.01", (0.5,): "0.50", (0.996,): "over 0.99"},
    },
    wording.probability_mark: {(0.004,): "< 0.01", (0.5,): "0.50", (0.996,): "> 0.99"},
    wording.probability_cell: {(0.004,): "0", (0.5,): ".50", (0.996,): ">.99"},
    wording.percent: {
        **{(0.0,): "0%", (0.004,): "under 1%", (0.454,): "45%", (0.996,): "over 99%"},
        **{(1.0,): "100%", (-0.12,): "-12%", (-0.001,): "0%"},
    },
    wording.small: {(0.0,): "0", (2e-5,): "less than 0.0001", (0.012345,): "0.012"},
    wording.tick: {
        **{(0,): "0", (0.05,): "0.05", (2000,): "2000", (50_000,): "50,000", (1e5,): "10⁵"},
        **{(2.5e6,): "2.5×10⁶", (2e5,): "2×10⁵", (-1e6,): "-10⁶", (1e-4,): "10⁻⁴"},
    },
}


@pytest.mark.parametrize("say", CASES, ids=lambda say: say.__name__)
def test_numbers_and_names_are_worded_as_people_do(say):
    assert {arguments: say(*arguments) for arguments in CASES[say]} == CASES[say]


def test_a_page_has_the_same_nouns_and_limits_as_this_module():
    words = wording.page_words("evaluations", ["instance"])
    assert words["axis"] == {"one": "evaluation", "many": "evaluations"}
    assert words["nouns"] == {"instance": {"one": "instance", "many": "instances"}}
    limits = words["probability"]
    assert wording.probability(limits["high"]) == limits["over"]
    assert wording.probability(limits["low"] / 2) == limits["under"]
    assert wording.small(words["small"]["smallest"] / 2) == words["small"]["less"]


BY_HAND = re.compile(
    r"""else\s["']s["'] | ["']s["']\sif | :\.\d%\} | ["']\s(?:and|or)\s["']\.join""", re.VERBOSE
)


def test_the_pattern_finds_code_that_words_by_hand():
    for code in (
        """f"{n} run{'' if n == 1 else 's'}\"""",
        """("s" if n != 1 else "")""",
        '''f"{share:.0%} of"''',
        """" and ".join(names)""",
    ):
        assert BY_HAND.search(code)


def test_nothing_else_words_plurals_percentages_or_lists_by_hand():
    root = Path(wording.__file__).parent
    sources = [path for path in root.rglob("*.py") if path.name != "wording.py"]
    offenders = [
        str(path.relative_to(root)) for path in sources if BY_HAND.search(path.read_text())
    ]
    assert offenders == []
