"""How a race stands, for people: a table and a few sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.cli import common
from polarbear.cli.tables import Table
from polarbear.wording import counted, decisive, duration, percent, short, time, timed

if TYPE_CHECKING:
    from polarbear.driver.standings import OpenPair, Standings

FEW = 8  # lines of a kind, the rest is in --json


def table(facts: Standings) -> Table:
    """How each algorithm stands, with what speaks against it."""
    made = Table(
        "algorithm",
        "standing",
        "P(dominated)#",
        "by",
        "instances#",
        f"{facts.axis}#",
        "likeliest best",
    )
    for entry in facts.algorithms:
        name, probability = entry.algorithm, entry.probability
        leads = [lead for lead in facts.best if lead.algorithm == name]
        made.add_row(
            name,
            entry.standing,
            "" if probability is None else f"{probability:.4f}",
            entry.by or "",
            f"{facts.instances_by_algorithm[name]}",
            time(entry.spent),
            ", ".join(_stretch(lead.start, lead.stop) for lead in leads),
        )
    return made


def _stretch(start: float, stop: float) -> str:
    return short(start) if start == stop else f"{short(start)} .. {short(stop)}"


def summary_line(facts: Standings) -> str:
    """Where the race is, in a line."""
    spent = sum(facts.spent.values())
    parts = [
        f"{counted(facts.rounds, 'round')}, {counted(facts.instances, 'instance')}",
        f"{percent(facts.share_settled)} of pairs settled",
        f"{timed(spent, facts.axis)}, {percent(facts.saved)} of the budget of running "
        "everything saved",
    ]
    if facts.joining:
        parts.append(f"{facts.joining} has caught up on {facts.caught_up}")
    return "; ".join(parts)


def outlook(facts: Standings, pace: float | None = None) -> list[str]:
    """How far it still is, with how long that takes at a pace of so many seconds an instance."""
    from polarbear.racing import MIN_ROUNDS

    ahead = facts.forecast
    if ahead is None:
        return ["cannot tell yet how far it is"] if facts.rounds < MIN_ROUNDS else []
    if ahead.high is None:
        return [f"at least {counted(ahead.low, 'more instance')} to go, perhaps very many"]
    many = f"{ahead.low} to {counted(ahead.high, 'more instance')}"
    if ahead.low == ahead.high:
        many = counted(ahead.high, "more instance")
    cost = timed(ahead.high * ahead.an_instance, facts.axis)
    lasts = "" if pace is None else f" or {duration(pace * ahead.high)}"
    return [f"{many} to go, at most {cost}{lasts}"]


def show(facts: Standings) -> None:
    """The whole story of a race."""
    from polarbear.config import KEEPS, failed_words
    from polarbear.racing.verdicts import better_words

    names = ", ".join(facts.pareto_set)
    sure = "" if facts.resolved else " (not settled yet)"
    common.show(f"anytime Pareto set{sure}: {names}")
    common.show(summary_line(facts))
    common.show(table(facts))
    lines = [
        f"{out.algorithm} is out: {better_words(out.by, out.probability, facts.joint)} "
        f"(round {out.round}, {counted(out.instances, 'instance')})"
        for out in facts.eliminated
    ]
    if facts.eliminated and facts.p_any_wrong is not None:
        lines.append(
            f"that any of these is wrong, by all duels so far: {decisive(facts.p_any_wrong)}"
        )
    if facts.fit is not None and facts.fit.words:
        lines.append(f"warning: {facts.fit.words}")
    lines += _few([pair.words for pair in facts.settled_pairs])
    lines += _few([_open_line(pair) for pair in facts.open_pairs])
    if facts.open_pairs:
        lines += outlook(facts)
    if facts.failed_runs:
        failed = failed_words(facts.failed_runs, facts.rules.get("failures", KEEPS))
        lines.append(f"{failed}: `polarbear status {facts.store}` shows why")
    for line in lines:
        common.show(line)


def _open_line(pair: OpenPair) -> str:
    where = f"at {short(pair.start)}"
    if pair.times > 1:
        where = f"at {pair.times} times from {short(pair.start)} to {short(pair.stop)}"
    leaning = ""
    if pair.p_above is not None:
        low, high = pair.p_above
        leaning = f"; P({pair.a} better) is {low:.2f}"
        leaning += f" to {high:.2f}" if f"{low:.2f}" != f"{high:.2f}" else ""
    return f"{pair.a} and {pair.b} are open {where}{leaning}"


def _few(lines: list[str]) -> list[str]:
    if len(lines) <= FEW:
        return lines
    return [*lines[: FEW - 1], f"and {counted(len(lines) - FEW + 1, 'more pair')}: see --json"]
