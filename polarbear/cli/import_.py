"""`polarbear import`: bring in what others have recorded."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from polarbear.cli import common

if TYPE_CHECKING:
    from polarbear.formats.base import Imported
    from polarbear.store import Store


class Spacing(StrEnum):
    LOG = "log"
    LINEAR = "linear"


class AfterEnd(StrEnum):
    KEEPS = "keeps"
    ABSENT = "absent"


def _known(name: str) -> str:
    from polarbear.formats import FORMATS

    if name not in FORMATS:
        raise typer.BadParameter(FORMATS.refusal(name))
    return name


def import_(
    source: Annotated[
        Path, typer.Argument(metavar="SOURCE", help="A file or a folder, as its format has it.")
    ],
    store: Annotated[Path, typer.Option("--store", metavar="DIR", help="The store to add to.")],
    format: Annotated[
        str, typer.Option(metavar="NAME", callback=_known, help="What SOURCE is: {formats}.")
    ] = "table",
    algorithm_column: Annotated[str, typer.Option(help="Its column of algorithms.")] = "algorithm",
    instance_column: Annotated[str, typer.Option(help="Its column of instances.")] = "instance",
    t_column: Annotated[str, typer.Option(help="Its column of times.")] = "t",
    y_column: Annotated[str, typer.Option(help="Its column of objective values.")] = "y",
    position_column: Annotated[str, typer.Option(help="Its column of positions.")] = "position",
    seed_column: Annotated[
        str | None, typer.Option(help="Its column of seeds, where instances were run repeatedly.")
    ] = None,
    axis: Annotated[str, typer.Option(help="What t counts.")] = "evaluations",
    maximise: Annotated[bool, typer.Option("--maximise", help="Larger values are better.")] = False,
    after_end: Annotated[
        AfterEnd,
        typer.Option(help="After its last row an algorithm keeps its best, or is absent."),
    ] = AfterEnd.KEEPS,
    points: Annotated[int, typer.Option(min=1, help="Times in the grid of comparison.")] = 30,
    spacing: Annotated[Spacing, typer.Option(help="How its times are spaced.")] = Spacing.LOG,
    first: Annotated[
        float | None, typer.Option("--from", help="Its first time; by default the data's.")
    ] = None,
    last: Annotated[
        float | None, typer.Option("--to", help="Its last time; by default the data's.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any other option that a format has."),
    ] = None,
    json: common.Json = False,
    quiet: common.Quiet = False,
    debug: common.Debug = False,
) -> None:
    """Bring trajectories or rankings from elsewhere into a store.

    {formats.about}
    """
    from polarbear.formats import FORMATS
    from polarbear.settings.options import Source, validate
    from polarbear.store import Store

    flags = {
        "algorithm_column": algorithm_column,
        "instance_column": instance_column,
        "t_column": t_column,
        "y_column": y_column,
        "position_column": position_column,
        "seed_column": seed_column,
        "maximise": maximise,
        "after_end": after_end.value,
    }
    kind = FORMATS[format]
    options = {name: value for name, value in flags.items() if name in kind.model_fields}
    asked = common.settings(set_ or [], options)
    found = validate(kind, asked, Source(format)).read(source)
    budget = _budget(found, axis, points, spacing.value, first, last)
    config = {
        "seed": 0,
        "algorithms": {name: {"use": "imported"} for name in found.algorithms},
        "instances": {"suite": "imported", "maximise": maximise},
        "budget": budget,
        "execution": {},
    }
    target = Store.open_or_create(store, config)
    with target.writing():
        target.adopt(config)
        target.add_instances(found.instances, "imported")
        added = _add(target, found)
    facts = _facts(target, found, added)
    if json:
        common.print_json(facts)
    else:
        _show(facts)


def _budget(
    found: Imported, axis: str, points: int, spacing: str, first: float | None, last: float | None
) -> dict[str, Any]:
    """The grid: the rankings' own times, or as asked for within the range of the data."""
    from polarbear.settings.grid import Budget
    from polarbear.settings.options import Source, validate

    grid: Any
    if found.rankings is not None:
        grid = sorted(set(found.rankings["t"]))
    else:
        start, stop = first or found.times[0], last or found.times[1]
        if start <= 0:
            start = min(outcome.times[outcome.times > 0].min() for outcome in found.outcomes)
        points = 1 if start == stop else points
        grid = {"spacing": spacing, "from": start, "to": stop, "points": points}
    data = {"axis": axis, "grid": grid}
    return validate(Budget, data, Source("the grid")).model_dump(mode="json", by_alias=True)


def _add(store: Store, found: Imported) -> int:
    """Store what is not there yet; how many runs or rankings that were."""
    from polarbear.execution.host import Host

    if found.rankings is not None:
        there = set(store.rankings().select("instance", "t").rows())
        new = [key not in there for key in found.rankings.select("instance", "t").rows()]
        fresh = found.rankings.filter(new)
        if len(fresh):
            store.add_rankings(fresh)
        return len(fresh)
    known = set(store.runs().select("algorithm", "instance").rows())
    outcomes = [
        outcome
        for outcome in found.outcomes
        if (outcome.task.algorithm.name, outcome.task.instance.id) not in known
    ]
    store.add_runs(outcomes, Host("imported", ""), 0.0, 0)
    return len(outcomes)


def _facts(store: Store, found: Imported, added: int) -> dict[str, Any]:
    total = len(found.outcomes) if found.rankings is None else len(found.rankings)
    return {
        "store": str(store.path),
        "kind": "runs" if found.rankings is None else "rankings",
        "added": added,
        "present": total - added,
        "algorithms": list(found.algorithms),
        "instances": len(found.instances),
        "rejected": [
            {"rows": c.rows, "reason": c.reason, "first": c.first} for c in found.complaints
        ],
        "notes": list(found.notes),
    }


def _show(facts: dict[str, Any]) -> None:
    there = f", {facts['present']} were there already" if facts["present"] else ""
    typer.echo(
        f"{facts['added']} {facts['kind']} of {len(facts['algorithms'])} algorithms on "
        f"{facts['instances']} instances added to {facts['store']}{there}"
    )
    for complaint in facts["rejected"]:
        typer.echo(
            f"left out: {complaint['rows']} rows: {complaint['reason']} "
            f"(first: {complaint['first']})"
        )
    for note in facts["notes"]:
        typer.echo(f"note: {note}")
