"""The state of a race, and failures of its algorithms, as a table and lines."""

import shlex
import sys
from collections.abc import Sequence

from polarbear.api.text_table import TableText, folded, table_lines
from polarbear.facts.standings import AlgorithmStanding, OpenPair, Standings
from polarbear.facts.summary import Failure
from polarbear.racing.verdicts import cycle_words, reinstated_words
from polarbear.wording import (
    P_BEST,
    counted,
    decisive,
    duration,
    joined,
    percent,
    probability,
    short_between,
    time,
    timed,
    typed,
    visible,
)

STATUS = {"settled": "Pareto set", "in": "candidate", "out": "eliminated", "joining": "catching up"}
MAX_ROWS = 12
MAX_LINES = 5  # of a kind; all of them are in --json
MIN_SPANS = 4
MAX_ALIGNED = 24  # characters
SCREEN_LINES = 23  # and one for the prompt


def standings_lines(
    facts: Standings, columns: int | None, verbose: bool = False, after: Sequence[str] = ()
) -> list[str]:
    """The state of a race, and the lines ``after`` it, on one screen of a terminal.

    A file, which has no number of ``columns``, gets all rows. ``verbose`` shows all on a terminal,
    too, and adds settled pairs.
    """
    is_short = columns is not None and not verbose
    for most in range(MAX_ROWS, 0, -1) if is_short else [sys.maxsize]:
        lines = [*_lines(facts, columns, verbose, most), *folded(after, columns)]
        if len(lines) <= SCREEN_LINES:
            break
    return lines


def _lines(facts: Standings, columns: int | None, verbose: bool, most: int) -> list[str]:
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
    pairs = [_open_words(pair) for pair in facts.open_pairs]
    if verbose:
        pairs += [f"{pair.words}." for pair in facts.settled_pairs]
    else:
        pairs = _capped(pairs, min(max(most // 2, 1), MAX_LINES))
    above = [f"Anytime Pareto set{unsettled}: {', '.join(shown)}{others}"]
    below = [f"and {counted(left_out, 'more algorithm')}: see `status`"] if left_out else []
    below += [f"{summary_line(facts)}.{wrong}", *pairs, *_warnings(facts)]
    return [
        *folded(above + _recommendations(facts, max(most, MIN_SPANS)), columns),
        *table_lines(titles, rows, columns),
        *folded(below, columns),
    ]


def standings_table(facts: Standings, most: int = MAX_ROWS) -> TableText:
    """The status of each algorithm, its cost, and the reason.

    With more than ``most`` algorithms, those that are most likely to be dominated are left out.
    """
    by_threat = sorted(
        facts.algorithms, key=lambda one: (one.standing == "out", one.probability or 0)
    )
    kept = {one.algorithm for one in by_threat[:most]}
    rows = [
        [
            one.algorithm,
            STATUS[one.standing],
            f"{facts.instances_by_algorithm[one.algorithm]}",
            time(one.spent),
            _reason(facts, one),
        ]
        for one in facts.algorithms
        if one.algorithm in kept
    ]
    return ["algorithm", "status", "problems#", f"{facts.axis}#", "reason"], rows


def _reason(facts: Standings, entry: AlgorithmStanding) -> str:
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
    forecast = facts.forecast
    if forecast is None:
        return ["too early for a forecast"] if facts.too_early_to_forecast else []
    if forecast.high is None:
        return [f"forecast: at least {counted(forecast.low, 'more problem')}, no upper bound"]
    least = "" if forecast.low == forecast.high else f"{forecast.low} to "
    cost = timed(forecast.high * forecast.an_instance, facts.axis)
    pace = seconds_per_instance
    lasts = "" if pace is None else f" or {duration(pace * forecast.high)}"
    return [f"forecast: {least}{counted(forecast.high, 'more problem')}, at most {cost}{lasts}"]


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
    return [*early, *_capped(lines, min(most, MAX_LINES))]


def _warnings(facts: Standings) -> list[str]:
    """Limits of the result: cycles, a misfit, failures; and the forecast of an open race."""
    lines = forecast_words(facts) if facts.open_pairs else []
    lines += [f"{cycle_words(names)}." for names in facts.cycles]
    lines += [f"{reinstated_words(name)}." for name in facts.reinstated]
    if facts.fit is not None and facts.fit.words:
        lines.append(f"warning: {facts.fit.words}")
    if facts.failure_words:
        lines.append(f"{facts.failure_words}: `polarbear status {facts.store}` shows why")
    return lines


def _open_words(pair: OpenPair) -> str:
    where = f"at {time(pair.from_)}"
    if pair.times > 1:
        where = f"at {pair.times} times from {time(pair.from_)} to {time(pair.to)}"
    leaning = "" if pair.p_above is None else f", P({pair.a} better) = {_range(*pair.p_above)}"
    return f"{pair.a} and {pair.b}: open {where}{leaning}"


def _range(low: float, high: float) -> str:
    return " to ".join(dict.fromkeys((f"{low:.2f}", f"{high:.2f}")))


def _capped(lines: list[str], most: int = MAX_LINES) -> list[str]:
    """The first lines, and the number of the others."""
    more = len(lines) - most
    return [*lines[:most], *([f"and {more} more: see --json"] if more > 0 else [])]


def next_commands(facts: Standings) -> list[str]:
    """Commands that use the result, ready to be pasted."""
    store = shlex.quote(facts.store)
    preference = ""
    if facts.recommended:
        last = facts.recommended[-1]
        preference = f' --preference "at {typed(short_between(last.start, last.stop))}"'
    return [f"Next: polarbear select {store}{preference}", f"      polarbear report {store}"]


def failure_lines(failures: Sequence[Failure]) -> list[str]:
    """The most frequent failures, each in a line or two."""
    return _capped(
        [
            f"{failure.runs} x {visible(failure.algorithm)} {failure.status}: {failure.message} "
            f"(first on {visible(failure.example)})"
            for failure in failures
        ]
    )


def speculative_words(runs: int) -> str:
    """The number of speculative runs that no round has used."""
    return f"{counted(runs, 'speculative run')} not used"


def finished_words(done: int, total: int, failed: int) -> str:
    """The number of finished runs, and of those that failed."""
    return f"{done} of {counted(total, 'run')}{f', {failed} failed' if failed else ''}"
