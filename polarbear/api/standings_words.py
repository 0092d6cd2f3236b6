"""The state of a race as a table and in lines, for results and for live displays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.wording import counted, decisive, duration, joined, percent, time, timed

if TYPE_CHECKING:
    from polarbear.driver.standings import Entrant, Standings

STATUS = {"settled": "Pareto set", "in": "candidate", "out": "eliminated", "joining": "catching up"}
MAX_ROWS = 12


def standings_table(facts: Standings, most: int = MAX_ROWS) -> tuple[list[str], list[list[str]]]:
    """Titles and rows: the status of each algorithm, its cost, and the reason.

    With more than ``most`` algorithms, those that are most likely to be dominated are left out.
    """
    by_threat = sorted(
        facts.algorithms, key=lambda one: (one.standing == "out", one.probability or 0)
    )
    kept, rows = {one.algorithm for one in by_threat[:most]}, []
    for entry in facts.algorithms:
        problems = f"{facts.instances_by_algorithm[entry.algorithm]}"
        status, spent = STATUS[entry.standing], time(entry.spent)
        if entry.algorithm in kept:
            rows.append([entry.algorithm, status, problems, spent, _reason(facts, entry)])
    return ["algorithm", "status", "problems#", f"{facts.axis}#", "reason"], rows


def _reason(facts: Standings, entry: Entrant) -> str:
    for gone in facts.eliminated:
        if gone.algorithm == entry.algorithm:
            sure = f"P(dominated) = {decisive(gone.probability)}"
            return f"by {gone.by} in round {gone.round}: {sure}"
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
    return f"P(dominated) = {decisive(entry.probability)}"


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


def forecast_words(facts: Standings, seconds_per_instance: float | None = None) -> list[str]:
    """The forecast of the remaining cost, with its duration if the pace is known."""
    ahead = facts.forecast
    if ahead is None:
        return ["too early for a forecast"] if facts.too_early_to_forecast else []
    if ahead.high is None:
        return [f"forecast: at least {counted(ahead.low, 'more problem')}, no upper bound"]
    least = "" if ahead.low == ahead.high else f"{ahead.low} to "
    cost = timed(ahead.high * ahead.an_instance, facts.axis)
    pace = seconds_per_instance
    lasts = "" if pace is None else f" or {duration(pace * ahead.high)}"
    return [f"forecast: {least}{counted(ahead.high, 'more problem')}, at most {cost}{lasts}"]
