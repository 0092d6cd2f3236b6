"""The result of a gate for other programs: a comment in Markdown, and JUnit XML."""

from collections.abc import Sequence
from html import escape
from itertools import islice
from xml.etree import ElementTree

import numpy as np

from polarbear.regression.gate_decision import GateVerdict
from polarbear.regression.gate_report import PARTS, sentences, verdict_sentence
from polarbear.regression.gate_run import GateOptions, PairVerdict
from polarbear.report.outline import Bullets, CharacterChart, Table, as_markdown
from polarbear.report.words import curve
from polarbear.wording import percent_cell, short, time, timed

MAX_PAIRS = 4  # in the comment's table
MAX_LOST = 3  # instances with the command that repeats each


def markdown(
    pairs: Sequence[PairVerdict], options: GateOptions, verdict: GateVerdict, cost: str
) -> str:
    """A comment for a pull request: the verdict first, then the pair with the worst verdict."""
    worst = max(pairs, key=lambda pair: list(GateVerdict).index(pair.verdict))
    blocks = [f"### polarbear gate: {verdict.words}"]
    texts = sentences(worst, options)
    blocks.append(as_markdown([Bullets(tuple(("", text) for text in texts))]).strip())
    if len(pairs) > 1:
        blocks.append(_table_of_pairs(pairs))
    blocks.append(as_markdown([win_rates(worst)]).strip())
    if worst.verdict is GateVerdict.WORSE and worst.lost_most:
        blocks.append(_lost_most(worst))
    blocks.append(cost)
    return "\n\n".join(blocks) + "\n"


def _table_of_pairs(pairs: Sequence[PairVerdict]) -> str:
    """The verdicts on the first pairs, the worst first."""
    order = list(GateVerdict)
    worst_first = sorted(pairs, key=lambda pair: order.index(pair.verdict), reverse=True)
    rows = [
        (pair.candidate, pair.baseline, pair.verdict.words, str(pair.problems))
        for pair in worst_first[:MAX_PAIRS]
    ]
    if len(pairs) > MAX_PAIRS:
        rows.append((f"and {len(pairs) - MAX_PAIRS} more", "", "", ""))
    return as_markdown([Table(("candidate", "baseline", "verdict", "problems#"), tuple(rows))])[:-1]


def win_rates(pair: PairVerdict) -> CharacterChart:
    """The win rate over time as a line of blocks for each part of the budget."""
    times = np.array(pair.times)
    win_rate = np.array(pair.win_rate, dtype=float)
    rows = []
    factors = pair.times_as_long[1:]
    backs = pair.times_as_long_back[1:]
    for name, factor, back in zip(PARTS[-len(factors) :], factors, backs, strict=True):
        is_inside = (times >= factor.from_) & (times <= factor.to)
        budgets = f"{time(factor.from_)} to {timed(factor.to, pair.axis)}"
        wins = f"{percent_cell(float(np.nanmean(win_rate[is_inside])))} won"
        remark = f"{wins}, {budgets}"
        if factor.is_known:
            in_brackets = f" ({factor.interval})" if factor.interval else ""
            remark = f"{remark}: {factor.number} times as long{in_brackets}, back {back.number}"
        rows.append((name, curve(win_rate[is_inside]), remark))
    return CharacterChart(
        tuple(rows),
        f"win rate of {pair.candidate}, and how many times as long it needs to reach "
        f"{pair.baseline}'s values",
    )


def _lost_most(pair: PairVerdict) -> str:
    """The instances that lost most, with the command that repeats each run of the candidate."""
    lines = [f"Lost most by {escape(pair.candidate)}:"]
    for lost in islice(pair.lost_most, MAX_LOST):
        values = "a worse front"
        if lost.candidate is not None and lost.baseline is not None:
            values = f"{short(lost.candidate)} against {short(lost.baseline)}"
        lines.append(f"- {values} at {timed(lost.t, pair.axis)}: `{lost.command}`")
    return "\n".join(lines)


def junit(pairs: Sequence[PairVerdict], options: GateOptions) -> bytes:
    """JUnit XML: a test case for each pair; undecided is skipped, or a failure where it fails."""
    failing = {GateVerdict.WORSE}
    if options.undecided == "fail":
        failing.add(GateVerdict.UNDECIDED)
    n_failed = sum(pair.verdict in failing for pair in pairs)
    n_skipped = sum(
        pair.verdict is GateVerdict.UNDECIDED and pair.verdict not in failing for pair in pairs
    )
    suite = ElementTree.Element(
        "testsuite",
        name="polarbear gate",
        tests=str(len(pairs)),
        failures=str(n_failed),
        skipped=str(n_skipped),
    )
    for pair in pairs:
        name = f"{pair.candidate} against {pair.baseline}"
        case = ElementTree.SubElement(suite, "testcase", classname=pair.store, name=name)
        if pair.verdict in failing:
            ElementTree.SubElement(case, "failure", message=verdict_sentence(pair, options))
        elif pair.verdict is GateVerdict.UNDECIDED:
            ElementTree.SubElement(case, "skipped", message=verdict_sentence(pair, options))
    return bytes(ElementTree.tostring(suite, encoding="utf-8", xml_declaration=True))
