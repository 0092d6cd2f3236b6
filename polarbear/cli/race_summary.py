"""The state of a race on one screen, and the runs of its algorithms."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from polarbear.api.standings_words import (
    MAX_ROWS,
    forecast_words,
    standings_table,
    summary_line,
)
from polarbear.cli import output
from polarbear.wording import (
    P_BEST,
    counted,
    joined,
    percent_cell,
    probability,
    short_between,
    time,
    typed,
    visible,
)

if TYPE_CHECKING:
    from polarbear.api.store_status import AlgorithmRuns, Failure, OpenPair, Standings

MAX_LINES = 5  # of a kind; all of them are in --json
MIN_SPANS = 4
MAX_ALIGNED = 24  # characters
SCREEN_LINES = 23  # and one for the prompt


def show_standings(facts: Standings, verbose: bool = False, after: Sequence[str] = ()) -> None:
    """Print the state of a race, and the lines ``after`` it, on one screen of a terminal.

    A file has all rows. ``verbose`` shows all on a terminal, too, and adds settled pairs.
    """
    is_short = output.columns() is not None and not verbose
    for most in range(MAX_ROWS, 0, -1) if is_short else [sys.maxsize]:
        lines = [*_standings_lines(facts, most, verbose), *output.folded(*after)]
        if len(lines) <= SCREEN_LINES:
            break
    output.show(*lines)


def _standings_lines(facts: Standings, most: int, verbose: bool) -> list[str]:
    """The state of a race in lines, with at most this number of rows and lines of a kind."""
    unsettled = "" if facts.resolved else " (not settled)"
    shown = facts.pareto_set[: max(most, 3)]
    more = len(facts.pareto_set) - len(shown)
    others = f" and {more} more" if more else ""
    wrong = ""
    if facts.eliminated and facts.p_any_wrong is not None:
        wrong = f" P(any elimination is wrong) = {probability(facts.p_any_wrong)}."
    titles, rows = standings_table(facts, most)
    left_out = len(facts.algorithms) - len(rows)
    pairs = [_open_line(pair) for pair in facts.open_pairs]
    settled = [f"{pair.words}." for pair in facts.settled_pairs]
    return [
        *output.folded(f"Anytime Pareto set{unsettled}: {', '.join(shown)}{others}"),
        *output.folded(*_recommendations(facts, max(most, MIN_SPANS))),
        *output.table(titles, rows),
        *output.folded(
            *([f"and {counted(left_out, 'more algorithm')}: see `status`"] if left_out else []),
            f"{summary_line(facts)}.{wrong}",
            *(pairs + settled if verbose else _capped(pairs, "more open pair", most=most // 2)),
            *_warnings(facts),
        ),
    ]


def _capped(
    lines: list[str], rest: str, plural: str | None = None, most: int = MAX_LINES
) -> list[str]:
    """The first lines, and the number of the others."""
    most = min(most, MAX_LINES)
    if len(lines) <= most:
        return lines
    others = f"{counted(len(lines) - most, rest, plural)}: see --json"
    return [*lines[:most], f"and {others}" if most else others.replace("more ", "")]


def _recommendations(facts: Standings, most: int) -> list[str]:
    """Spans of the budget with the algorithm that is likely to be the best there."""
    spans = facts.recommended
    if len(facts.pareto_set) == 1 or not spans:
        return []
    budgets = [span.budgets(facts.axis if span.is_first else "") for span in spans]
    names = [joined(span.algorithms, "or") for span in spans]
    widths = max(map(len, budgets)), min(max(map(len, names)), MAX_ALIGNED)
    lines = []
    for span, budget, name in zip(spans, budgets, names, strict=True):
        sure = "too close to call" if span.is_open else f"{P_BEST} = {_range(*span.p_best)}"
        lines.append(f"  {budget:<{widths[0]}}   {name:<{widths[1]}}   {sure}")
    early = ["  too early to recommend one algorithm; so far:"] if facts.too_early else []
    return [*early, *_capped(lines, "more span", most=most)]


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
    preference = ""
    if facts.recommended:
        last = facts.recommended[-1]
        preference = f' --preference "at {typed(short_between(last.start, last.stop))}"'
    return [f"Next: polarbear select {store}{preference}", f"      polarbear report {store}"]


def _open_line(pair: OpenPair) -> str:
    where = f"at {time(pair.from_)}"
    if pair.times > 1:
        where = f"at {pair.times} times from {time(pair.from_)} to {time(pair.to)}"
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
    # Of imported runs nothing is known but the axis.
    costs: dict[str, list[float | None]] = {
        "evaluations#": [entry.evaluations for entry in entries],
        "seconds#": [entry.seconds for entry in entries],
    }
    for title, numbers in costs.items():
        if title not in columns and any(numbers):
            columns[title] = ["unknown" if one is None else time(one) for one in numbers]
    first = [getattr(entry, "first_at_end", None) for entry in entries]
    if any(share is not None for share in first):
        cells = ["" if share is None else percent_cell(share) for share in first]
        columns[f"best at {axis} {time(budget)}#"] = cells
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
