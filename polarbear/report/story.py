"""The report in sentences: the headline, reasons, decisions, settings and warnings.

Names of algorithms in sentences are marked, see `words`.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np

from polarbear import __version__
from polarbear.config import failed_words, failures_in
from polarbear.racing import Kind, verdict_on
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
from polarbear.report.context import ReportContext, Round, once
from polarbear.report.words import marked, plain, standing_alone
from polarbear.store import summary
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
PACKAGES = ("numpy", "scipy", "numba", "nutpie", "cmdstanpy", "ioh", "modcma", "cma")


@dataclass(frozen=True)
class Entry:
    """An algorithm, and why it is in the Pareto set or eliminated."""

    algorithm: str
    said: str

    @property
    def reason(self) -> str:
        return plain(self.said)


@dataclass(frozen=True)
class Decision:
    """A decision of a round.

    ``kind`` is eliminated, settled, reopened, withheld, cycle, reinstated, joined or doubted.
    """

    round: int
    instances: int
    kind: str
    said: str

    @property
    def words(self) -> str:
        return plain(self.said)


@dataclass(frozen=True)
class Opening:
    """The beginning of a report: its main result, and the evidence behind it."""

    title: str
    headline: str
    evidence: str
    warnings: tuple[str, ...]

    @property
    def answer(self) -> tuple[str, str]:
        return plain(self.headline), self.evidence


@dataclass(frozen=True)
class Story(Opening):
    """All sentences of a report."""

    members: tuple[Entry, ...]
    out: tuple[Entry, ...]
    decisions: tuple[Decision, ...]
    settings: tuple[tuple[str, str], ...]


@once
def tell(context: ReportContext) -> Story:
    """The story of a store."""
    headline, condition = recommendation(context)
    return Story(
        title=context.store.path.resolve().name,
        headline=headline,
        evidence=" ".join(filter(None, (_evidence(context), condition))),
        members=tuple(_members(context)),
        out=tuple(_out(context)),
        decisions=tuple(d for found in context.rounds for d in decisions(context, found)),
        settings=tuple(_settings(context)),
        warnings=tuple(_warnings(context)),
    )


def recommendation(context: ReportContext) -> tuple[str, str]:
    """Which algorithm to run when, no stronger than the evidence; and its condition."""
    believed, names = context.believed, context.remaining
    if believed is None:
        infer = f"`polarbear infer {context.store.path}`"
        return f"Nothing has been inferred from this store yet; {infer} does it.", ""
    if len(believed.algorithms) == 1:
        only = marked(names[0])
        return f"There is nothing to choose from: {only} is the only algorithm.", ""
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
    if context.believed is None:
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
    believed, race = context.believed, context.race
    assert believed is not None
    if race is not None:
        alike = [
            marked(pair.b if pair.a == name else pair.a)
            for pair in race.settled_pairs
            if name in (pair.a, pair.b) and pair.verdict.kind is Kind.EQUIVALENT
        ]
        if alike:
            return f"equivalent to {joined(alike)} at every time"
        threat = context.rounds[-1].record.threats.get(name)
        if threat is not None:  # the probability on which the race decided
            return words.not_dominated(marked(threat.by), threat.probability, race.joint)
    chance = believed.dominance()[:, believed.place(name)]
    rivals = {other: chance[believed.place(other)] for other in context.remaining if other != name}
    if not rivals:
        return "no other algorithm is left"
    by = max(rivals, key=rivals.__getitem__)
    return words.not_dominated(marked(by), float(rivals[by]))


def _out(context: ReportContext) -> list[Entry]:
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


def decisions(context: ReportContext, found: Round) -> list[Decision]:
    """The decisions of one round, in words."""
    record, state, taken = found.record, found.state, found.record.decisions
    made = [
        (
            "eliminated",
            words.eliminated(marked(one.algorithm), marked(one.by), one.probability, record.joint),
        )
        for one in taken.eliminated
    ]
    made += [
        ("settled", verdict_on(state, a, b).words(marked(a), marked(b)))
        for a, b in taken.settled_pairs
        if {a, b} <= set(state.candidates)
    ]
    made += [("reopened", words.reopened(state, a, b)) for a, b in taken.reopened]
    made += [("withheld", words.withheld(*map(marked, pair))) for pair in taken.withheld]
    made += [("cycle", words.cycle([*map(marked, names)])) for names in taken.cycles]
    made += [("reinstated", words.reinstated(marked(name))) for name in taken.reinstated]
    if taken.caught_up:
        made.append(("joined", words.caught_up(marked(taken.caught_up))))
    made += [("doubted", words.not_usable(problem)) for problem in record.problems]
    return [
        Decision(found.number, state.instances, kind, standing_alone(text)) for kind, text in made
    ]


def _settings(context: ReportContext) -> list[tuple[str, str]]:
    """The settings that are needed to repeat it."""
    store, config, times = context.store, context.store.config, context.times
    manifest, basis = store.manifest, context.basis
    span = f"{time(float(times[0]))} to {timed(float(times[-1]), context.axis)}"
    made = [
        ("Store", str(store.path)),
        ("Made", f"{manifest.created} by PolarBear {manifest.tool}"),
        ("Report by", f"PolarBear {__version__}, Python {platform.python_version()}"),
        ("Seed", str(config["seed"])),
        ("Instances", _options(config["instances"])),
        ("Times", f"{len(times)} from {span}"),
    ]
    made += [("Algorithm", f"{name}: {_options(o)}") for name, o in config["algorithms"].items()]
    if context.rounds:
        record = context.rounds[-1].record
        made.append(("Race", _options({**record.rules, **record.settings})))
        made.append(("Inference", _options(record.inference)))
    elif basis is not None:
        made.append(("Inference", _options(basis.posterior.options.model_dump(mode="json"))))
    if basis is not None:
        posterior = basis.posterior
        by = f"{posterior.model}, {posterior.engine} engine, {posterior.method}"
        draws = f"{counted(posterior.n_draws, 'draw')}, seed {posterior.seed}, key {basis.key}"
        made.append(("Posterior", f"{by}, {draws}"))
    hosts = summary.hosts(store)
    if hosts:
        made.append(("Machines", "; ".join(f"{h.cpu} ({counted(h.runs, 'run')})" for h in hosts)))
    packages = [f"{name} {version(name)}" for name in PACKAGES if find_spec(name)]
    made.append(("Packages", ", ".join(packages)))
    made.append(("Configuration", f"sha256 {manifest.config_hash}"))
    return made


def flat(settings: Mapping[str, object], path: str = "") -> dict[str, object]:
    """Nested settings by their keys, written with dots; those that are not set are left out."""
    found: dict[str, object] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{path}{key}.")
        elif value is not None:
            found[f"{path}{key}"] = value
    return found


def _options(options: Mapping[str, object]) -> str:
    """Settings as text: key value, key value."""
    shown = {key: short(x) if isinstance(x, float) else x for key, x in flat(options).items()}
    return ", ".join(f"{key} {value}" for key, value in shown.items())


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
        made.append(failed_words(runs, failures_in(context.store.config).ranks))
    hosts = summary.hosts(context.store)
    if len(hosts) > 1 and context.axis == "seconds":
        made.append(f"seconds were measured on {len(hosts)} machines")
    return made
