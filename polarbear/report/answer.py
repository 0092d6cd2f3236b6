"""The headline of a report: which algorithm to run when, no stronger than the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from polarbear.racing.recommendation import (
    LIKELY,
    MIN_PROBLEMS,
    Advice,
    Grade,
    Span,
    advise,
    leaders,
)
from polarbear.report.context import ReportContext
from polarbear.report.words import Name, Sentence, listed
from polarbear.wording import P_BEST, counted, joined, probability, timed

FIRST_WORD = {Grade.RUN: "Run ", Grade.PROBABLY: "Probably "}


def answer(context: ReportContext) -> tuple[Sentence, str]:
    """The recommendation, and a sentence on what it needs."""
    believed = context.believed
    if believed is None:
        infer = f"`polarbear infer {context.store.path}`"
        return (f"Nothing has been inferred from this store yet; {infer} does it.",), ""
    names = context.remaining
    if len(names) == 1:
        if len(believed.algorithms) == 1:
            alone = ("There is nothing to choose from: ", Name(names[0]), " is the only algorithm.")
            return alone, ""
        when = _whole_grid(context)
        return ("Run ", Name(names[0]), f"{when}: all others are eliminated."), ""
    candidates, likely = context.p_best
    problems = context.problems_behind
    advice = advise(candidates, context.times, likely, problems)
    if advice.grade is Grade.EARLY:
        found = leaders(candidates, context.times, likely)
        return _undecided(context, found, float(likely.max()), problems), ""
    words = (
        f"A single algorithm is recommended where its {P_BEST} is at least {probability(LIKELY)}; "
        "very short spans join a neighbour."
    )
    return (FIRST_WORD[advice.grade], *advised(advice, context)), words


def advised(advice: Advice, context: ReportContext) -> Sentence:
    """Advice in words, by spans of the budget."""
    if len(advice.spans) == 1:
        (only,) = advice.spans
        return (*_or(only), f"{_whole_grid(context)}.")
    return (*_by_budget(advice.spans, context.axis), ".")


def _whole_grid(context: ReportContext) -> str:
    """The whole grid in words; it may have one time only."""
    if len(context.times) == 1:
        return f" at {timed(float(context.times[0]), context.axis)}"
    return ", whatever the budget"


def _by_budget(spans: Sequence[Span], axis: str) -> Sentence:
    """The spans of each recommended algorithm, then those with several candidates."""
    claims: dict[str, list[str]] = {}
    for one in spans:
        if not one.is_open:
            when = one.budgets("" if claims else axis)
            claims.setdefault(one.algorithms[0], []).append(when)
    made = listed([(Name(name), f" {joined(when)}") for name, when in claims.items()])
    opened = [(f"{one.budgets()} ", *_or(one)) for one in spans if one.is_open]
    return (*made, "; ", *listed(opened)) if opened else made


def _or(one: Span) -> Sentence:
    return listed([(Name(name),) for name in one.algorithms], "or")


def _undecided(
    context: ReportContext, found: list[Span], most: float, problems: int | None
) -> Sentence:
    if problems is not None and problems < MIN_PROBLEMS:
        why = f"Too early to say, on {counted(problems, 'problem')}"
    elif context.race is not None and context.race.resolved:
        why = "No algorithm stands out, though every pair is settled"
    else:
        why = "Too early to say"
    return (
        f"{why}: the highest {P_BEST} is that of ",
        *_leading(context, found),
        f", at most {probability(most)}.",
    )


def _leading(context: ReportContext, found: list[Span]) -> Sentence:
    """Leaders with their spans of the budget."""
    if len(found) == 1:
        return (Name(found[0].algorithms[0]), _whole_grid(context))
    spans: dict[str, list[str]] = {}
    for one in found:
        spans.setdefault(one.algorithms[0], []).append(one.budgets(context.axis))
    return listed([(Name(name), f" {joined(when)}") for name, when in spans.items()])
