"""What a store comes to, in sentences: the answer, reasons, decisions, and how to repeat it."""

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
from polarbear.racing.verdicts import (
    better_words,
    nearest_words,
    reopened_words,
    withheld_words,
)
from polarbear.report.answer import answer
from polarbear.report.best_by_time import p_best
from polarbear.report.material import Material, Round, once
from polarbear.report.moment import other_model, still_in
from polarbear.report.prose.sentence import Sentence, marked, parsed, plain
from polarbear.report.prose.words import span
from polarbear.store import summary
from polarbear.wording import (
    P_BEST,
    counted,
    decisive,
    joined,
    noun,
    percent,
    short,
    time,
    timed,
)

PACKAGES = ("numpy", "scipy", "numba", "nutpie", "cmdstanpy", "ioh", "modcma", "cma")
FEW = 3  # stretches of one leader that a sentence about it can hold


@dataclass(frozen=True)
class Entry:
    """An algorithm, and why it is where it is."""

    algorithm: str
    said: Sentence

    @property
    def reason(self) -> str:
        return plain(self.said)


@dataclass(frozen=True)
class Decision:
    """Something a round settled; ``kind`` is eliminated, settled, joined, reopened or doubted."""

    round: int
    instances: int
    kind: str
    said: Sentence

    @property
    def words(self) -> str:
        return plain(self.said)


@dataclass(frozen=True)
class Story:
    """Everything a report says in words."""

    title: str
    headline: Sentence
    evidence: str
    members: tuple[Entry, ...]
    out: tuple[Entry, ...]
    decisions: tuple[Decision, ...]
    settings: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]

    @property
    def answer(self) -> tuple[str, str]:
        """Whom to run and when, and on what that rests."""
        return plain(self.headline), self.evidence


@once
def tell(material: Material) -> Story:
    """The story of a store, as far as there is one."""
    headline, asked = answer(material)
    return Story(
        title=material.store.path.resolve().name,
        headline=headline,
        evidence=" ".join(filter(None, (_evidence(material), asked))),
        members=tuple(_members(material)),
        out=tuple(_out(material)),
        decisions=tuple(d for found in material.rounds for d in decisions(material, found)),
        settings=tuple(_settings(material)),
        warnings=tuple(_warnings(material)),
    )


def _evidence(material: Material) -> str:
    """How sure that is, and what it rests on."""
    race, basis = material.race, material.basis
    if race is None:
        runs = len(material.store.runs())
        seen = counted(material.store.count_compared_instances(), "instance")
        held = f"{counted(runs, 'run')} on {seen}" if runs else f"imported rankings of {seen}"
        model = f", inferred with the {basis.posterior.model} model" if basis else ""
        earlier = "its race is to be decided anew" if material.store.races.numbers() else None
        return f"This rests on {held}{model}; {earlier or 'no race was run'}."
    gone = len(race.eliminated)
    seen = counted(race.instances, "instance")
    out = (
        f"{gone} of {counted(len(race.algorithms), 'algorithm')} {noun(gone, 'is', 'are')} out"
        if gone
        else "nobody is out"
    )
    if race.resolved:
        done = f"every pair was settled, with probability {short(material.rules.alpha)} or more"
    else:
        done = _settled_so_far(race.share_settled)
    return (
        f"After {counted(race.rounds, 'round')} on {seen}, {out} and {done}; "
        f"{percent(race.saved)} of the budget of running everything was saved."
        f"{_by_whom(material)}"
    )


def _by_whom(material: Material) -> str:
    """That another model than the race's was asked whom to run."""
    model = other_model(material)
    if model is None:
        return ""
    own = material.rounds[-1].record.inference["model"]
    return f" Whom to run is by the {model} model, who is out and what is settled by {own}."


def _settled_so_far(share: float) -> str:
    if share == 0:
        return "no pair is settled"
    return f"{percent(share)} of the pairs are settled, the others still open"


def _members(material: Material) -> list[Entry]:
    """Why each algorithm is in the Pareto set."""
    believed = material.believed
    if believed is None:
        return []
    chosen = still_in(material)
    names, merit = p_best(material)
    parts = leaders(names, material.times, merit)
    return [
        _member(material, name, parts, dict(zip(names, merit.T, strict=True))) for name in chosen
    ]


def _member(
    material: Material, name: str, parts: list[Span], merit: Mapping[str, np.ndarray]
) -> Entry:
    mine = [part for part in parts if part.algorithms == (name,)]
    if not mine:
        return Entry(name, parsed(f"never leads, but {_not_ruled_out(material, name)}"))
    if len(merit) == 1 and material.race is not None:
        return Entry(name, ("is the only one left: everybody else is out",))
    where = _places(material, mine)
    peak = int(merit[name].argmax())
    likely = decisive(float(merit[name][peak]))
    when = time(float(material.times[peak]))
    return Entry(name, (f"has the highest {P_BEST} {where}; {likely} at {when}",))


def _places(material: Material, mine: list[Span]) -> str:
    """When somebody leads; where that changes often, at how many times."""
    if len(mine) > FEW:
        return f"at {sum(part.times for part in mine)} of {counted(len(material.times), 'time')}"
    first, last, axis = _grid(material)
    return joined([span(part.start, part.stop, first, last, axis) for part in mine])


