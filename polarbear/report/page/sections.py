"""The sections of the page: the figures, the strip of leaders, and the words beside them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from polars import selectors

from polarbear.classical.disagreement import disagreements
from polarbear.numerics.arrays import spread
from polarbear.records import Facts
from polarbear.report import feature_rule, how_much
from polarbear.report.context import ReportContext
from polarbear.report.figures import FIGURES
from polarbear.report.figures.base import ReportFigure, lacks_draws
from polarbear.report.figures.chart import edges, plain
from polarbear.report.figures.ratings import TITLE, WHAT, field_of_firsts
from polarbear.report.page.assets import as_json, compressed
from polarbear.report.story import Story, member_note
from polarbear.wording import counted, joined, small, time, timed, whole

CLASSICAL = ("ecdf", "aocc", "eaf", "eaf-difference")
PLACED = {
    "leaders",
    "matrix",
    "pairs",
    "kinds",
    "rounds",
    "allocation",
    "values",
    "failures",
    "diagnostics",
    *CLASSICAL,
}  # figures that a section names; all others stand under further figures
# Figures of which the page has a better form: every round, and every budget to choose for.
REPLACED = {"ratings", "key-rounds", "one-budget"}
MAX_DECISIONS = 12  # the log shows this many, and folds the others
DIGITS = 4  # significant ones in the page; `polarbear report --csv` has all
PLANE = {"t": 36, "level": 24}  # points a panel shows along each side
COARSER = " The page holds the plane at some of its points, `polarbear report --csv` all of them."
DRAWN_FROM_DRAWS = {"leaders"}  # the selector draws it from the draws, for any preference


class Section(NamedTuple):
    """A part of the page: its heading, and the content for the template of its kind."""

    id: str
    title: str
    kind: str
    content: Mapping[str, object]


class FigureInPage(NamedTuple):
    """A figure with its words, and its table and chart as compressed JSON.

    ``content`` is None where ``missing`` says why.
    """

    name: str
    title: str
    caption: str = ""
    missing: str | None = None
    content: str | None = None


def figures_in_page(context: ReportContext) -> dict[str, FigureInPage]:
    """All figures that the page has no better form for, by name."""
    return {
        name: _figure_in_page(context, figure)
        for name, figure in FIGURES.items()
        if name not in REPLACED
    }


def _figure_in_page(context: ReportContext, figure: ReportFigure) -> FigureInPage:
    missing = figure.missing(context)
    if missing is not None:
        return FigureInPage(figure.name, figure.title, missing=missing)
    table = figure.data(context)
    caption = figure.caption(context)
    if PLANE.keys() <= set(table.columns):
        table = _coarser(table)
        caption += COARSER
    if table.is_empty():
        return FigureInPage(figure.name, figure.title, missing="there is nothing to compare")
    numbers = selectors.float()
    digits = pl.when(numbers.is_finite()).then(numbers.round_sig_figs(DIGITS))
    content = {
        "columns": table.columns,
        "rows": len(table),
        "data": [column.to_list() for column in table.with_columns(digits)],
    }
    if figure.name not in DRAWN_FROM_DRAWS:
        content["chart"] = plain(figure.chart(table, context))
    return FigureInPage(
        figure.name, figure.title, caption, content=compressed(as_json(content).encode())
    )


def _coarser(table: pl.DataFrame) -> pl.DataFrame:
    """A plane of times and targets at no more points than a panel can show."""
    cells = table.filter(pl.col("kind") == "grid")
    is_kept = pl.lit(True)
    for column, max_points in PLANE.items():
        points = cells[column].unique().sort()
        kept_points = points[spread(len(points), max_points).tolist()]
        is_kept &= pl.col(column).is_in(kept_points.to_list())
    return table.filter((pl.col("kind") != "grid") | is_kept)


def sections(
    context: ReportContext, story: Story, content: Facts, figures: Mapping[str, FigureInPage]
) -> list[Section]:
    """All sections in the order of the page."""

    def of_figures(id: str, title: str, *names: str) -> Section:
        return Section(id, title, "figures", {"figures": [figures[name] for name in names]})

    has_kinds = figures["kinds"].missing is None  # few stores have several
    further = [name for name in figures if name not in PLACED]  # in a section of their own
    all_sections = [
        _rounds(context, len(content["moments"])),
        _pareto(context, story),
        _selector(context, content["selector"], figures["leaders"]),
        _how_much(context),
        _feature_rule(context),
        of_figures("pairs", "Pair by pair", "matrix", "pairs"),
        _groups(context),
        of_figures("kinds", title_of_kinds(context), "kinds") if has_kinds else None,
        _instances(content["closer"]),
        of_figures("race", "The race", "rounds"),
        of_figures("allocation", "Where the budget went", "allocation"),
        of_figures("values", "Values under preferences", "values"),
        _classical(context, [figures[name] for name in CLASSICAL]),
        of_figures("trust", "How far to trust it", "failures", "diagnostics"),
        of_figures("further", "Further figures", *further) if further else None,
        *_last(story),
    ]
    return [section for section in all_sections if section is not None]


def slim_sections(
    context: ReportContext, story: Story, drawings: Sequence[Mapping[str, str]]
) -> list[Section]:
    """The sections of a page without scripts."""
    figures = Section("figures", "Figures", "drawings", {"drawings": drawings})
    all_sections = [
        _pareto(context, story),
        _how_much(context),
        _groups(context),
        _feature_rule(context),
        figures if drawings else None,
        *_last(story),
    ]
    return [section for section in all_sections if section is not None]


def _pareto(context: ReportContext, story: Story) -> Section | None:
    if not story.members:
        return None
    title = "Not eliminated" if context.race is not None else "The candidates"
    content = {
        "members": story.members,
        "left_out": story.left_out,
        "note": member_note(context),
    }
    return Section("pareto", title, "pareto", content)


def _how_much(context: ReportContext) -> Section | None:
    """Win rates and times as long, as a table."""
    compared = how_much.comparisons(context)
    if not compared:
        return None
    content = _table(
        how_much.columns(context.axis),
        [comparison.cells for comparison in compared],
        how_much.EXPLANATION,
    )
    return Section("how-much", how_much.TITLE, "how_much", content)


def _feature_rule(context: ReportContext) -> Section | None:
    """The recommendations for groups of instances by features, as a table."""
    rule = feature_rule.feature_rule(context)
    if rule is None:
        return None
    rows = [row.cells for row in rule.rows]
    content = _table(feature_rule.COLUMNS, rows, rule.explanation)
    return Section("features", feature_rule.TITLE, "how_much", content)


def _table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], explanation: str
) -> dict[str, object]:
    """The content of a section that is a table; columns that end in '#' have numbers."""
    return {
        "columns": [title.removesuffix("#") for title in columns],
        "numbers": [title.endswith("#") for title in columns],
        "rows": rows,
        "explanation": explanation,
    }


def title_of_kinds(context: ReportContext) -> str:
    """The title of the duels won by kind of instance, or by the feature of the report."""
    if context.by is None:
        return "By kind of instance"
    return f"Duels won by {context.grouping.feature}"


def _groups(context: ReportContext) -> Section | None:
    """The likely best of each group of problems, as a table."""
    if context.groups is None:
        return None
    titles, rows = context.groups.table()
    content = _table(titles, rows, context.groups.borrowing)
    return Section("groups", f"By {context.grouping.feature}", "how_much", content)


def _classical(context: ReportContext, figures: list[FigureInPage]) -> Section:
    """The same runs by margins, and a note where that disagrees with the posterior."""
    title = "The classical view"
    reasons = {figure.missing for figure in figures}
    if len(reasons) == 1 and None not in reasons:
        return Section("classical", title, "missing", {"why": reasons.pop()})
    view = context.classical
    notes = list(view.notes())
    content: dict[str, object] = {"notes": notes, "disagreements": [], "figures": figures}
    if context.basis is not None:
        content["disagreements"], agreement = disagreements(view, context.basis)
        if agreement:
            notes.append(agreement)
    return Section("classical", title, "classical", content)


def _selector(context: ReportContext, selector: Facts | None, leaders: FigureInPage) -> Section:
    title = "Choose for your budget"
    if selector is None:
        return Section("choose", title, "missing", {"why": lacks_draws(context)})
    all_draws = counted(selector["of_draws"], "draw")
    shipped = f"{whole(selector['draws'])} of the {all_draws}"
    if selector["draws"] == selector["of_draws"]:
        shipped = f"all {all_draws}"
    words = {
        "caption": leaders.caption.split(";")[0],
        "has_table": leaders.content is not None,
        "shipped": shipped,
        "error": small(selector["effective"] ** -0.5),  # two Monte-Carlo errors of one half
    }
    return Section("choose", title, "selector", words)


def _instances(sample: Facts | None) -> Section | None:
    if sample is None:
        return None
    n_instances = len(sample["instances"])
    comparable = f"{counted(sample['of'], 'instance')} on which two or more have run"
    extent = f"all {comparable}"
    if n_instances < sample["of"]:
        extent = f"{whole(n_instances)} of the {comparable}: those with the most runs"
    words = {"sample": extent, "show": sample["show"]}
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
    borders = edges(times, context.log_times)
    scaled = np.log(borders) if context.log_times else borders
    widths = 100 * np.diff(scaled) / (scaled[-1] - scaled[0])

    def piece(name: str, span: slice) -> Piece:
        highest = p_best[span].max(axis=1).mean()
        return Piece(
            width=round(float(widths[span].sum()), 3),
            colour=context.colour_index(name),
            label=context.labels[name],
            p_best=round(float(highest), 2),
        )

    leader_at_time = [names[item] for item in p_best.argmax(axis=1)]
    cells = [piece(name, slice(k, k + 1)) for k, name in enumerate(leader_at_time)]
    spans = []
    words = []
    start = 0
    for span in context.advice.spans:
        stop = start + span.times
        label = joined([context.labels[name] for name in span.algorithms], "or")
        spans.append(piece(span.algorithms[0], slice(start, stop))._replace(label=label))
        words.append(f"{label} {span.budgets(context.axis)}")
        start = stop
    first = time(float(times[0]))
    last = timed(float(times[-1]), context.axis)
    ticks = (first, last) if len(times) > 1 else (last,)
    return Strip(tuple(spans), tuple(cells), ticks, f"Likely the best: {joined(words)}")
