"""The answer of a report: whom to run when, in words no stronger than what is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from polarbear.report.leading import (
    LIKELY,
    SURE,
    Advice,
    Grade,
    Stretch,
    advise,
    leaders,
    p_best,
)
from polarbear.report.material import Material
from polarbear.report.moment import draws_now, still_in
from polarbear.report.prose.sentence import Name, Sentence, listed
from polarbear.report.prose.words import in_between, roundest, span
from polarbear.wording import P_BEST, SHARE_OF_FIRSTS, joined, percent, probability, time, timed

MANY = 5  # stretches that a sentence can hold
FIRST_WORD = {Grade.RUN: "Run ", Grade.PROBABLY: "Probably "}


def answer(material: Material) -> tuple[Sentence, str]:
    """Whom to run and when; and what being named alone means, where somebody is."""
    believed = material.believed
    if believed is None:
        words = (
            f"Nothing has been inferred from this store yet; `polarbear infer "
            f"{material.store.path}` says who is likely to be best."
        )
        return (words,), ""
    names = still_in(material)
    if len(names) == 1:
        if len(believed.algorithms) == 1:
            alone = ("There is nothing to choose from: ", Name(names[0]), " is the only algorithm.")
            return alone, ""
        when = _whole_grid(material)
        return ("Run ", Name(names[0]), f"{when}: everybody else is out."), ""
    if draws_now(material) is None:
        return _looking_back(material), ""
    candidates, likely = p_best(material)
    advice = advise(candidates, material.times, likely)
    if advice.grade is Grade.EARLY:
        found = leaders(candidates, material.times, likely)
        return _undecided(material, found, float(likely.max())), ""
    words = (
        f"Named alone is who has {P_BEST} {probability(LIKELY)} or more, and at "
        f"{percent(advice.sure)} of the times somebody has {probability(SURE)} or more."
    )
    return (FIRST_WORD[advice.grade], *advised(advice, material)), words


def advised(advice: Advice, material: Material) -> Sentence:
    """Advice in words: by budget, or where it changes too often, by how much of the grid."""
    if len(advice.stretches) > MANY:
        return (*_by_length(advice.stretches, len(material.times)), ".")
    axis = material.axis
    if len(advice.stretches) == 1:
        (only,) = advice.stretches
        return (Name(only.algorithms[0]), f"{_whole_grid(material)}.")
    return (*_by_budget(advice.stretches, axis), ".")


def _whole_grid(material: Material) -> str:
    """Whatever the budget; a grid of one time knows of no other."""
    if len(material.times) == 1:
        return f" at {timed(float(material.times[0]), material.axis)}"
    return ", whatever the budget"


def _by_budget(stretches: Sequence[Stretch], axis: str) -> Sentence:
    """Who is named alone up to when and from when on; then where several are in question."""
    named = [place for place, one in enumerate(stretches) if not one.is_open]
    claims: dict[str, list[str]] = {}
    for place in named:
        one = stretches[place]
        say: Callable[[float], str] = time if claims else lambda t: timed(t, axis)
        claims.setdefault(one.algorithms[0], []).append(_when(stretches, place, say))
    said = [(Name(name), f" {joined(when)}") for name, when in claims.items()]
    made = listed(said)
    opened = [_open(stretches, place) for place, one in enumerate(stretches) if one.is_open]
    return (*made, "; ", *listed(opened)) if opened else made


def _when(stretches: Sequence[Stretch], place: int, say: Callable[[float], str]) -> str:
    """When a stretch with one name is; next to another such it ends around where that begins."""
    before = stretches[place - 1] if place else None
    after = stretches[place + 1] if place + 1 < len(stretches) else None
    one = stretches[place]
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


def _open(stretches: Sequence[Stretch], place: int) -> Sentence:
    """When several are in question, and who: between the last sure time and the next one."""
    one = stretches[place]
    if place == 0:
        return (f"up to {time(stretches[1].start)} ", *_or(one))
    before = stretches[place - 1]
    if place + 1 == len(stretches):
        return (f"after {time(before.stop)} ", *_or(one))
    after = stretches[place + 1]
    where = in_between(before.stop, after.start)
    if {*one.algorithms} == {*before.algorithms, *after.algorithms}:
        return (f"{where} either",)
    return (f"{where} ", *_or(one))


def _or(one: Stretch) -> Sentence:
    return listed([(Name(name),) for name in one.algorithms], "or")


def _by_length(stretches: Sequence[Stretch], times: int) -> Sentence:
    held: dict[str, int] = {}
    for one in stretches:
        if not one.is_open:
            held[one.algorithms[0]] = held.get(one.algorithms[0], 0) + one.times
    longest = sorted(held.items(), key=lambda entry: -entry[1])
    made = listed([(Name(name), f" at {percent(n / times)} of the times") for name, n in longest])
    rest = times - sum(held.values())
    return (*made, f"; at the other {percent(rest / times)} it is open") if rest else made


def _looking_back(material: Material) -> Sentence:
    believed = material.believed
    assert believed is not None
    names = [name for name in believed.algorithms if name in still_in(material)]
    mean = believed.mean[[believed.place(name) for name in names]].T
    return (
        f"The highest {SHARE_OF_FIRSTS} then was that of ",
        *_leading(material, leaders(names, believed.times, mean)),
        "; how sure that was is not kept.",
    )


def _undecided(material: Material, found: list[Stretch], most: float) -> Sentence:
    settled = material.race is not None and material.race.resolved
    why = "Nobody stands out, though every pair is settled" if settled else "Too early to say"
    return (
        f"{why}: the likeliest to be best is ",
        *_leading(material, found),
        f", with {P_BEST} {probability(most)} at most.",
    )


def _leading(material: Material, found: list[Stretch]) -> Sentence:
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
