"""The comparison of several stores in sentences and tables."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polarbear.report.outline import (
    Block,
    Bullets,
    CharacterChart,
    Heading,
    Paragraph,
    Table,
    opening,
)
from polarbear.report.provenance import flattened
from polarbear.report.stores.differences import (
    AlgorithmChange,
    StoreComparison,
    shared_instances,
    stretches,
)
from polarbear.report.stores.sides import Side
from polarbear.report.story import Opening, story_of
from polarbear.report.words import as_sentence, curve, marked, share_interval
from polarbear.wording import counted, decisive, joined, noun, percent_cell, points, probability

MAX_ROWS = 30  # of a table of pairs; `--csv` and `--json` have all rows


@dataclass(frozen=True)
class StoryOfStores(Opening):
    """All sentences about several stores; ``blocks`` follow the answer."""

    blocks: tuple[Block, ...]

    def outline(self) -> list[Block]:
        """All blocks, for terminals and pull requests."""
        return [*opening(self), *self.blocks]


def story_of_stores(
    comparison: StoreComparison, changed: Sequence[AlgorithmChange]
) -> StoryOfStores:
    """The story of several stores, compared with the first."""
    return StoryOfStores(
        title=joined([side.name for side in comparison.sides]),
        headline=_headline(comparison, changed),
        evidence=_evidence(comparison),
        warnings=tuple(_warnings(comparison)),
        blocks=tuple(_blocks(comparison, changed)),
    )


def _headline(comparison: StoreComparison, changed: Sequence[AlgorithmChange]) -> str:
    """Algorithms that beat themselves in the first store, or win more or fewer of their duels."""
    first = comparison.sides[0]
    sentences = []
    for change in changed:
        if change.is_shown:
            sentences.append(
                f"on {counted(change.instances, 'shared instance')} {marked(change.algorithm)} in "
                f"{change.store} beats that in {first.name} on {percent_cell(change.wins)} "
                f"({share_interval(change.low, change.high)})"
            )
    for side in comparison.sides[1:]:
        differences = _shown_differences(comparison, side)
        if differences:
            sentences.append(f"in {side.name} {joined(differences)}")
        elif len(comparison.algorithms) > 1 or not sentences:
            sentences.append(f"no difference between {first.name} and {side.name} is shown")
    return as_sentence("; ".join(sentences))


def _shown_differences(comparison: StoreComparison, side: Side) -> list[str]:
    """Algorithms whose share of duels won in a store differs from that in the first store."""
    rows = comparison.over_time(pairs=False).filter(pl.col("store") == side.name)
    excludes_zero = (pl.col("low") > 0) | (pl.col("high") < 0)
    by_difference = rows.filter(excludes_zero).sort("difference", descending=True)
    parts: list[str] = []
    for row in by_difference.iter_rows(named=True):
        direction = "more" if row["difference"] > 0 else "fewer"
        # The first part says in full what the others abbreviate.
        verb = direction if parts else f"wins {direction} of its duels"
        in_first = f"in {comparison.sides[0].name} {percent_cell(row['first'])}"
        parts.append(
            f"{marked(row['algorithm'])} {verb} ({percent_cell(row['other'])}, {in_first})"
        )
    return parts


def _evidence(comparison: StoreComparison) -> str:
    """The duels that are counted, the posteriors behind them, and the effect of chance."""
    algorithms = comparison.algorithms
    times = comparison.moments.words()
    if len(algorithms) == 1:
        return (
            f"The stores share one algorithm, {algorithms[0]}, so it is compared with itself "
            f"only, on the instances that both have, {times}."
        )
    posteriors = [
        f"{side.name} on {counted(side.basis.instances, 'instance')} ({side.basis.posterior.model})"
        for side in comparison.sides
    ]
    chance = _chance(comparison.over_time(pairs=False))
    return (
        f"Duels are those of {joined(algorithms)} with each other, {times}, "
        "on average over these times; a duel that one wins another loses. An algorithm is named "
        f"where the 95 % interval of its difference excludes zero; {chance}. This rests on "
        f"{joined(posteriors)}."
    )


def _chance(intervals: pl.DataFrame) -> str:
    """The share of the intervals that exclude zero by chance."""
    n_intervals = len(intervals)
    text = f"{counted(n_intervals, 'interval')} {noun(n_intervals, 'was', 'were')} looked at"
    return f"{text}, and where nothing differs one in 20 excludes zero by chance"


def _warnings(comparison: StoreComparison) -> list[str]:
    warnings = []
    first = comparison.sides[0]
    for side in comparison.sides[1:]:
        n_shared = len(shared_instances(first.context.store, side.context.store))
        if n_shared and len(comparison.algorithms) > 1:
            warnings.append(
                f"{counted(n_shared, 'instance')} {noun(n_shared, 'is', 'are')} in both "
                f"{first.name} and {side.name}; their posteriors are taken as independent all the "
                "same, so differences may be more certain than these intervals say"
            )
    for side in comparison.sides:
        if not side.basis.posterior.joint and len(comparison.moments.at) > 1:
            warnings.append(
                f"{side.name}: the {side.basis.posterior.model} model treats times as independent, "
                "so means over the times look more certain than they are"
            )
        warnings += [f"{side.name}: {warning}" for warning in story_of(side.context).warnings]
    return warnings


def _blocks(comparison: StoreComparison, changed: Sequence[AlgorithmChange]) -> list[Block]:
    blocks: list[Block] = []
    n_algorithms = len(comparison.algorithms)
    if changed:
        blocks.append(Heading(f"Each algorithm against itself in {comparison.sides[0].name}"))
        blocks += _changes(comparison, changed)
    if n_algorithms > 1:
        blocks.append(Heading("Share of duels won against the others, over time"))
        blocks.append(_curves(comparison))
        blocks.append(Heading("Against all others, on average over the times"))
        blocks.append(_table(comparison, comparison.over_time(pairs=False)))
    if n_algorithms > 2:
        rows = comparison.over_time(pairs=True)
        certainty = (pl.col("p_more") - 0.5).abs()
        by_certainty = rows.sort(certainty, descending=True, maintain_order=True)
        blocks.append(Heading("Pair by pair, on average over the times"))
        blocks.append(_table(comparison, by_certainty.head(MAX_ROWS)))
        if len(rows) > MAX_ROWS:
            blocks.append(Paragraph(f"{MAX_ROWS} of {len(rows)}, the most certain first."))
    if n_algorithms > 1:
        blocks.append(Heading("Times at which pairs differ"))
        blocks += _times_of_differences(comparison)
    blocks.append(Heading("Candidates and eliminated algorithms"))
    blocks.append(_status_table(comparison.sides))
    settings = different_settings(comparison.sides, comparison.algorithms)
    if settings:
        columns = ("setting", *(side.name for side in comparison.sides))
        blocks.append(Heading("What is set differently"))
        blocks.append(Table(columns, tuple((key, *values) for key, values in settings)))
    return blocks


def _status_table(sides: Sequence[Side]) -> Table:
    """The status of every algorithm in every store."""
    names = dict.fromkeys(name for side in sides for name in side.basis.algorithms)
    columns = ("algorithm", *(side.name for side in sides))
    return Table(columns, tuple((name, *(_status(side, name) for side in sides)) for name in names))


def _changes(comparison: StoreComparison, changed: Sequence[AlgorithmChange]) -> list[Block]:
    if all(change.same for change in changed):
        same = "On the instances that the stores share, not one value of an algorithm differs."
        return [Paragraph(same)]
    rows = tuple(_change_row(change) for change in changed)
    end = comparison.moments.short(len(comparison.moments.at) - 1)
    columns = (
        "algorithm",
        "store",
        "instances#",
        "wins#",
        "95 % interval#",
        "P(better)#",
        f"at {end}#",
        "95 % interval#",
    )
    explanation = (
        "On the instances that both stores have: on how many an algorithm's run in the named "
        f"store beats its run in {comparison.sides[0].name}, ties halved, on average over the "
        "times and at the last, by these duels alone; P(better) is how sure the default model is, "
        "from the same duels, that it is more than half. The same: not one value differs."
    )
    return [Table(columns, rows), Paragraph(explanation)]


def _change_row(change: AlgorithmChange) -> tuple[str, ...]:
    labels = (change.algorithm, change.store, str(change.instances))
    if change.same:
        return (*labels, "the same", "", "", "the same", "")
    return (
        *labels,
        percent_cell(change.wins),
        share_interval(change.low, change.high),
        probability(change.p_better),
        percent_cell(change.wins_at_last),
        share_interval(change.low_at_last, change.high_at_last),
    )


def _curves(comparison: StoreComparison) -> CharacterChart:
    rows = []
    levels = comparison.levels.filter(pl.col("against").is_null())
    for name in comparison.algorithms:
        for side in comparison.sides:
            selected = (pl.col("algorithm") == name) & (pl.col("store") == side.name)
            mean = levels.filter(selected)["mean"].to_numpy()
            rows.append((f"{name}, {side.name}", curve(mean), f"{mean.mean():.2f} on average"))
    return CharacterChart(tuple(rows), comparison.moments.span)


def _table(comparison: StoreComparison, rows: pl.DataFrame) -> Table:
    labels = ["algorithm"]
    if rows["against"].is_not_null().any():
        labels.append("against")
    if len(comparison.sides) > 2:
        labels.append("store")
        in_other = "there"
    else:
        in_other = f"in {comparison.sides[1].name}"
    columns = (
        *labels,
        f"in {comparison.sides[0].name}#",
        f"{in_other}#",
        "difference#",
        "95 % interval#",
        f"P(more {in_other})#",
    )
    cells = tuple(
        (
            *(row[label] for label in labels),
            percent_cell(row["first"]),
            percent_cell(row["other"]),
            points(row["difference"]),
            f"{points(row['low'])} to {points(row['high'])}",
            decisive(row["p_more"]),
        )
        for row in rows.iter_rows(named=True)
    )
    return Table(columns, cells)


def _times_of_differences(comparison: StoreComparison) -> list[Block]:
    sentences = stretches(comparison)
    intervals = _chance(comparison.differences.drop_nulls(["against", "at"]))
    chance = f"Listed are times at which a pair's 95 % interval excludes zero; {intervals}."
    if not sentences:
        return [Paragraph(f"Nowhere. {chance}")]
    if len(sentences) > MAX_ROWS:
        chance = f"{MAX_ROWS} of {len(sentences)} stretches, the widest first. {chance}"
    bullets = tuple(("", sentence) for sentence in sentences[:MAX_ROWS])
    return [Bullets(bullets), Paragraph(chance)]


def _status(side: Side, name: str) -> str:
    if name not in side.basis.algorithms:
        return "not in this store"
    context = side.context
    eliminated = context.race.eliminated if context.race is not None else ()
    for elimination in eliminated:
        if elimination.algorithm == name:
            return f"eliminated by {elimination.by} ({decisive(elimination.probability)})"
    return "candidate" if name in context.remaining else "dominated"


def different_settings(
    sides: Sequence[Side], algorithms: Sequence[str]
) -> list[tuple[str, tuple[str, ...]]]:
    """Each setting that differs between stores, by its key, with the value of each store.

    Only common algorithms are compared.
    """
    settings_of_stores = [_settings(side, algorithms) for side in sides]
    keys = dict.fromkeys(key for settings in settings_of_stores for key in settings)
    rows = []
    for key in keys:
        values = tuple(settings.get(key, "not set") for settings in settings_of_stores)
        if len(set(values)) > 1:
            rows.append((key, values))
    return rows


def _settings(side: Side, algorithms: Sequence[str]) -> dict[str, str]:
    """The settings of a store that may explain a difference, by their keys."""
    stored = side.context.store.settings
    posterior = side.basis.posterior
    settings = {
        "seed": stored.part("seed"),
        "instances": stored.part("instances"),
        "budget": stored.part("budget"),
        "algorithms": {
            name: stored.algorithms[name].options
            for name in algorithms
            if name in stored.algorithms
        },
        "posterior": {
            "instances": side.basis.instances,
            "model": posterior.model,
            "engine": posterior.engine,
            "method": posterior.method,
        },
        "made by PolarBear": side.context.store.catalog.manifest.tool,
    }
    return {key: str(setting) for key, setting in flattened(settings).items()}
