"""The state of a race on one screen, and the runs of its algorithms."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from polarbear.cli import output
from polarbear.cli.output import Table
from polarbear.wording import (
    P_BEST,
    counted,
    decisive,
    duration,
    joined,
    percent,
    percent_cell,
    probability,
    short,
    time,
    timed,
    typed,
    visible,
    whole,
)

if TYPE_CHECKING:
    from polarbear.api.store_status import AlgorithmRuns, Entrant, Failure, OpenPair, Standings

MAX_LINES = 4  # of a kind; all of them are in --json
MAX_SPANS = 6
STATUS = {"settled": "Pareto set", "in": "candidate", "out": "eliminated", "joining": "catching up"}


def show_standings(facts: Standings, verbose: bool = False) -> None:
    """Print the state of a race; ``verbose`` adds settled pairs and shows all open ones."""
    unsettled = "" if facts.resolved else " (not settled)"
    output.show(f"Anytime Pareto set{unsettled}: {', '.join(facts.pareto_set)}")
    for line in recommendation_lines(facts):
        output.show(line)
    output.show(_table(facts))
    output.show(f"{summary_line(facts)}.{_error_probability(facts)}")
    lines = [_open_line(pair) for pair in facts.open_pairs]
    if verbose:
        lines += [f"{pair.words}." for pair in facts.settled_pairs]
    for line in [*(lines if verbose else _first(lines)), *_warnings(facts)]:
        output.show(line)


def recommendation_lines(facts: Standings) -> list[str]:
    """Spans of the budget with the algorithm that is likely to be the best there."""
    spans = facts.recommended
    if len(facts.pareto_set) == 1 or not spans:
        return []
    early = ["  too early to recommend one algorithm; so far:"] if facts.too_early else []
    shown = spans[:MAX_SPANS]
    budgets = [span.budgets(facts.axis if span.is_first else "") for span in shown]
    names = [joined(span.algorithms, "or") for span in shown]
    widths = max(map(len, budgets)), max(map(len, names))
    lines = []
    for span, budget, name in zip(shown, budgets, names, strict=True):
        sure = "too close to call" if span.is_open else _range(*span.p_best)
        lines.append(f"  {budget:<{widths[0]}}   {name:<{widths[1]}}   {sure}")
    if len(spans) > len(shown):
        lines.append(f"  and {counted(len(spans) - len(shown), 'more span')}: see --json")
    return [*early, *lines]


def _range(low: float, high: float) -> str:
    values = f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
    return f"{P_BEST} = {values}"


def _table(facts: Standings) -> Table:
    table = Table("algorithm", "status", "problems#", f"{facts.axis}#", "reason")
    for entry in facts.algorithms:
        name = entry.algorithm
        problems = f"{facts.instances_by_algorithm[name]}"
        cells = (STATUS[entry.standing], problems, time(entry.spent), _reason(facts, entry))
        table.add_row(name, *cells)
    return table


def _reason(facts: Standings, entry: Entrant) -> str:
    for gone in facts.eliminated:
        if gone.algorithm == entry.algorithm:
            at = "better at every time" if facts.joint else "better at each time"
            return f"round {gone.round}, by {gone.by}: {at}, P = {decisive(gone.probability)}"
    if entry.standing == "joining":
        return f"on {facts.caught_up} of {facts.instances} problems"
    spans = [span for span in facts.recommended if span.algorithms == (entry.algorithm,)]
    if len(facts.pareto_set) == 1:
        return "all others are eliminated"
    if spans and len(facts.recommended) == 1:
        return "best at all times"
    if spans and not facts.too_early and len(spans) <= 2:
        return f"best {joined([span.budgets() for span in spans])}"
    if entry.probability is None:
        return ""
    return f"not dominated: P(dominated) = {decisive(entry.probability)}"


def summary_line(facts: Standings) -> str:
    """The cost of a race so far, in one line."""
    parts = [
        counted(facts.rounds, "round"),
        counted(facts.instances, "problem"),
        f"{timed(sum(facts.spent.values()), facts.axis)} ({percent(facts.saved)} saved)",
    ]
    if not facts.resolved:
        parts.append(f"{percent(facts.share_settled)} of pairs settled")
    if facts.joining:
        parts.append(f"{facts.joining} has caught up on {facts.caught_up}")
    return ", ".join(parts)


def _error_probability(facts: Standings) -> str:
    if not facts.eliminated or facts.p_any_wrong is None:
        return ""
    return f" P(any elimination is wrong) = {probability(facts.p_any_wrong)}."


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


def forecast_words(facts: Standings, seconds_per_instance: float | None = None) -> list[str]:
    """The forecast of the remaining cost, with its duration if the pace is known."""
    ahead = facts.forecast
    if ahead is None:
        return ["too early for a forecast"] if facts.too_early_to_forecast else []
    if ahead.high is None:
        return [f"forecast: at least {counted(ahead.low, 'more problem')}, no upper bound"]
    number = f"{ahead.low} to {counted(ahead.high, 'more problem')}"
    if ahead.low == ahead.high:
        number = counted(ahead.high, "more problem")
    cost = timed(ahead.high * ahead.an_instance, facts.axis)
    pace = seconds_per_instance
    lasts = "" if pace is None else f" or {duration(pace * ahead.high)}"
    return [f"forecast: {number}, at most {cost}{lasts}"]


def next_commands(facts: Standings) -> str:
    """Commands that use the result, ready to be pasted."""
    store = shlex.quote(facts.store)
    middle = facts.recommended[-1].start if facts.recommended else None
    preference = "" if middle is None else f' --preference "at {typed(middle)}"'
    return f"Next: polarbear select {store}{preference}\n      polarbear report {store}"


def _open_line(pair: OpenPair) -> str:
    where = f"at {short(pair.from_)}"
    if pair.times > 1:
        where = f"at {pair.times} times from {short(pair.from_)} to {short(pair.to)}"
    leaning = ""
    if pair.p_above is not None:
        low, high = (f"{p:.2f}" for p in pair.p_above)
        leaning = f", P({pair.a} better) = {low if low == high else f'{low} to {high}'}"
    return f"{pair.a} and {pair.b}: open {where}{leaning}"


def _first(lines: Sequence[str]) -> list[str]:
    if len(lines) <= MAX_LINES:
        return list(lines)
    rest = counted(len(lines) - MAX_LINES + 1, "more open pair")
    return [*lines[: MAX_LINES - 1], f"and {rest}: see --json"]


def algorithms_table(
    entries: Sequence[AlgorithmRuns],
    axis: str,
    budget: float,
    first: Mapping[str, float | None] | None = None,
) -> Table:
    """Runs and costs of each algorithm, and its share of first places at the end."""
    shares = {name: share for name, share in (first or {}).items() if share is not None}
    counted_evaluations = axis == "evaluations" or any(e.evaluations for e in entries)
    columns = {
        "algorithm": [entry.algorithm for entry in entries],
        "runs#": [f"{entry.runs}" for entry in entries],
        "failed#": [f"{entry.failed}" for entry in entries],
        "ended early#": [f"{entry.ended}" for entry in entries],
    }
    if axis not in ("evaluations", "seconds"):  # which have columns anyway
        columns[f"{axis}#"] = [time(entry.spent) for entry in entries]
    if counted_evaluations:
        columns["evaluations#"] = [whole(entry.evaluations) for entry in entries]
    columns["seconds#"] = [f"{entry.seconds:,.1f}" for entry in entries]
    if shares:
        columns[f"best at {axis} {short(budget)}#"] = [
            percent_cell(shares[e.algorithm]) if e.algorithm in shares else "" for e in entries
        ]
    table = Table(*columns)
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*cells)
    return table


def failure_lines(failures: Sequence[Failure], most: int = 5) -> list[str]:
    """The most frequent failures, each in a line or two."""
    lines = [
        f"{failure.runs} x {visible(failure.algorithm)} {failure.status}: {failure.message} "
        f"(first on {visible(failure.example)})"
        for failure in failures[:most]
    ]
    if len(failures) > most:
        more = counted(len(failures) - most, "more kind of failure", "more kinds of failure")
        lines.append(f"and {more}: see --json")
    return lines


def speculative_words(runs: int) -> str:
    """The number of speculative runs that no round has used."""
    return f"{counted(runs, 'speculative run')} not used"
