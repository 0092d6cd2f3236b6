"""The headline of a report: which algorithm to run when, no stronger than the evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polarbear.racing.recommendation import (
    LIKELY,
    MIN_PROBLEMS,
    Advice,
    Grade,
    Span,
    advise,
    leaders,
)
from polarbear.report.best_by_time import p_best, problems_behind
from polarbear.report.context import ReportContext
from polarbear.report.current_draws import still_in
from polarbear.report.prose.sentence import Name, Sentence, listed
from polarbear.report.words import in_between, roundest, span
from polarbear.wording import P_BEST, counted, joined, probability, time, timed

FIRST_WORD = {Grade.RUN: "Run ", Grade.PROBABLY: "Probably "}


def answer(context: ReportContext) -> tuple[Sentence, str]:
    """The recommendation, and a sentence on what it needs."""
    believed = context.believed
    if believed is None:
        words = (
            f"Nothing has been inferred from this store yet; `polarbear infer "
            f"{context.store.path}` does it."
        )
        return (words,), ""
    names = still_in(context)
    if len(names) == 1:
        if len(believed.algorithms) == 1:
            alone = ("There is nothing to choose from: ", Name(names[0]), " is the only algorithm.")
            return alone, ""
        when = _whole_grid(context)
        return ("Run ", Name(names[0]), f"{when}: all others are eliminated."), ""
    candidates, likely = p_best(context)
    problems = problems_behind(context)
    advice = advise(candidates, context.times, likely, problems)
    if advice.grade is Grade.EARLY:
        found = leaders(candidates, context.times, likely)
        return _undecided(context, found, float(likely.max()), problems), ""
    words = (
        f"A single algorithm is recommended where its {P_BEST} is at least {probability(LIKELY)}."
    )
    return (FIRST_WORD[advice.grade], *advised(advice, context)), words


def advised(advice: Advice, context: ReportContext) -> Sentence:
    """Advice in words, by spans of the budget."""
    if len(advice.spans) == 1:
        (only,) = advice.spans
        return (*_or(only), f"{_whole_grid(context)}.")
    return (*_by_budget(advice.spans, context.axis), ".")


def _whole_grid(context: ReportContext) -> str:
    """The budget in words where it does not matter: a grid may have one time only."""
    if len(context.times) == 1:
        return f" at {timed(float(context.times[0]), context.axis)}"
    return ", whatever the budget"


def _by_budget(spans: Sequence[Span], axis: str) -> Sentence:
    """The spans of each recommended algorithm, then those with several candidates."""
    named = [place for place, one in enumerate(spans) if not one.is_open]
    claims: dict[str, list[str]] = {}
    for place in named:
        one = spans[place]
        say: Callable[[float], str] = time if claims else lambda t: timed(t, axis)
        claims.setdefault(one.algorithms[0], []).append(_when(spans, place, say))
    said = [(Name(name), f" {joined(when)}") for name, when in claims.items()]
    made = listed(said)
    opened = [_open(spans, place) for place, one in enumerate(spans) if one.is_open]
    return (*made, "; ", *listed(opened)) if opened else made


def _when(spans: Sequence[Span], place: int, say: Callable[[float], str]) -> str:
    """The budgets of a span with one algorithm; it ends around the start of the next such span."""
    before = spans[place - 1] if place else None
    after = spans[place + 1] if place + 1 < len(spans) else None
    one = spans[place]
    low, high = one.start, one.stop
    around_low = around_high = ""
    if before is not None and not before.is_open:
        low, around_low = roundest(before.stop, one.start), "around "
    if after is not None and not after.is_open:
        high, around_high = roundest(one.stop, after.start), "around "
    if before is None:
        return f"up to {around_high}{say(high)}"
    if after is None:
        return f"from {around_low}{say(low)} on"
    if low == high:
        return f"at {say(low)}"
    return f"from {around_low}{time(low)} to {around_high}{say(high)}"


def _open(spans: Sequence[Span], place: int) -> Sentence:
    """The budgets of a span with several candidates, and the candidates."""
    one = spans[place]
    if place == 0:
        return (f"up to {time(spans[1].start)} ", *_or(one))
    before = spans[place - 1]
    if place + 1 == len(spans):
        return (f"after {time(before.stop)} ", *_or(one))
    after = spans[place + 1]
    where = in_between(before.stop, after.start)
    if {*one.algorithms} == {*before.algorithms, *after.algorithms}:
        return (f"{where} either",)
    return (f"{where} ", *_or(one))


def _or(one: Span) -> Sentence:
    return listed([(Name(name),) for name in one.algorithms], "or")


def _undecided(
    context: ReportContext, found: list[Span], most: float, problems: int | None
) -> Sentence:
    settled = context.race is not None and context.race.resolved
    few = problems is not None and problems < MIN_PROBLEMS
    why = "No algorithm stands out, though every pair is settled"
    if few:
        assert problems is not None
        why = f"Too early to say, on {counted(problems, 'problem')}"
    elif not settled:
        why = "Too early to say"
    return (
        f"{why}: the highest {P_BEST} has ",
        *_leading(context, found),
        f", at most {probability(most)}.",
    )


def _leading(context: ReportContext, found: list[Span]) -> Sentence:
    """Leaders with their spans of the budget."""
    if len(found) == 1:
        return (Name(found[0].algorithms[0]), _whole_grid(context))
    first, last = float(context.times[0]), float(context.times[-1])
    spans: dict[str, list[str]] = {}
    for one in found:
        words = span(one.start, one.stop, first, last, context.axis)
        spans.setdefault(one.algorithms[0], []).append(words)
    return listed([(Name(name), f" {joined(when)}") for name, when in spans.items()])
