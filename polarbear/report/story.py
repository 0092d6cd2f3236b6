"""The report in sentences: the headline, reasons, decisions, settings and warnings."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from polarbear import __version__
from polarbear.config import failed_words, failures_in
from polarbear.inference.fit import named
from polarbear.racing import Kind, verdict_on
from polarbear.racing.recommendation import Span, leaders
from polarbear.report import words
from polarbear.report.answer import answer
from polarbear.report.context import ReportContext, Round, once
from polarbear.report.words import Sentence, marked, parsed, plain, standing_alone
from polarbear.store import summary
from polarbear.wording import P_BEST, counted, decisive, joined, noun, percent, short, time, timed

PACKAGES = ("numpy", "scipy", "numba", "nutpie", "cmdstanpy", "ioh", "modcma", "cma")


@dataclass(frozen=True)
class Entry:
    """An algorithm, and why it is in the Pareto set or eliminated."""

    algorithm: str
    said: Sentence

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
    said: Sentence

    @property
    def words(self) -> str:
        return plain(self.said)


@dataclass(frozen=True)
class Opening:
    """The beginning of a report: its main result, and the evidence behind it."""

    title: str
    headline: Sentence
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
    headline, asked = answer(context)
    return Story(
        title=context.store.path.resolve().name,
        headline=headline,
        evidence=" ".join(filter(None, (_evidence(context), asked))),
        members=tuple(_members(context)),
        out=tuple(_out(context)),
        decisions=tuple(d for found in context.rounds for d in decisions(context, found)),
        settings=tuple(_settings(context)),
        warnings=tuple(_warnings(context)),
    )


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
    seen = counted(race.instances, "instance")
    out = f"{gone or 'none'} of {counted(len(race.algorithms), 'algorithm')} "
    out += f"{noun(gone or 1, 'is', 'are')} eliminated"
    if race.resolved:
        done = f"every pair is settled, with probability {short(context.rules.alpha)} or more"
    else:
        done = _settled_so_far(race.share_settled)
    return (
        f"After {counted(race.rounds, 'round')} on {seen}, {out} and {done}; "
        f"{percent(race.saved)} of the budget of running everything was saved."
        f"{_models(context)}"
    )


def _models(context: ReportContext) -> str:
    """The two models, where the recommendation is by another one than the race's."""
    model = context.other_model
    if model is None:
        return ""
    own = context.rounds[-1].record.inference["model"]
    return f" The recommendation is by the {model} model, eliminations and settled pairs by {own}."


def _settled_so_far(share: float) -> str:
    if share == 0:
        return "no pair is settled"
    return f"{percent(share)} of the pairs are settled, the others still open"


def _members(context: ReportContext) -> list[Entry]:
    """Why each algorithm is in the Pareto set."""
    if context.believed is None:
        return []
    names, merit = context.p_best
    parts = leaders(names, context.times, merit)
    by_name = dict(zip(names, merit.T, strict=True))
    return [_member(context, name, parts, by_name) for name in context.remaining]


def _member(
    context: ReportContext, name: str, parts: list[Span], merit: Mapping[str, np.ndarray]
) -> Entry:
    mine = [part for part in parts if part.algorithms == (name,)]
    if not mine:
        return Entry(name, parsed(f"never the best, but {_not_eliminated(context, name)}"))
    if len(merit) == 1 and context.race is not None:
        return Entry(name, ("all others are eliminated",))
    where = joined([part.budgets(context.axis) for part in mine])
    peak = int(merit[name].argmax())
    likely = decisive(float(merit[name][peak]))
    when = time(float(context.times[peak]))
    return Entry(name, (f"has the highest {P_BEST} {where}; {likely} at {when}",))


def _not_eliminated(context: ReportContext, name: str) -> str:
    """Why no other algorithm has eliminated one that is never the best."""
    believed, race = context.believed, context.race
    assert believed is not None
    if race is not None:
        alike = [
            pair.b if pair.a == name else pair.a
            for pair in race.settled_pairs
            if name in (pair.a, pair.b) and pair.verdict.kind is Kind.EQUIVALENT
        ]
        if alike:
            return f"equivalent to {joined([*map(marked, alike)])} at every time"
        threat = context.rounds[-1].record.threats.get(name)
        if threat is not None:  # the probability on which the race decided
            return words.not_dominated(marked(threat.by), threat.probability, race.joint)
    rivals = [other for other in context.remaining if other != name]
    if not rivals:
        return "no other algorithm is left"
    chance = believed.dominance()
    by = max(rivals, key=lambda other: chance[believed.place(other), believed.place(name)])
    probability = float(chance[believed.place(by), believed.place(name)])
    return words.not_dominated(marked(by), probability)


