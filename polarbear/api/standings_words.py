"""The state of a race, and failures of its algorithms, as a table and lines."""

import sys
from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from polarbear.api.text_table import TableText, folded, table_lines
from polarbear.facts.standings import AlgorithmStanding, OpenPair, Standing, Standings
from polarbear.facts.summary import Failure
from polarbear.racing import ChoiceQuestion, OpenChoice, Threat
from polarbear.racing.verdicts import cycle_words, reinstated_words
from polarbear.report.words import (
    BETTER_AT_SOME_TIME,
    ONLY_SURVIVOR,
    as_sentence,
    budgets_of_member,
    deciding_probability,
    error_bound,
    error_estimate,
    evidence,
    evidence_needed,
    nearest_elimination,
    without_marks,
)
from polarbear.wording import (
    P_BEST,
    counted,
    duration,
    incomparable_words,
    joined,
    percent,
    probability,
    small,
    time,
    timed,
    visible,
)

STATUS = {
    Standing.SETTLED: "not eliminated",
    Standing.IN: "candidate",
    Standing.OUT: "eliminated",
    Standing.JOINING: "catching up",
}
MAX_ROWS = 12
MAX_LINES = 5  # lines of one kind; --json has all of them
MIN_SPANS = 4
MAX_SPANS_IN_REASON = 2
SCREEN_LINES = 23  # and one for the prompt


def standings_lines(
    facts: Standings, columns: int | None, verbose: bool = False, after: Sequence[str] = ()
) -> list[str]:
    """The state of a race, and the lines ``after`` it, on one screen of a terminal.

    A file, which has no number of ``columns``, gets all rows. ``verbose`` shows all on a terminal,
    too, and adds settled pairs.
    """
    is_short = columns is not None and not verbose
    for max_rows in range(MAX_ROWS, 0, -1) if is_short else [sys.maxsize]:
        lines = [*_lines(facts, columns, verbose, max_rows), *folded(after, columns)]
        if len(lines) <= SCREEN_LINES:
            break
    return lines


