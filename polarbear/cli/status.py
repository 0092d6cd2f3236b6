"""`polarbear status`: what is in a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polarbear.cli import common, under_way
from polarbear.wording import counted, joined, noun, short, size

if TYPE_CHECKING:
    from polarbear.driver.standings import Standings
    from polarbear.store.progress import Told
    from polarbear.store.summary import Weights


def status(
    store: common.StoreFolder,
    race: common.RaceNumber = None,
    json: common.Json = False,
    debug: common.Debug = False,
) -> None:
    """Show what is in a store.

    How its race stands, algorithms, runs, failures, machines, disk use, and who is writing to it;
    earlier races, and runs that were set aside. Of a race that is under way in another terminal:
    how far it is, by algorithm and by worker, and how long it will take at this speed.
    """
    from polarbear.driver.standings import standings
    from polarbear.settings.grid import Budget
    from polarbear.store import Store, progress, summary
    from polarbear.store.lock import holder

    opened = Store.open(store).frozen()
    told = progress.told(store)
    if race is not None:
        opened = opened.at_race(race)
    budget = Budget.model_validate(opened.config["budget"])
    facts = {
        "store": str(opened.path),
        "format": opened.manifest.format,
        "tool": opened.manifest.tool,
        "created": opened.manifest.created,
        "written_by": holder(opened.path / "lock"),
        "suite": opened.config["instances"]["suite"],
        "seed": opened.config["seed"],
        "axis": budget.axis,
        "budget": budget.limit,
        "times": len(budget.times),
        "instances": len(opened.instances()),
        "runs": len(opened.runs()),
        "superseded_runs": len(opened.all_runs()) - len(opened.runs()),
        "weights": summary.weights(opened),
        "extra_runs": opened.speculative.count(),
        "rankings": len(opened.rankings()),
        "posteriors": len(opened.posteriors.stored()),
        "algorithms": summary.by_algorithm(opened),
        "failures": summary.failures(opened),
        "hosts": summary.hosts(opened),
        "bytes": summary.disk_use(opened),
        "races": opened.races.past(),
        "set_aside": summary.set_aside(opened),
    }
    facts |= under_way.facts(told)
    stands = standings(opened)
    if json:
        common.print_json({**facts, "race": None if stands is None else stands.to_plain()})
    else:
        _show(facts, stands, told)


def _weights(found: Weights | None) -> str:
    if found is None:
        return ""
    return (
        f"{counted(found.instances, 'instance')} {noun(found.instances, 'counts', 'count')} as "
        f"{short(found.total)}: weights from {short(found.least)} to {short(found.most)}"
    )


def _show(facts: dict[str, Any], race: Standings | None, told: Told | None) -> None:
    owner = facts["written_by"]
    lines = [
        f"{facts['store']}: {facts['runs']} {noun(facts['runs'], 'run')} on "
        f"{facts['instances']} {noun(facts['instances'], 'instance')} of "
        f"'{facts['suite']}', seed {facts['seed']}, {size(facts['bytes'])}",
        f"axis {facts['axis']}, {counted(facts['times'], 'time')} up to {short(facts['budget'])}; "
        f"made {facts['created']} by PolarBear {facts['tool']}",
        _weights(facts["weights"]),
        f"{facts['rankings']} imported {noun(facts['rankings'], 'ranking')}"
        if facts["rankings"]
        else "",
        counted(facts["posteriors"], "posterior") if facts["posteriors"] else "",
        f"being written by {owner}" if owner else "",
    ]
    for line in filter(None, lines):
        common.show(line)
    if told is not None:
        common.show("")
        under_way.show(told)
    if race is not None:
        from polarbear.cli import standings

        common.show("")
        standings.show(race)
        common.show("")
    common.show(common.algorithms_table(facts["algorithms"], facts["axis"], facts["budget"]))
    for line in common.failure_lines(facts["failures"]):
        common.show(line)
    if len(facts["hosts"]) > 1:
        names = ", ".join(
            f"{host.host} ({host.runs} {noun(host.runs, 'run')})" for host in facts["hosts"]
        )
        common.show(f"runs come from {len(facts['hosts'])} machines: {names}")
    if facts["extra_runs"]:
        common.show(common.extra_words(facts["extra_runs"]))
    for past in facts["races"]:
        common.show(
            f"race {past.race}, before: {counted(past.rounds, 'round')} on "
            f"{counted(past.instances, 'instance')}; Pareto set {joined(past.pareto_set)}; ended "
            f"{past.ended[:16]} because of {'; '.join(past.because)}",
        )
    for aside in facts["set_aside"]:
        common.show(
            f"set aside: {counted(aside.runs, 'run')} of {aside.algorithm} ({aside.reason})",
        )
