"""The state of a race on one screen, and the runs of its algorithms."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from polarbear.api.standings_words import forecast_words, standings_table, summary_line
from polarbear.cli import output
from polarbear.wording import (
    P_BEST,
    counted,
    joined,
    percent_cell,
    probability,
    short,
    time,
    typed,
    visible,
    whole,
)

if TYPE_CHECKING:
    from polarbear.api.store_status import AlgorithmRuns, Failure, OpenPair, Standings

MAX_LINES = 5  # of a kind; all of them are in --json


def show_standings(facts: Standings, verbose: bool = False) -> None:
    """Print the state of a race; ``verbose`` adds settled pairs and shows all open ones."""
    unsettled = "" if facts.resolved else " (not settled)"
    output.show(f"Anytime Pareto set{unsettled}: {', '.join(facts.pareto_set)}")
    output.show(*_recommendations(facts))
    output.show_table(*standings_table(facts))
    wrong = ""
    if facts.eliminated and facts.p_any_wrong is not None:
        wrong = f" P(any elimination is wrong) = {probability(facts.p_any_wrong)}."
    output.show(f"{summary_line(facts)}.{wrong}")
    lines = [_open_line(pair) for pair in facts.open_pairs]
    settled = [f"{pair.words}." for pair in facts.settled_pairs]
    output.show(*(lines + settled if verbose else _capped(lines, "more open pair")))
    output.show(*_warnings(facts))


def _capped(lines: list[str], rest: str, plural: str | None = None) -> list[str]:
    """The first lines, and the number of the others."""
    if len(lines) <= MAX_LINES:
        return lines
    return [*lines[:MAX_LINES], f"and {counted(len(lines) - MAX_LINES, rest, plural)}: see --json"]


def _recommendations(facts: Standings) -> list[str]:
    """Spans of the budget with the algorithm that is likely to be the best there."""
    spans = facts.recommended
    if len(facts.pareto_set) == 1 or not spans:
        return []
    budgets = [span.budgets(facts.axis if span.is_first else "") for span in spans]
    names = [joined(span.algorithms, "or") for span in spans]
    widths = max(map(len, budgets)), max(map(len, names))
    lines = []
    for span, budget, name in zip(spans, budgets, names, strict=True):
        sure = "too close to call" if span.is_open else f"{P_BEST} = {_range(*span.p_best)}"
        lines.append(f"  {budget:<{widths[0]}}   {name:<{widths[1]}}   {sure}")
    early = ["  too early to recommend one algorithm; so far:"] if facts.too_early else []
    return [*early, *_capped(lines, "more span")]


def _range(low: float, high: float) -> str:
    shown = dict.fromkeys((f"{low:.2f}", f"{high:.2f}"))
    return " to ".join(shown)


def _warnings(facts: Standings) -> list[str]:
    """What limits the result: cycles, a misfit, failures; and the forecast of an open race."""
    lines = forecast_words(facts) if facts.open_pairs else []
    lines += [
        f"{joined(cycle)} dominate each other in a cycle: none of them is eliminated."
        for cycle in facts.cycles
    ]
    if facts.reinstated:
        lines.append(f"reinstated because of a cycle: {joined(facts.reinstated)}.")
    if facts.fit is not None and facts.fit.words:
        lines.append(f"warning: {facts.fit.words}")
    if facts.failure_words:
        lines.append(f"{facts.failure_words}: `polarbear status {facts.store}` shows why")
    return lines


def next_commands(facts: Standings) -> list[str]:
    """Commands that use the result, ready to be pasted."""
    store = shlex.quote(facts.store)
    middle = facts.recommended[-1].start if facts.recommended else None
    preference = "" if middle is None else f' --preference "at {typed(middle)}"'
    return [f"Next: polarbear select {store}{preference}", f"      polarbear report {store}"]


def _open_line(pair: OpenPair) -> str:
    where = f"at {short(pair.from_)}"
    if pair.times > 1:
        where = f"at {pair.times} times from {short(pair.from_)} to {short(pair.to)}"
    leaning = "" if pair.p_above is None else f", P({pair.a} better) = {_range(*pair.p_above)}"
    return f"{pair.a} and {pair.b}: open {where}{leaning}"


def show_algorithms(entries: Sequence[AlgorithmRuns], axis: str, budget: float) -> None:
    """Print runs and costs of each algorithm and, after `run`, its share of first places."""
    columns = {
        "algorithm": [entry.algorithm for entry in entries],
        "runs#": [f"{entry.runs}" for entry in entries],
        "failed#": [f"{entry.failed}" for entry in entries],
        "ended early#": [f"{entry.ended}" for entry in entries],
        f"{axis}#": [time(entry.spent) for entry in entries],
    }
    if any(entry.evaluations for entry in entries):
        columns["evaluations#"] = [whole(entry.evaluations) for entry in entries]
    columns["seconds#"] = [f"{entry.seconds:,.1f}" for entry in entries]
    first = [getattr(entry, "first_at_end", None) for entry in entries]
    if any(share is not None for share in first):
        cells = ["" if share is None else percent_cell(share) for share in first]
        columns[f"best at {axis} {short(budget)}#"] = cells
    output.show_table(list(columns), zip(*columns.values(), strict=True))


def failure_lines(failures: Sequence[Failure]) -> list[str]:
    """The most frequent failures, each in a line or two."""
    lines = [
        f"{failure.runs} x {visible(failure.algorithm)} {failure.status}: {failure.message} "
        f"(first on {visible(failure.example)})"
        for failure in failures
    ]
    return _capped(lines, "more kind of failure", "more kinds of failure")


def speculative_words(runs: int) -> str:
    """The number of speculative runs that no round has used."""
    return f"{counted(runs, 'speculative run')} not used"
