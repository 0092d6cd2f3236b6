"""The report in sentences: the headline, reasons, decisions and warnings.

Names of algorithms in sentences are marked, see `words`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polarbear.config.execution import failed_words
from polarbear.facts import summary
from polarbear.racing import OPEN, Threat, VerdictKind, is_shown_member
from polarbear.racing.recommendation import (
    LIKELY,
    MIN_PROBLEMS,
    Advice,
    Grade,
    Span,
)
from polarbear.report import words
from polarbear.report.context import ReportContext, once
from polarbear.report.provenance import provenance
from polarbear.report.words import as_sentence, marked, without_marks
from polarbear.settings.grid import TIMED_AXES
from polarbear.wording import (
    P_BEST,
    contract_words,
    counted,
    incomparable_words,
    joined,
    noun,
    percent,
    probability,
    same_values,
    timed,
)

FIRST_WORD = {Grade.RUN: "Run", Grade.PROBABLY: "Probably"}


@dataclass(frozen=True)
class Entry:
    """An algorithm, and why it is a candidate or eliminated."""

    algorithm: str
    text: str

    @property
    def reason(self) -> str:
        return without_marks(self.text)


@dataclass(frozen=True)
class Decision:
    """A decision of a round.

    ``kind`` is one of eliminated, settled, reopened, withheld, cycle, reinstated, joined, doubted.
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
    evidence = _evidence(context)
    return Story(
        title=context.store.path.resolve().name,
        headline=headline,
        evidence=f"{evidence} {condition}" if condition else evidence,
        members=tuple(_members(context)),
        left_out=tuple(_left_out(context)),
        decisions=tuple(_decisions(context)),
        settings=tuple(provenance(context)),
        warnings=tuple(_warnings(context)),
    )


def _decisions(context: ReportContext) -> Iterator[Decision]:
    """The decisions of all rounds."""
    reopened_before: set[tuple[str, str]] = set()
    for entry in context.rounds:
        for kind, text in words.decisions(entry.record, reopened_before):
            yield Decision(entry.number, entry.state.instances, kind, as_sentence(text))
        reopened_before.update(entry.record.decisions.reopened)


def recommendation(context: ReportContext) -> tuple[str, str]:
    """Which algorithm to run when, no stronger than the evidence; and its condition."""
    names = context.remaining
    if context.estimates is None:
        infer = f"`polarbear infer {context.store.path}`"
        return f"Nothing has been inferred from this store yet; {infer} does it.", ""
    if len(names) == 1:
        return f"Run {marked(names[0])}{_at_all_budgets(context)}: {words.ONLY_SURVIVOR}.", ""
    advice = context.advice
    if advice.grade is Grade.EARLY:
        lead_on = f"Next: `{context.race.next[0]}`." if context.race is not None else ""
        return _undecided(context, advice), lead_on
    if all(span.same_on for span in advice.spans):
        return advised(advice, context), ""
    condition = (
        f"A single algorithm is recommended where its {P_BEST} is at least {probability(LIKELY)}; "
        "short spans join a neighbour."
    )
    return f"{FIRST_WORD[advice.grade]} {advised(advice, context)}", condition


def advised(advice: Advice, context: ReportContext) -> str:
    """Advice in words: recommended algorithms, then spans with several candidates."""
    if len(advice.spans) == 1:
        (only,) = advice.spans
        if only.same_on:
            return f"{_same_values(only)}: run either{_at_all_budgets(context)}."
        return f"{_either(only)}{_at_all_budgets(context)}."
    parts = []
    decided_spans = [span for span in advice.spans if len(span.algorithms) == 1]
    if decided_spans:
        parts.append(_by_algorithm(decided_spans, context.axis))
    open_spans = [span for span in advice.spans if span.is_open]
    if open_spans:
        parts.append(joined([f"{span.budgets()} {_either(span)}" for span in open_spans]))
    parts += [
        f"{span.budgets(context.axis)} {_same_values(span)}"
        for span in advice.spans
        if span.same_on
    ]
    return "; ".join(parts) + "."