def _lines(facts: Standings, columns: int | None, verbose: bool, max_rows: int) -> list[str]:
    """The state of a race in lines, with at most ``max_rows`` rows and lines of a kind."""
    titles, rows = standings_table(facts, max_rows)
    above = [_not_eliminated_line(facts, max(max_rows, 3))]
    above += _recommendations(facts, max(max_rows, MIN_SPANS))
    below = []
    hidden_rows = len(facts.algorithms) - len(rows)
    if hidden_rows:
        below.append(f"and {counted(hidden_rows, 'more algorithm')}: see `status`")
    below += _lines_of_summary(facts)
    pairs = [] if facts.is_for_preferences else [_open_words(pair) for pair in facts.open_pairs]
    if verbose and facts.eliminated and facts.p_any_wrong is not None:
        below.append(as_sentence(error_estimate(facts.p_any_wrong)))
    if verbose:
        below += [*pairs, *(f"{pair.words}." for pair in facts.settled_pairs)]
    else:
        below += _capped(pairs, min(max(max_rows // 2, 1), MAX_LINES))
    choices = [_open_choice_words(choice) for choice in facts.open_choices]
    below += choices if verbose else _capped(choices, min(max(max_rows // 2, 1), MAX_LINES))
    below += _warnings(facts)
    return [*folded(above, columns), *table_lines(titles, rows, columns), *folded(below, columns)]


def _not_eliminated_line(facts: Standings, max_names: int) -> str:
    """The algorithms that are not eliminated, at most ``max_names`` of them by name."""
    so_far = "" if facts.resolved else " so far"
    line = f"Not eliminated{so_far}: {', '.join(facts.pareto_set[:max_names])}"
    if len(facts.pareto_set) > max_names:
        line = f"{line} and {len(facts.pareto_set) - max_names} more"
    return line


def _lines_of_summary(facts: Standings) -> list[str]:
    """The cost of a race, what bounds the error of its eliminations, and what these need."""
    lines = [f"{summary_line(facts)}."]
    bound = error_bound(facts.rules.rules)
    if facts.eliminated and bound:
        lines = [f"{lines[0]} {as_sentence(bound)}"]
    needed = evidence_needed(facts.rules)
    reasons = [_reason(facts, entry) for entry in facts.algorithms]
    if needed and any(deciding_probability(facts.rules) in reason for reason in reasons):
        lines.append(as_sentence(needed))
    return lines


def standings_table(facts: Standings, max_rows: int = MAX_ROWS) -> TableText:
    """The status of each algorithm, its cost, and the reason.

    With more than ``max_rows`` algorithms, those that are most likely to be dominated are left out.
    """
    least_dominated_first = sorted(
        facts.algorithms, key=lambda entry: (entry.standing == "out", entry.probability or 0)
    )
    names = {entry.algorithm for entry in least_dominated_first[:max_rows]}
    rows = [
        [
            entry.algorithm,
            _status(entry),
            f"{facts.instances_by_algorithm[entry.algorithm]}",
            time(entry.spent),
            _reason(facts, entry),
        ]
        for entry in facts.algorithms
        if entry.algorithm in names
    ]
    return ["algorithm", "status", "problems#", f"{facts.axis}#", "reason"], rows


def _status(entry: AlgorithmStanding) -> str:
    """The status in words; a member was shown to be one, whatever else is open."""
    is_candidate = entry.standing in (Standing.IN, Standing.SETTLED)
    return "member" if is_candidate and entry.member else STATUS[entry.standing]


def _reason(facts: Standings, entry: AlgorithmStanding) -> str:
    """Why an algorithm has its status: the evidence of an elimination, or where it is the best."""
    for elimination in facts.eliminated:
        if elimination.algorithm == entry.algorithm:
            found = evidence(elimination, facts.rules)
            return f"by {elimination.by} in round {elimination.round}: {found}"
    if entry.standing == "joining":
        return f"on {facts.caught_up} of {facts.instances} problems"
    if len(facts.pareto_set) == 1:
        return ONLY_SURVIVOR
    spans = [span for span in facts.recommended if entry.algorithm in span.algorithms]
    if spans and not facts.too_early:
        if len(spans) > MAX_SPANS_IN_REASON:
            return f"likely the best in {len(spans)} spans of the budget"
        return budgets_of_member(spans, entry.algorithm)
    if entry.member:
        return BETTER_AT_SOME_TIME
    nearest = _nearest(entry)
    if nearest is None:
        return ""
    is_open = _is_open(facts, entry.algorithm, nearest.by)
    return without_marks(nearest_elimination(nearest, facts.rules, is_open))


def _nearest(entry: AlgorithmStanding) -> Threat | None:
    """The algorithm that comes nearest to eliminating another one, and its evidence."""
    if entry.by is None or entry.probability is None:
        return None
    return Threat(entry.by, entry.probability, entry.sceptical, entry.wealth)


def _is_open(facts: Standings, first: str, other: str) -> bool:
    return any({pair.a, pair.b} == {first, other} for pair in facts.open_pairs)


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
    problems = counted(forecast.high, "more problem")
    if forecast.low != forecast.high:
        problems = f"{forecast.low} to {problems}"
    cost = timed(forecast.high * forecast.an_instance, facts.axis)
    if seconds_per_instance is not None:
        cost = f"{cost} or {duration(seconds_per_instance * forecast.high)}"
    return [f"forecast: {problems}, at most {cost}"]


def _recommendations(facts: Standings, max_spans: int) -> list[str]:
    """Spans of the budget with the algorithm that is likely to be the best there."""
    spans = facts.recommended
    if facts.is_for_preferences:
        return []  # Other times than those of the preferences are compared on few problems.
    if len(facts.pareto_set) == 1 or not spans:
        return []
    budgets = [span.budgets(facts.axis if span.is_first else "") for span in spans]
    names = [visible(joined(span.algorithms, "or")) for span in spans]
    budget_width = max(map(cell_len, budgets))
    name_width = max(map(cell_len, names))
    lines = []
    factors = {factor.from_: factor for factor in facts.times_as_long}
    for span, budget, name in zip(spans, budgets, names, strict=True):
        certainty = f"{P_BEST} = {_range(*span.p_best)}"
        if span.is_open:
            certainty = "too close to call"
        if span.same_on:
            certainty = f"the same values in all {counted(span.same_on, 'problem')}"
        factor = factors.get(span.start)
        if factor is not None and factor.is_faster and len(span.algorithms) == 1:
            certainty = f"{certainty}, {factor.words(facts.axis)}"
        aligned_budget = set_cell_size(budget, budget_width)
        lines.append(f"  {aligned_budget}   {set_cell_size(name, name_width)}   {certainty}")
    lines = _capped(lines, min(max_spans, MAX_LINES))
    if facts.too_early:
        return ["  too early to recommend one algorithm; so far:", *lines]
    return lines


def _warnings(facts: Standings) -> list[str]:
    """Limits of the result: cycles, a misfit, failures; and the forecast of an open race."""
    is_open = bool(facts.open_choices) or not (facts.resolved or facts.is_for_preferences)
    lines = forecast_words(facts) if is_open else []
    lines += [f"{cycle_words(names)}." for names in facts.cycles]
    lines += [f"{reinstated_words(name)}." for name in facts.reinstated]
    if facts.drift is not None:
        lines.append(f"warning: {facts.drift.words}")
    if facts.incomparable is not None:
        lines.append(incomparable_words([share._asdict() for share in facts.incomparable]) + ".")
    if facts.fit is not None and facts.fit.words:
        lines.append(f"warning: {facts.fit.words}")
    if facts.failure_words:
        lines.append(f"{facts.failure_words}: `polarbear status {facts.store}` shows why")
    return lines


def _open_words(pair: OpenPair) -> str:
    times = f"at {time(pair.from_)}"
    if pair.times > 1:
        times = f"at {pair.times} times from {time(pair.from_)} to {time(pair.to)}"
    words = f"{pair.a} and {pair.b}: open {times}"
    if pair.p_above is None:
        return words
    return f"{words}, P({pair.a} better) = {_range(*pair.p_above)}"


def _open_choice_words(choice: OpenChoice) -> str:
    """Between which algorithms the choice is open, and at which times."""
    times = f"at {time(choice.first)}"
    if choice.first != choice.last:
        times = f"from {time(choice.first)} to {time(choice.last)}"
    words = f"choice {times}: open between {joined(choice.algorithms)}"
    if choice.regret is None:
        return words
    return f"{words}, expected regret up to {small(choice.regret)}"


def _range(low: float, high: float) -> str:
    return " to ".join(dict.fromkeys((f"{low:.2f}", f"{high:.2f}")))


def _capped(lines: list[str], max_lines: int = MAX_LINES) -> list[str]:
    """The first lines, and the number of the others."""
    if len(lines) <= max_lines:
        return lines
    return [*lines[:max_lines], f"and {len(lines) - max_lines} more: see --json"]


def purpose_words(purpose: ChoiceQuestion) -> str:
    """The choice for a preference in a race for it, and who is out for it."""
    start = f"For '{purpose.preference}'"
    if purpose.choice is None or purpose.p2bb is None or purpose.expected_regret is None:
        return f"{start}: no choice yet"
    words = (
        f"{start}: {purpose.choice}, {P_BEST} = {probability(purpose.p2bb)}, "
        f"expected regret {small(purpose.expected_regret)}"
    )
    if purpose.as_good_as:
        words = f"{words}, as good as {joined(purpose.as_good_as)}"
    if purpose.out:
        words = f"{words}; not considered further: {joined([out.algorithm for out in purpose.out])}"
    return f"{words}."


def next_lines(facts: Standings) -> list[str]:
    """The commands that lead on, ready to be pasted."""
    first, *others = facts.next
    return [f"Next: {first}", *(f"      {command}" for command in others)]


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
    words = f"{done} of {counted(total, 'run')}"
    return f"{words}, {failed} failed" if failed else words
