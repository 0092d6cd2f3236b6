"""Sentences about the judgement of a newcomer, for a person or a language model."""

from __future__ import annotations

from collections.abc import Sequence

from polarbear.facts.newcomer_facts import CrashGroup, Gain, Lead, Loss
from polarbear.racing.newcomers import NewcomerVerdict
from polarbear.racing.state import Elimination
from polarbear.wording import counted, decisive, joined, percent, percent_cell, time, timed

MAX_LOSSES = 4  # spans that the text names; JSON has all of them
MAX_CRASHES = 3  # messages that the text names


def verdict_words(
    verdict: NewcomerVerdict,
    name: str,
    members: Sequence[str],
    problems: int,
    cached: int,
    elimination: Elimination | None,
    failure: str | None,
) -> str:
    """What became of a newcomer, and after how many problems."""
    after = f"after {counted(problems, 'problem')}"
    if verdict == NewcomerVerdict.FAILED:
        return f"{name} failed: {failure}"
    if verdict == NewcomerVerdict.ELIMINATED and elimination is not None:
        by = elimination.by
        dominated = f"P(dominated) = {decisive(elimination.probability)}"
        return f"{name} is eliminated {after}: {by} is better at every time, {dominated}"
    if verdict == NewcomerVerdict.MEMBER:
        return f"{name} is a member {after}: better than {_each(members)} at some time"
    shown = f"it was not shown to be better than {_each(members)} at some time"
    if problems < cached:
        return f"{name} is no gain {after}: {shown}, and the other {cached - problems} hardly will"
    return f"{name} is no gain: {shown} on all {counted(cached, 'cached problem')}"


def _each(members: Sequence[str]) -> str:
    return members[0] if len(members) == 1 else f"each of {joined(members)}"


def span(first: float, last: float, axis: str) -> str:
    """Neighbouring times: at 100 evaluations, from 10 to 100 evaluations."""
    if first == last:
        return f"at {timed(last, axis)}"
    return f"from {time(first)} to {timed(last, axis)}"


def lead_words(leads: Sequence[Lead], axis: str) -> str:
    """Where a newcomer leads."""
    if not leads:
        return "It leads nowhere"
    parts = [
        f"{span(lead.from_, lead.to, axis)} (wins {percent(lead.win_rate)} against {lead.rival})"
        for lead in leads
    ]
    return f"It leads {joined(parts)}"


def loss_words(losses: Sequence[Loss], axis: str) -> list[str]:
    """Where a newcomer loses, against whom, and how much longer it takes; the longest spans."""
    sentences = []
    for loss in losses[:MAX_LOSSES]:
        text = (
            f"It loses {span(loss.from_, loss.to, axis)} against {loss.rival}: wins "
            f"{percent(loss.win_rate)}"
        )
        factor = loss.times_as_long.words(axis)
        sentences.append(f"{text}, {factor}" if factor else text)
    n_hidden = len(losses) - MAX_LOSSES
    if n_hidden > 0:
        sentences.append(f"It loses in {counted(n_hidden, 'further span')}")
    return sentences


def gain_words(gain: Gain | None, axis: str) -> str:
    """The gain of a member, on problems that it was not selected on."""
    if gain is None:
        return "Too few cached problems are left to confirm its gain on"
    interval = f"{percent_cell(gain.low)} to {percent_cell(gain.high)}"
    return (
        f"Confirmed on {counted(gain.problems, 'problem')} that it was not selected on: wins "
        f"{percent(gain.win_rate)} ({interval}) against {gain.rival}, its strongest rival, "
        f"{span(gain.from_, gain.to, axis)}"
    )


def crash_words(crashes: Sequence[CrashGroup], runs: int) -> list[str]:
    """On which instances a newcomer crashed, and how."""
    return [
        f"{crash.runs} of {counted(runs, 'run')} failed, as on {joined(crash.instances)}: "
        f"{crash.message}"
        for crash in crashes[:MAX_CRASHES]
    ]