def _at_all_budgets(context: ReportContext) -> str:
    """All budgets of the grid in words; it may have one time only."""
    if len(context.times) == 1:
        return f" at {timed(float(context.times[0]), context.axis)}"
    return ", whatever the budget"


def _by_algorithm(spans: Sequence[Span], axis: str) -> str:
    """Algorithms with their budgets: A up to 80 evaluations and B from 80 on."""
    budgets: dict[str, list[str]] = {}
    for span in spans:
        # The first number has a unit, the others do without.
        text = span.budgets("" if budgets else axis)
        budgets.setdefault(span.algorithms[0], []).append(text)
    return joined([f"{marked(name)} {joined(texts)}" for name, texts in budgets.items()])


def _same_values(span: Span) -> str:
    return same_values([*map(marked, span.algorithms)], span.same_on)


def _either(span: Span) -> str:
    return joined([*map(marked, span.algorithms)], "or")


def _undecided(context: ReportContext, advice: Advice) -> str:
    """Why no algorithm is recommended, and which ones have the highest P(best)."""
    n_problems = context.fewest_shared_problems
    highest = float(context.p_best[1].max())
    reason = "Too early to say"
    if n_problems == 0:
        reason += ", where two candidates share no problem"
    elif n_problems is not None and n_problems < MIN_PROBLEMS:
        reason += f", on {counted(n_problems, 'problem')}"
    elif context.race is not None and context.race.resolved:
        reason = "No algorithm stands out, though every pair is settled"
    likely_best = advised(advice, context).removesuffix(".")
    return (
        f"{reason}. The likely best so far: {likely_best} (highest {P_BEST}: "
        f"{probability(highest)})."
    )


def _evidence(context: ReportContext) -> str:
    """The evidence behind the recommendation."""
    if context.race is None:
        return _evidence_without_race(context)
    race = context.race
    n_eliminated = len(race.eliminated)
    eliminated = (
        f"{n_eliminated or 'none'} of {counted(len(race.algorithms), 'algorithm')} "
        f"{noun(n_eliminated or 1, 'is', 'are')} eliminated"
    )
    if race.resolved:
        settled = "every pair is settled"
    elif race.share_settled == 0:
        settled = "no pair is settled"
    else:
        settled = f"{percent(race.share_settled)} of the pairs are settled, the others still open"
    evidence = (
        f"After {counted(race.rounds, 'round')} on {counted(race.instances, 'instance')}, "
        f"{eliminated} and {settled}; {percent(race.saved)} of the budget of running everything "
        "was saved."
    )
    evidence += _incomparable(context)
    for name, times in context.rounds[-1].state.contracts.items():
        evidence += (
            f" {name} is {contract_words(times, race.axis)}; its pairs are decided at these times."
        )
    bound = words.error_bound(context.rules)
    if race.eliminated and bound:
        evidence += f" {as_sentence(bound)}"
    if context.other_model is None:
        return evidence
    race_model = context.rounds[-1].record.settings.inference.model
    return (
        f"{evidence} The recommendation is by the {context.other_model} model, eliminations and "
        f"settled pairs by {race_model}."
    )


def _incomparable(context: ReportContext) -> str:
    """A sentence on the share of incomparable duels; empty with one objective."""
    basis = context.basis
    shares = None
    if basis is not None and basis.posterior.duels is not None:
        shares = basis.posterior.duels.incomparable_shares()
    if basis is None or shares is None:
        return ""
    by_time = zip(basis.posterior.times.tolist(), shares.tolist(), strict=True)
    entries = [{"t": t, "share": share} for t, share in by_time]
    rule = words.duel_words(context.store.settings.duels, context.store.sign)
    return f" {as_sentence(incomparable_words(entries))} {as_sentence(rule)}"


