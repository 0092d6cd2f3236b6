"""The page's sections: the figures, the strip of leaders and the words that each of them shows."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from polars import selectors

from polarbear.classical.disagreement import disagreements
from polarbear.numerics.arrays import spread
from polarbear.racing.recommendation import leaders
from polarbear.records import Facts
from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.base import ReportFigure, lacks_draws
from polarbear.report.figures.chart import edges, plain
from polarbear.report.figures.ratings import TITLE, WHAT, field_of_firsts
from polarbear.report.page.assets import as_json, compressed
from polarbear.report.story import Story
from polarbear.wording import P_BEST, counted, joined, small, time, timed, whole

CLASSICAL = ("ecdf", "aocc", "eaf", "eaf-difference")
PLACED = {
    *("leaders", "matrix", "pairs", "rounds", "allocation", "values", "failures", "diagnostics"),
    *CLASSICAL,
}
# Figures of which the page has a better form: every round, and every budget to choose for.
REPLACED = {"ratings", "key-rounds", "one-budget"}
MAX_DECISIONS = 12  # of the log; the rest is folded away
DIGITS = 4  # that matter to a reader; `polarbear report --csv` has all
PLANE = {"t": 36, "level": 24}  # points a panel shows along each side
COARSER = " The page holds the plane at some of its points, `polarbear report --csv` all of them."
DRAWN_FROM_DRAWS = {"leaders"}  # the selector draws it from the draws, for any preference


class Section(NamedTuple):
    """A part of the page: its heading, and what the template of its kind is filled with."""

    id: str
    title: str
    kind: str
    content: Mapping[str, object]


class Shown(NamedTuple):
    """A figure with its words; ``table`` is compressed JSON, None where ``missing`` says why."""

    name: str
    title: str
    caption: str = ""
    missing: str | None = None
    table: str | None = None


def shown_figures(context: ReportContext) -> dict[str, Shown]:
    """All figures that the page has no better form for, by name."""
    return {n: _shown(context, figure) for n, figure in FIGURES.items() if n not in REPLACED}


def _shown(context: ReportContext, figure: ReportFigure) -> Shown:
    missing = figure.missing(context)
    if missing is not None:
        return Shown(figure.name, figure.title, missing=missing)
    table = figure.data(context)
    caption = figure.caption(context)
    if PLANE.keys() <= set(table.columns):
        table = _coarser(table)
        caption += COARSER
    if table.is_empty():
        return Shown(figure.name, figure.title, missing="there is nothing to compare")
    numbers = selectors.float()
    digits = pl.when(numbers.is_finite()).then(numbers.round_sig_figs(DIGITS))
    content = {
        "columns": table.columns,
        "rows": len(table),
        "data": [column.to_list() for column in table.with_columns(digits)],
    }
    if figure.name not in DRAWN_FROM_DRAWS:
        content["chart"] = plain(figure.chart(table, context))
    as_text = compressed(as_json(content).encode())
    return Shown(figure.name, figure.title, caption, table=as_text)


def _coarser(table: pl.DataFrame) -> pl.DataFrame:
    """A plane of times and targets at no more points than a panel can show."""
    cells = table.filter(pl.col("kind") == "grid")
    inside = pl.lit(True)
    for column, most in PLANE.items():
        found = cells[column].unique().sort()
        places = spread(len(found), most)
        inside &= pl.col(column).is_in(found[places.tolist()].to_list())
    return table.filter((pl.col("kind") != "grid") | inside)


def sections(
    context: ReportContext, story: Story, content: Facts, figures: Mapping[str, Shown]
) -> list[Section]:
    """All sections in the order of the page."""

    def of_figures(id: str, title: str, *names: str) -> Section:
        return Section(id, title, "figures", {"figures": [figures[name] for name in names]})

    further = [name for name in figures if name not in PLACED]  # in a section of their own
    made = [
        _rounds(context, len(content["moments"])),
        _pareto(context, story),
        _selector(context, content["selector"], figures["leaders"]),
        of_figures("pairs", "Pair by pair", "matrix", "pairs"),
        _instances(content["closer"]),
        of_figures("race", "The race", "rounds"),
        of_figures("allocation", "Where the budget went", "allocation"),
        of_figures("values", "Values under preferences", "values"),
        _classical(context, [figures[name] for name in CLASSICAL]),
        of_figures("trust", "How far to trust it", "failures", "diagnostics"),
        of_figures("further", "Further figures", *further) if further else None,
        *_last(story),
    ]
    return [section for section in made if section is not None]


def slim_sections(
    context: ReportContext, story: Story, drawings: Sequence[Mapping[str, str]]
) -> list[Section]:
    """The sections of a page without scripts."""
    figures = Section("figures", "Figures", "drawings", {"drawings": drawings})
    made = [_pareto(context, story), figures if drawings else None, *_last(story)]
    return [section for section in made if section is not None]


def _pareto(context: ReportContext, story: Story) -> Section | None:
    if not story.members:
        return None
    title = "The Pareto set" if context.race is not None else "The candidates"
    return Section(
        "pareto", title, "pareto", {"members": story.members, "left_out": story.left_out}
    )


def _classical(context: ReportContext, shown: list[Shown]) -> Section:
    """The same runs by margins, and a note where that disagrees with the posterior."""
    title = "The classical view"
    reasons = {figure.missing for figure in shown}
    if len(reasons) == 1 and None not in reasons:
        return Section("classical", title, "missing", {"why": reasons.pop()})
    view, basis = context.classical, context.basis
    found, agreed = ([], None) if basis is None else disagreements(view, basis)
    notes = [*view.notes(), *([agreed] if agreed else [])]
    content = {"notes": notes, "disagreements": found, "figures": shown}
    return Section("classical", title, "classical", content)


def _selector(context: ReportContext, chosen: Facts | None, shown: Shown) -> Section:
    title = "Choose for your budget"
    if chosen is None:
        return Section("choose", title, "missing", {"why": lacks_draws(context)})
    draws, of = chosen["draws"], counted(chosen["of_draws"], "draw")
    words = {
        "caption": shown.caption.split(";")[0],
        "has_table": shown.table is not None,
        "shipped": f"all {of}" if draws == chosen["of_draws"] else f"{whole(draws)} of the {of}",
        "error": small(chosen["effective"] ** -0.5),  # two Monte-Carlo errors of one half
    }
    return Section("choose", title, "selector", words)


def _instances(sample: Facts | None) -> Section | None:
    if sample is None:
        return None
    many = len(sample["instances"])
    several = f"{counted(sample['of'], 'instance')} on which two or more have run"
    held = f"all {several}"
    if many < sample["of"]:
        held = f"{whole(many)} of the {several}: those with the most runs"
    words = {"sample": held, "show": sample["show"]}
    return Section("closer", "Look closer: duels and runs", "closer", words)


def _rounds(context: ReportContext, moments: int) -> Section | None:
    if not moments:
        return None
    has_eliminated = bool(context.rounds and context.rounds[-1].state.eliminated)
    among = field_of_firsts(context)
    if among and context.other_model:  # which counts firsts by itself, and says so
        among = f"In the rounds, {among[0].lower()}{among[1:]}"
    words = {"what": WHAT, "among": among, "has_eliminated": has_eliminated}
    return Section("rounds", "Round by round" if moments > 1 else TITLE, "rounds", words)


def _last(story: Story) -> list[Section]:
    """The log of decisions, where there are any, and the settings."""
    parts = {"first": story.decisions[:MAX_DECISIONS], "rest": story.decisions[MAX_DECISIONS:]}
    log = Section("log", "What was decided when", "log", parts)
    method = Section("method", "How to repeat it", "method", {"settings": story.settings})
    return [log, method] if story.decisions else [method]


class Piece(NamedTuple):
    """A part of the strip: its width in percent, its algorithm and P(best)."""

    width: float
    colour: int
    label: str
    p_best: float


class Strip(NamedTuple):
    """The leader at each budget by colour: spans with a name each, cells, and the same in words."""

    names: tuple[Piece, ...]
    cells: tuple[Piece, ...]
    ticks: tuple[str, ...]
    words: str


def strip(context: ReportContext) -> Strip | None:
    """The strip of a store; None where there is nothing to compare."""
    if context.draws is None or context.contest is None:
        return None
    names, p_best = context.p_best
    if len(names) < 2:
        return None
    times = context.times
    scaled = np.log(edges(times, True)) if context.log_times else edges(times, False)
    widths = 100 * np.diff(scaled) / (scaled[-1] - scaled[0])

    def piece(name: str, here: slice) -> Piece:
        width, highest = widths[here].sum(), p_best[here].max(axis=1).mean()
        colour, label = context.colour_index(name), context.labels[name]
        return Piece(round(float(width), 3), colour, label, round(float(highest), 2))

    leader = [names[item] for item in p_best.argmax(axis=1)]
    cells = [piece(name, slice(place, place + 1)) for place, name in enumerate(leader)]
    spans, words, place = [], [], 0
    for one in leaders(names, times, p_best):
        spans.append(piece(one.algorithms[0], slice(place, place + one.times)))
        words.append(f"{spans[-1].label} {one.budgets(context.axis)}")
        place += one.times
    ends = (time(float(times[0])), timed(float(times[-1]), context.axis))
    ticks = ends if len(times) > 1 else ends[1:]
    return Strip(tuple(spans), tuple(cells), ticks, f"Highest {P_BEST}: {joined(words)}")
