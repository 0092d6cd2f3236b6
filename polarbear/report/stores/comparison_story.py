"""The comparison of several stores in sentences and tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polarbear.report.outline import Block, Bullets, Chart, Heading, Paragraph, Table, opening
from polarbear.report.provenance import flattened
from polarbear.report.stores.differences import Change, Compared, shared_instances, stretches
from polarbear.report.stores.sides import Side
from polarbear.report.story import Opening, story_of
from polarbear.report.words import as_sentence, curve, marked
from polarbear.wording import counted, decisive, joined, noun, percent_cell, points, probability

MOST_ROWS = 30  # of a table of pairs; `--csv` and `--json` have all


@dataclass(frozen=True)
class StoryOfStores(Opening):
    """All sentences about several stores; ``blocks`` follow the answer."""

    blocks: tuple[Block, ...]

    def outline(self) -> list[Block]:
        """The whole of it, for terminals and pull requests."""
        return [*opening(self), *self.blocks]


def story_of_stores(found: Compared, changed: Sequence[Change]) -> StoryOfStores:
    """The story of several stores, compared with the first."""
    return StoryOfStores(
        title=joined([side.name for side in found.sides]),
        headline=_headline(found, changed),
        evidence=_evidence(found),
        warnings=tuple(_warnings(found)),
        blocks=tuple(_blocks(found, changed)),
    )


def _headline(found: Compared, changed: Sequence[Change]) -> str:
    """Algorithms that beat themselves in the first store, or win more or fewer of their duels."""
    first, *others = found.sides
    said = [
        f"on {counted(change.instances, 'shared instance')} {marked(change.algorithm)} in "
        f"{change.store} beats that in {first.name} on {percent_cell(change.wins)} "
        f"({_interval(change.low, change.high)})"
        for change in changed
        if change.shown
    ]
    for side in others:
        rows = found.over_time(pairs=False).filter(pl.col("store") == side.name)
        shown = rows.filter((pl.col("low") > 0) | (pl.col("high") < 0))
        parts: list[str] = []
        for row in shown.sort("difference", descending=True).iter_rows(named=True):
            more = "more" if row["difference"] > 0 else "fewer"
            wins = more if parts else f"wins {more} of its duels"
            before, after = percent_cell(row["first"]), percent_cell(row["other"])
            parts.append(f"{marked(row['algorithm'])} {wins} ({after}, in {first.name} {before})")
        if parts:
            said.append(f"in {side.name} {joined(parts)}")
        elif len(found.algorithms) > 1 or not said:
            said.append(f"no difference between {first.name} and {side.name} is shown")
    return as_sentence("; ".join(said))


def _evidence(found: Compared) -> str:
    """What is counted, when, by what, and what may be chance."""
    if len(found.algorithms) == 1:
        return (
            f"The stores share one algorithm, {found.algorithms[0]}, so it is compared with itself "
            f"only, on the instances that both have, {found.moments.words()}."
        )
    rest = [
        f"{side.name} on {counted(side.basis.instances, 'instance')} ({side.basis.posterior.model})"
        for side in found.sides
    ]
    chance = _chance(found.over_time(pairs=False))
    return (
        f"Duels are those of {joined(found.algorithms)} with each other, {found.moments.words()}, "
        "on average over these times; a duel that one wins another loses. An algorithm is named "
        f"where the 95 % interval of its difference excludes zero; {chance}. This rests on "
        f"{joined(rest)}."
    )


def _chance(intervals: pl.DataFrame) -> str:
    """How many of the intervals may exclude zero by chance."""
    number = len(intervals)
    looked = f"{counted(number, 'interval')} {noun(number, 'was', 'were')} looked at"
    return f"{looked}, and where nothing differs one in 20 excludes zero by chance"


def _warnings(found: Compared) -> list[str]:
    made = []
    first, *others = found.sides
    for side in others:
        shared = len(shared_instances(first.context.store, side.context.store))
        if shared and len(found.algorithms) > 1:
            made.append(
                f"{counted(shared, 'instance')} {noun(shared, 'is', 'are')} in both {first.name} "
                f"and {side.name}; their posteriors are taken as independent all the same, so "
                "differences may be more certain than these intervals say"
            )
    for side in found.sides:
        if not side.basis.posterior.joint and len(found.moments.at) > 1:
            made.append(
                f"{side.name}: the {side.basis.posterior.model} model treats times as independent, "
                "so means over the times look more certain than they are"
            )
        made += [f"{side.name}: {warning}" for warning in story_of(side.context).warnings]
    return made


def _blocks(found: Compared, changed: Sequence[Change]) -> list[Block]:
    made: list[Block] = []
    if changed:
        made += [Heading(f"Each algorithm against itself in {found.sides[0].name}")]
        made += _changes(found, changed)
    if len(found.algorithms) > 1:
        made += [Heading("Share of duels won against the others, over time"), _curves(found)]
        rows = found.over_time(pairs=False)
        made += [Heading("Against all others, on average over the times"), _table(found, rows)]
    if len(found.algorithms) > 2:
        rows = found.over_time(pairs=True)
        surest = rows.sort((pl.col("p_more") - 0.5).abs(), descending=True, maintain_order=True)
        made.append(Heading("Pair by pair, on average over the times"))
        made.append(_table(found, surest.head(MOST_ROWS)))
        if len(rows) > MOST_ROWS:
            made.append(Paragraph(f"{MOST_ROWS} of {len(rows)}, the most certain first."))
    if len(found.algorithms) > 1:
        made += [Heading("Times at which pairs differ"), *_when(found)]
    names = [side.name for side in found.sides]
    all_names = dict.fromkeys(name for side in found.sides for name in side.basis.algorithms)
    standing = tuple((name, *(_status(side, name) for side in found.sides)) for name in all_names)
    made.append(Heading("Candidates and eliminated algorithms"))
    made.append(Table(("algorithm", *names), standing))
    settings = different_settings(found.sides, found.algorithms)
    if settings:
        table = Table(("setting", *names), tuple((key, *values) for key, values in settings))
        made += [Heading("What is set differently"), table]
    return made


def _changes(found: Compared, changed: Sequence[Change]) -> list[Block]:
    if all(change.same for change in changed):
        same = "On the instances that the stores share, not one value of an algorithm differs."
        return [Paragraph(same)]
    rows = []
    for one in changed:
        shares = ("the same", "", "", "the same", "")
        if not one.same:
            over_time = percent_cell(one.wins), _interval(one.low, one.high)
            last = percent_cell(one.wins_at_last), _interval(one.low_at_last, one.high_at_last)
            shares = (*over_time, probability(one.p_better), *last)
        rows.append((one.algorithm, one.store, str(one.instances), *shares))
    end = found.moments.short(len(found.moments.at) - 1)
    columns = (
        *("algorithm", "store", "instances#", "wins#", "95 % interval#", "P(better)#"),
        *(f"at {end}#", "95 % interval#"),
    )
    what = (
        "On the instances that both stores have: on how many an algorithm's run in the named "
        f"store beats its run in {found.sides[0].name}, ties halved, on average over the times "
        "and at the last, by these duels alone; P(better) is how sure the default model is, from "
        "the same duels, that it is more than half. The same: not one value differs."
    )
    return [Table(columns, tuple(rows)), Paragraph(what)]


def _interval(low: float, high: float) -> str:
    return f"{percent_cell(low)} to {percent_cell(high)}"


def _curves(found: Compared) -> Chart:
    rows = []
    levels = found.levels.filter(pl.col("against").is_null())
    for name in found.algorithms:
        for side in found.sides:
            own = levels.filter(pl.col("algorithm") == name, pl.col("store") == side.name)
            mean = own["mean"].to_numpy()
            rows.append((f"{name}, {side.name}", curve(mean), f"{mean.mean():.2f} on average"))
    return Chart(tuple(rows), found.moments.span)


def _table(found: Compared, rows: pl.DataFrame) -> Table:
    pairs = rows["against"].is_not_null().any()
    several = len(found.sides) > 2
    other = "there" if several else f"in {found.sides[1].name}"
    texts = ["algorithm", *(["against"] if pairs else []), *(["store"] if several else [])]
    numbers = [f"in {found.sides[0].name}#", f"{other}#", "difference#", "95 % interval#"]
    cells = tuple(
        (
            *(row[text] for text in texts),
            percent_cell(row["first"]),
            percent_cell(row["other"]),
            points(row["difference"]),
            f"{points(row['low'])} to {points(row['high'])}",
            decisive(row["p_more"]),
        )
        for row in rows.iter_rows(named=True)
    )
    return Table((*texts, *numbers, f"P(more {other})#"), cells)


def _when(found: Compared) -> list[Block]:
    said = stretches(found)
    intervals = _chance(found.differences.drop_nulls(["against", "at"]))
    chance = f"Listed are times at which a pair's 95 % interval excludes zero; {intervals}."
    if not said:
        return [Paragraph(f"Nowhere. {chance}")]
    if len(said) > MOST_ROWS:
        chance = f"{MOST_ROWS} of {len(said)} stretches, the widest first. {chance}"
    return [Bullets(tuple(("", one) for one in said[:MOST_ROWS])), Paragraph(chance)]


def _status(side: Side, name: str) -> str:
    if name not in side.basis.algorithms:
        return "not in this store"
    context = side.context
    for gone in context.race.eliminated if context.race is not None else ():
        if gone.algorithm == name:
            return f"eliminated by {gone.by} ({decisive(gone.probability)})"
    return "candidate" if name in context.remaining else "dominated"


def different_settings(
    sides: Sequence[Side], algorithms: Sequence[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """Each setting that differs between stores, by its key, with the value of each store.

    Only common algorithms are compared.
    """
    held = []
    for side in sides:
        settings = side.context.store.settings
        posterior = side.basis.posterior
        stored = settings.algorithms
        relevant = {
            **{key: settings.part(key) for key in ("seed", "instances", "budget")},
            "algorithms": {name: stored[name].options for name in algorithms if name in stored},
            "posterior": {
                "instances": side.basis.instances,
                **{key: getattr(posterior, key) for key in ("model", "engine", "method")},
            },
            "made by PolarBear": side.context.store.catalog.manifest.tool,
        }
        held.append({key: str(value) for key, value in flattened(relevant).items()})
    keys = dict.fromkeys(key for found in held for key in found)
    rows = [(key, tuple(found.get(key, "not set") for found in held)) for key in keys]
    return [(key, values) for key, values in rows if len(set(values)) > 1]