def _evidence_without_race(context: ReportContext) -> str:
    store = context.store
    n_runs = len(store.runs())
    instances = counted(store.count_compared_instances(), "instance")
    if n_runs:
        evidence = f"{counted(n_runs, 'run')} on {instances}"
    else:
        evidence = f"imported rankings of {instances}"
    if context.basis is not None:
        evidence += f", inferred with the {context.basis.posterior.model} model"
    race = "its race is to be decided again" if store.races.numbers() else "no race was run"
    return f"This rests on {evidence}; {race}.{_incomparable(context)}"


def _members(context: ReportContext) -> list[Entry]:
    """Why each algorithm is a candidate."""
    if context.estimates is None:
        return []
    names, p_best = context.p_best
    spans = context.advice.spans
    by_name = dict(zip(names, p_best.T, strict=True))
    return [Entry(name, _member(context, name, spans, by_name)) for name in context.remaining]


def member_note(context: ReportContext) -> str | None:
    """The meaning of the words member and settled, and of evidence; None without a race."""
    if context.race is None:
        return None
    note = f"{words.MEMBER_MEANS}. {as_sentence(words.settled_means(context.rules))}"
    needed = words.evidence_needed(context.race.rules)
    return f"{note} {as_sentence(needed)}" if needed else note


def _member(
    context: ReportContext, name: str, spans: Sequence[Span], p_best: Mapping[str, np.ndarray]
) -> str:
    if len(p_best) == 1 and context.race is not None:
        return words.ONLY_SURVIVOR
    is_member = bool(context.rounds) and is_shown_member(context.rounds[-1].state, name)
    member = "member; " if is_member else ""
    budgets = words.budgets_of_member(spans, name, context.axis)
    highest = f"highest {P_BEST}: {words.highest(p_best[name], context.times)}"
    if not budgets:
        return f"{member}{highest}; {_not_eliminated(context, name)}"
    return f"{member}{budgets}; {highest}"


def _not_eliminated(context: ReportContext, name: str) -> str:
    """Why a candidate that is in no recommended span was not eliminated."""
    estimates = context.estimates
    race = context.race
    assert estimates is not None
    if race is not None:
        alike = [
            marked(pair.b if pair.a == name else pair.a)
            for pair in race.settled_pairs
            if name in (pair.a, pair.b) and pair.verdict.kind is VerdictKind.EQUIVALENT
        ]
        if alike:
            return f"equivalent to {joined(alike)} at every time"
        last = context.rounds[-1]
        threat = last.record.threats.get(name)
        if threat is not None:
            is_open = bool((last.state.relation(name, threat.by) == OPEN).any())
            return words.nearest_elimination(threat, last.record.settings, is_open)
    p_dominated = estimates.dominance()[:, estimates.row_of(name)]
    rivals = {
        other: float(p_dominated[estimates.row_of(other)])
        for other in context.remaining
        if other != name
    }
    strongest = max(rivals, key=rivals.__getitem__)
    return words.p_dominated(Threat(strongest, rivals[strongest]))


def _left_out(context: ReportContext) -> list[Entry]:
    if context.race is not None:
        settings = context.rounds[-1].record.settings
        return [
            Entry(elimination.algorithm, words.eliminated_by(elimination, settings))
            for elimination in context.race.eliminated
        ]
    if context.basis is None or context.contest is None:
        return []
    names = context.basis.algorithms
    return [Entry(names[i], context.contest.reason) for i in context.contest.left_out]


def _warnings(context: ReportContext) -> list[str]:
    """Reasons to doubt the results."""
    warnings: list[str] = []
    basis = context.basis
    if basis is not None:
        problems = basis.posterior.diagnostics.problems
        warnings += [f"do not trust this posterior: {problem}" for problem in problems]
        warnings += basis.notes
    failed = summary.failures(context.store)
    if failed:
        n_failed = sum(failure.runs for failure in failed)
        warnings.append(failed_words(n_failed, context.store.settings.failures.ranks))
    hosts = summary.hosts(context.store)
    if len(hosts) > 1 and context.axis in TIMED_AXES:
        warnings.append(f"seconds were measured on {len(hosts)} machines")
    return warnings
