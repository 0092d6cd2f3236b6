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
from polarbear.report.material import Material
from polarbear.report.moment import still_in
from polarbear.report.prose.sentence import Name, Sentence, listed
from polarbear.report.prose.words import in_between, roundest, span
from polarbear.wording import P_BEST, counted, joined, percent, probability, time, timed

MANY = 5  # spans that a sentence can hold
FIRST_WORD = {Grade.RUN: "Run ", Grade.PROBABLY: "Probably "}


def answer(material: Material) -> tuple[Sentence, str]:
    """The recommendation, and a sentence on what it needs."""
    believed = material.believed
    if believed is None:
        words = (
            f"Nothing has been inferred from this store yet; `polarbear infer "
            f"{material.store.path}` does it."
        )
        return (words,), ""
    names = still_in(material)
    if len(names) == 1:
        if len(believed.algorithms) == 1:
            alone = ("There is nothing to choose from: ", Name(names[0]), " is the only algorithm.")
            return alone, ""
        when = _whole_grid(material)
        return ("Run ", Name(names[0]), f"{when}: all others are eliminated."), ""
    candidates, likely = p_best(material)
    problems = problems_behind(material)
    advice = advise(candidates, material.times, likely, problems)
    if advice.grade is Grade.EARLY:
        found = leaders(candidates, material.times, likely)
        return _undecided(material, found, float(likely.max()), problems), ""
    words = (
        f"A single algorithm is recommended where its {P_BEST} is at least {probability(LIKELY)}."
    )
    return (FIRST_WORD[advice.grade], *advised(advice, material)), words


def advised(advice: Advice, material: Material) -> Sentence:
    """Advice in words: by budget, or where it changes too often, by how much of the grid."""
    if len(advice.spans) > MANY:
        return (*_by_length(advice.spans, len(material.times)), ".")
    axis = material.axis
    if len(advice.spans) == 1:
        (only,) = advice.spans
        return (Name(only.algorithms[0]), f"{_whole_grid(material)}.")
    return (*_by_budget(advice.spans, axis), ".")


def _whole_grid(material: Material) -> str:
    """Whatever the budget; a grid of one time knows of no other."""
    if len(material.times) == 1:
        return f" at {timed(float(material.times[0]), material.axis)}"
    return ", whatever the budget"


def _by_budget(spans: Sequence[Span], axis: str) -> Sentence:
    """Who is named alone up to when and from when on; then where several are in question."""
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
    """When a stretch with one name is; next to another such it ends around where that begins."""
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
    """When several are in question, and who: between the last sure time and the next one."""
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


def _by_length(spans: Sequence[Span], times: int) -> Sentence:
    held: dict[str, int] = {}
    for one in spans:
        if not one.is_open:
            held[one.algorithms[0]] = held.get(one.algorithms[0], 0) + one.times
    longest = sorted(held.items(), key=lambda entry: -entry[1])
    made = listed([(Name(name), f" at {percent(n / times)} of the times") for name, n in longest])
    rest = times - sum(held.values())
    return (*made, f"; at the other {percent(rest / times)} it is open") if rest else made


def _undecided(
    material: Material, found: list[Span], most: float, problems: int | None
) -> Sentence:
    settled = material.race is not None and material.race.resolved
    few = problems is not None and problems < MIN_PROBLEMS
    why = "No algorithm stands out, though every pair is settled"
    if few:
        assert problems is not None
        why = f"Too early to say, on {counted(problems, 'problem')}"
    elif not settled:
        why = "Too early to say"
    return (
        f"{why}: the highest {P_BEST} has ",
        *_leading(material, found),
        f", at most {probability(most)}.",
    )


def _leading(material: Material, found: list[Span]) -> Sentence:
    """Leaders with their times; with how much of the grid where they change too often."""
    first, last = float(material.times[0]), float(material.times[-1])
    if len(found) > MANY:
        return _by_length(found, len(material.times))
    if len(found) == 1:
        return (Name(found[0].algorithms[0]), _whole_grid(material))
    return listed(
        [
            (Name(one.algorithms[0]), f" {span(one.start, one.stop, first, last, material.axis)}")
            for one in found
        ]
    )
