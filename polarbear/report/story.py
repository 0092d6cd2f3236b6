"""The report in sentences: the headline, reasons, decisions and warnings.

Names of algorithms in sentences are marked, see `words`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.config.execution import failed_words
from polarbear.facts import summary
from polarbear.racing import VerdictKind
from polarbear.racing.recommendation import (
    LIKELY,
    MIN_PROBLEMS,
    Advice,
    Grade,
    Span,
    advise,
    leaders,
)
from polarbear.report import words
from polarbear.report.context import ReportContext, once
from polarbear.report.provenance import provenance
from polarbear.report.words import as_sentence, marked, without_marks
from polarbear.wording import (
    P_BEST,
    counted,
    decisive,
    joined,
    noun,
    percent,
    probability,
    short,
    time,
    timed,
)

FIRST_WORD = {Grade.RUN: "Run", Grade.PROBABLY: "Probably"}


@dataclass(frozen=True)
class Entry:
    """An algorithm, and why it is in the Pareto set or eliminated."""

    algorithm: str
    text: str

    @property
    def reason(self) -> str:
        return without_marks(self.text)


@dataclass(frozen=True)
class Decision:
    """A decision of a round.

    ``kind`` is eliminated, settled, reopened, withheld, cycle, reinstated, joined or doubted.
    """

    round: int
    instances: int
    kind: str
    text: str

    @property
    def words(self) -> str:
        return without_marks(self.text)


@dataclass(frozen=True)
class Opening:
    """The beginning of a report: its main result, and the evidence behind it."""

    title: str
    headline: str
    evidence: str
    warnings: tuple[str, ...]

    @property
    def answer(self) -> tuple[str, str]:
        return without_marks(self.headline), self.evidence


@dataclass(frozen=True)
class Story(Opening):
    """All sentences of a report."""

    members: tuple[Entry, ...]
    left_out: tuple[Entry, ...]
    decisions: tuple[Decision, ...]
    settings: tuple[tuple[str, str], ...]


@once
def story_of(context: ReportContext) -> Story:
    """The story of a store."""
    headline, condition = recommendation(context)
    return Story(
        title=context.store.path.resolve().name,
        headline=headline,
        evidence=" ".join(filter(None, (_evidence(context), condition))),
        members=tuple(_members(context)),
        left_out=tuple(_left_out(context)),
        decisions=tuple(
            Decision(found.number, found.state.instances, kind, as_sentence(text))
            for found in context.rounds
            for kind, text in words.decisions(found.record)
        ),
        settings=tuple(provenance(context)),
        warnings=tuple(_warnings(context)),
    )


def recommendation(context: ReportContext) -> tuple[str, str]:
    """Which algorithm to run when, no stronger than the evidence; and its condition."""
    names = context.remaining
    if context.estimates is None:
        infer = f"`polarbear infer {context.store.path}`"
        return f"Nothing has been inferred from this store yet; {infer} does it.", ""
    if len(names) == 1:
        when = _whole_grid(context)
        return f"Run {marked(names[0])}{when}: all others are eliminated.", ""
    candidates, p_best = context.p_best
    problems = context.problems_behind
    advice = advise(candidates, context.times, p_best, problems)
    if advice.grade is Grade.EARLY:
        found = leaders(candidates, context.times, p_best)
        return _undecided(context, found, float(p_best.max()), problems), ""
    condition = (
        f"A single algorithm is recommended where its {P_BEST} is at least {probability(LIKELY)}; "
        "very short spans join a neighbour."
    )
    return f"{FIRST_WORD[advice.grade]} {advised(advice, context)}", condition


def advised(advice: Advice, context: ReportContext) -> str:
    """Advice in words: recommended algorithms, then spans with several candidates."""
    if len(advice.spans) == 1:
        return f"{_either(advice.spans[0])}{_whole_grid(context)}."
    single = _by_algorithm([one for one in advice.spans if not one.is_open], context.axis)
    several = joined([f"{one.budgets()} {_either(one)}" for one in advice.spans if one.is_open])
    return "; ".join(filter(None, (single, several))) + "."


def _whole_grid(context: ReportContext) -> str:
    """The whole grid in words; it may have one time only."""
    if len(context.times) == 1:
        return f" at {timed(float(context.times[0]), context.axis)}"
    return ", whatever the budget"


def _by_algorithm(spans: Sequence[Span], axis: str) -> str:
    """Algorithms with their budgets: A up to 80 evaluations and B from 80 on."""
    found: dict[str, list[str]] = {}
    for one in spans:
        when = one.budgets("" if found else axis)
        found.setdefault(one.algorithms[0], []).append(when)
    return joined([f"{marked(name)} {joined(when)}" for name, when in found.items()])


def _either(one: Span) -> str:
    return joined([*map(marked, one.algorithms)], "or")


def _undecided(context: ReportContext, found: list[Span], most: float, problems: int | None) -> str:
    why = "Too early to say"
    if problems is not None and problems < MIN_PROBLEMS:
        why += f", on {counted(problems, 'problem')}"
    elif context.race is not None and context.race.resolved:
        why = "No algorithm stands out, though every pair is settled"
    lead = _by_algorithm(found, context.axis)
    if len(found) == 1:
        lead = f"{_either(found[0])}{_whole_grid(context)}"
    return f"{why}: the highest {P_BEST} is that of {lead}, at most {probability(most)}."


def _evidence(context: ReportContext) -> str:
    """The evidence behind the recommendation."""
    race, basis = context.race, context.basis
    if race is None:
        runs = len(context.store.runs())
        seen = counted(context.store.count_compared_instances(), "instance")
        held = f"{counted(runs, 'run')} on {seen}" if runs else f"imported rankings of {seen}"
        model = f", inferred with the {basis.posterior.model} model" if basis else ""
        earlier = "its race is to be decided again" if context.store.races.numbers() else None
        return f"This rests on {held}{model}; {earlier or 'no race was run'}."
    gone = len(race.eliminated)
    out = f"{gone or 'none'} of {counted(len(race.algorithms), 'algorithm')} "
    out += f"{noun(gone or 1, 'is', 'are')} eliminated"
    done = f"{percent(race.share_settled)} of the pairs are settled, the others still open"
    if race.resolved:
        done = f"every pair is settled, with probability {short(context.rules.alpha)} or more"
    elif race.share_settled == 0:
        done = "no pair is settled"
    said = (
        f"After {counted(race.rounds, 'round')} on {counted(race.instances, 'instance')}, {out} "
        f"and {done}; {percent(race.saved)} of the budget of running everything was saved."
    )
    if context.other_model is None:
        return said
    own = context.rounds[-1].record.inference["model"]
    by = f"by the {context.other_model} model, eliminations and settled pairs by {own}"
    return f"{said} The recommendation is {by}."


def _members(context: ReportContext) -> list[Entry]:
    """Why each algorithm is in the Pareto set."""
    if context.estimates is None:
        return []
    names, p_best = context.p_best
    spans = leaders(names, context.times, p_best)
    by_name = dict(zip(names, p_best.T, strict=True))
    return [Entry(name, _member(context, name, spans, by_name)) for name in context.remaining]


def _member(
    context: ReportContext, name: str, spans: list[Span], p_best: Mapping[str, np.ndarray]
) -> str:
    mine = [one.budgets(context.axis) for one in spans if one.algorithms == (name,)]
    if not mine:
        return f"never the best, but {_not_eliminated(context, name)}"
    if len(p_best) == 1 and context.race is not None:
        return "all others are eliminated"
    peak = int(p_best[name].argmax())
    highest = f"{decisive(float(p_best[name][peak]))} at {time(float(context.times[peak]))}"
    return f"has the highest {P_BEST} {joined(mine)}; {highest}"


def _not_eliminated(context: ReportContext, name: str) -> str:
    """Why no other algorithm has eliminated one that is never the best."""
    estimates, race = context.estimates, context.race
    assert estimates is not None
    if race is not None:
        alike = [
            marked(pair.b if pair.a == name else pair.a)
            for pair in race.settled_pairs
            if name in (pair.a, pair.b) and pair.verdict.kind is VerdictKind.EQUIVALENT
        ]
        if alike:
            return f"equivalent to {joined(alike)} at every time"
        threat = context.rounds[-1].record.threats.get(name)
        if threat is not None:  # the probability on which the race decided
            return words.not_dominated(marked(threat.by), threat.probability, race.joint)
    chance = estimates.dominance()[:, estimates.place(name)]
    rivals = {other: chance[estimates.place(other)] for other in context.remaining if other != name}
    by = max(rivals, key=rivals.__getitem__)
    return words.not_dominated(marked(by), float(rivals[by]))


def _left_out(context: ReportContext) -> list[Entry]:
    if context.race is not None:
        joint = context.race.joint
        return [
            Entry(gone.algorithm, words.eliminated_by(gone, marked(gone.by), joint))
            for gone in context.race.eliminated
        ]
    if context.basis is None or context.contest is None:
        return []
    names = context.basis.algorithms
    return [Entry(names[i], context.contest.reason) for i in context.contest.left_out]


def _warnings(context: ReportContext) -> list[str]:
    """Reasons to doubt the results."""
    made, basis = [], context.basis
    if basis is not None:
        problems = basis.posterior.diagnostics.problems
        made += [f"do not trust this posterior: {problem}" for problem in problems]
        made += basis.notes
    failed = summary.failures(context.store)
    if failed:
        runs = sum(failure.runs for failure in failed)
        made.append(failed_words(runs, context.store.settings.failures.ranks))
    hosts = summary.hosts(context.store)
    if len(hosts) > 1 and context.axis == "seconds":
        made.append(f"seconds were measured on {len(hosts)} machines")
    return made