def _out(context: ReportContext) -> list[Entry]:
    if context.race is not None:
        joint = context.race.joint
        return [
            Entry(gone.algorithm, parsed(words.eliminated_by(gone, marked(gone.by), joint)))
            for gone in context.race.eliminated
        ]
    if context.basis is None or context.contest is None:
        return []
    names = context.basis.algorithms
    return [Entry(names[i], (context.contest.reason,)) for i in context.contest.left_out]


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
    made += [("reopened", words.reopened(state, a, b, marked)) for a, b in taken.reopened]
    made += [("withheld", words.withheld(*map(marked, pair))) for pair in taken.withheld]
    made += [("cycle", words.cycle([*map(marked, names)])) for names in taken.cycles]
    made += [("reinstated", words.reinstated(marked(name))) for name in taken.reinstated]
    if taken.caught_up:
        made.append(("joined", words.caught_up(marked(taken.caught_up))))
    made += [("doubted", words.not_usable(problem)) for problem in record.problems]
    return [
        Decision(found.number, state.instances, kind, standing_alone(parsed(text)))
        for kind, text in made
    ]


def _settings(context: ReportContext) -> list[tuple[str, str]]:
    """The settings that are needed to repeat it."""
    store, config = context.store, context.store.config
    manifest, times = store.manifest, context.times
    span = f"{time(float(times[0]))} to {timed(float(times[-1]), context.axis)}"
    made = [
        ("Store", str(store.path)),
        ("Made", f"{manifest.created} by PolarBear {manifest.tool}"),
        ("Report by", f"PolarBear {__version__}, Python {platform.python_version()}"),
        ("Seed", str(config["seed"])),
        ("Instances", _options(config["instances"], "suite")),
        ("Times", f"{len(times)} from {span}"),
    ]
    made += [("Algorithm", f"{name}: {_options(o)}") for name, o in config["algorithms"].items()]
    if context.rounds:
        record = context.rounds[-1].record
        made.append(("Race", _options({**record.rules, **record.settings})))
        made.append(("Inference", _options(record.inference)))
    elif context.basis is not None:
        chosen = context.basis.posterior.options.model_dump(mode="json")
        made.append(("Inference", _options(chosen)))
    if context.basis is not None:
        posterior = context.basis.posterior
        words = (
            f"{posterior.model}, {posterior.engine} engine, {posterior.method}, "
            f"{counted(posterior.n_draws, 'draw')}, seed {posterior.seed}, key {context.basis.key}"
        )
        made.append(("Posterior", words))
    hosts = summary.hosts(store)
    if hosts:
        made.append(("Machines", "; ".join(f"{h.cpu} ({counted(h.runs, 'run')})" for h in hosts)))
    made.append(("Packages", ", ".join(_versions())))
    made.append(("Configuration", f"sha256 {manifest.config_hash}"))
    return made


def _options(options: Mapping[str, Any], first: str | None = None) -> str:
    """Settings as text: key value, key value; the value of ``first`` without its key."""
    written = {key: _value(value) for key, value in options.items() if value is not None}
    said = [f"{key} {value}" for key, value in written.items() if key != first and value != "{}"]
    return ", ".join([str(options[first]), *said] if first else said)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + _options(value) + "}"
    if isinstance(value, list):
        shown = [str(v) for v in value[:6]] + (["..."] if len(value) > 6 else [])
        return "[" + ", ".join(shown) + "]"
    return short(value) if isinstance(value, float) else str(value)


def _versions() -> list[str]:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def _warnings(context: ReportContext) -> list[str]:
    """Reasons to doubt the results."""
    made = []
    if context.basis is not None:
        made += [
            f"do not trust this posterior: {problem}"
            for problem in context.basis.posterior.diagnostics.problems
        ]
        posterior = context.basis.posterior
        fit = named(posterior.fit, context.basis.algorithms, context.basis.times)
        if fit is not None and fit.words:
            made.append(fit.words)
        made += context.basis.notes
    failed = summary.failures(context.store)
    if failed:
        runs = sum(failure.runs for failure in failed)
        made.append(failed_words(runs, failures_in(context.store.config).ranks))
    hosts = summary.hosts(context.store)
    if len(hosts) > 1 and context.axis == "seconds":
        made.append(f"seconds were measured on {len(hosts)} machines")
    return made