def _not_ruled_out(material: Material, name: str) -> str:
    """Why nobody has put an algorithm out."""
    believed, race = material.believed, material.race
    assert believed is not None
    if race is not None:
        alike = [
            pair.b if pair.a == name else pair.a
            for pair in race.settled_pairs
            if name in (pair.a, pair.b) and pair.verdict.kind is Kind.EQUIVALENT
        ]
        if alike:
            return f"is as good as {joined([*map(marked, alike)])} at each time"
    rivals = [other for other in still_in(material) if other != name]
    if not rivals:
        return "nobody else is left"
    chance = believed.dominance()
    by = max(rivals, key=lambda other: chance[believed.place(other), believed.place(name)])
    probability = float(chance[believed.place(by), believed.place(name)])
    return f"nobody is sure to be better: {nearest_words(marked(by), probability, believed.joint)}"


def _out(material: Material) -> list[Entry]:
    if material.race is not None:
        return [
            Entry(
                gone.algorithm,
                parsed(
                    f"{better_words(marked(gone.by), gone.probability, material.race.joint)} "
                    f"(round {gone.round}, after {counted(gone.instances, 'instance')})"
                ),
            )
            for gone in material.race.eliminated
        ]
    if material.basis is None or material.contest is None:
        return []
    names = material.basis.algorithms
    return [Entry(names[i], (material.contest.reason,)) for i in material.contest.left_out]


def decisions(material: Material, found: Round) -> list[Decision]:
    """What one round settled, in plain words."""
    record, state = found.record, found.state
    taken, seen, joint = record.decisions, state.instances, record.joint

    def said(kind: str, words: str) -> Decision:
        return Decision(found.number, seen, kind, parsed(words))

    made = [
        said(
            "eliminated",
            f"{marked(gone.algorithm)} is out: "
            f"{better_words(marked(gone.by), gone.probability, joint)}.",
        )
        for gone in taken.eliminated
    ]
    remaining = set(state.candidates)
    for a, b in taken.settled_pairs:
        if {a, b} <= remaining:
            found_out = verdict_on(state, a, b).words(marked(a), marked(b))
            made.append(said("settled", f"{found_out}."))
    for a, b in taken.reopened:
        made.append(said("reopened", f"{reopened_words(state, a, b, marked)}."))
    made += [said("withheld", f"{withheld_words(*map(marked, pair))}.") for pair in taken.withheld]
    if taken.caught_up:
        made.append(
            said("joined", f"{marked(taken.caught_up)} has caught up and races with the rest.")
        )
    for problem in record.problems:
        made.append(said("doubted", f"The posterior was not to be trusted: {problem}."))
    return made


def _settings(material: Material) -> list[tuple[str, str]]:
    """What someone else needs to repeat it."""
    store, config = material.store, material.store.config
    manifest, times = store.manifest, material.times
    made = [
        ("Store", str(store.path)),
        ("Made", f"{manifest.created} by PolarBear {manifest.tool}"),
        ("Report by", f"PolarBear {__version__}, Python {platform.python_version()}"),
        ("Seed", str(config["seed"])),
        ("Instances", _options(config["instances"], "suite")),
        (
            "Times",
            f"{len(times)} from {time(float(times[0]))} to "
            f"{timed(float(times[-1]), material.axis)}",
        ),
    ]
    made += [("Algorithm", f"{name}: {_options(o)}") for name, o in config["algorithms"].items()]
    if material.rounds:
        record = material.rounds[-1].record
        made.append(("Race", _options(record.rules)))
        made.append(("Inference", _options(record.inference)))
    elif material.basis is not None:
        chosen = material.basis.posterior.options.model_dump(mode="json")
        made.append(("Inference", _options(chosen)))
    if material.basis is not None:
        posterior = material.basis.posterior
        made.append(
            (
                "Posterior",
                f"{posterior.model}, {posterior.engine} engine, {posterior.method}, "
                f"{counted(posterior.n_draws, 'draw')}, seed {posterior.seed}, "
                f"key {material.basis.key}",
            )
        )
    hosts = summary.hosts(store)
    if hosts:
        made.append(("Machines", "; ".join(f"{h.cpu} ({counted(h.runs, 'run')})" for h in hosts)))
    made.append(("Packages", ", ".join(_versions())))
    made.append(("Configuration", f"sha256 {manifest.config_hash}"))
    return made


def _options(options: Mapping[str, Any], first: str | None = None) -> str:
    """Settings as people write them: key value, key value."""
    rest = {key: value for key, value in options.items() if key != first}
    written = {key: _value(value) for key, value in rest.items() if value is not None}
    said = [f"{key} {value}" for key, value in written.items() if value != "{}"]
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


def _warnings(material: Material) -> list[str]:
    """What a reader should know before trusting the rest."""
    made = []
    if material.basis is not None:
        made += [
            f"do not trust this posterior: {problem}"
            for problem in material.basis.posterior.diagnostics.problems
        ]
        posterior = material.basis.posterior
        fit = named(posterior.fit, material.basis.algorithms, material.basis.times)
        if fit is not None and fit.words:
            made.append(fit.words)
        made += material.basis.notes
    failed = summary.failures(material.store)
    if failed:
        runs = sum(failure.runs for failure in failed)
        made.append(failed_words(runs, failures_in(material.store.config).ranks))
    hosts = summary.hosts(material.store)
    if len(hosts) > 1 and material.axis == "seconds":
        made.append(f"seconds were measured on {len(hosts)} machines")
    return made


def _grid(material: Material) -> tuple[float, float, str]:
    return float(material.times[0]), float(material.times[-1]), material.axis
