"""The report as a sequence of blocks, and blocks as Markdown."""

import re
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len, set_cell_size

from polarbear.facts.summary import failures
from polarbear.racing.verdicts import SIGNS, VerdictKind
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import lacks_draws
from polarbear.report.figures.pairs import matrix_data
from polarbear.report.figures.short_names import shortened
from polarbear.report.findings import matrix_numbers
from polarbear.report.story import Opening, Story
from polarbear.report.words import curve, legend, pieces
from polarbear.wording import (
    P_BEST,
    WIN_RATE,
    counted,
    decisive,
    percent,
    time,
    timed,
    visible,
)

BAR_LENGTH = 30  # characters of the longest bar
MAX_NAME = 28  # characters of a name in a table or chart


class Heading(NamedTuple):
    text: str


class Paragraph(NamedTuple):
    """A text, which may have marked names."""

    text: str


class Bullets(NamedTuple):
    """Lines with a name at the beginning of each, which may be empty."""

    lines: tuple[tuple[str, str], ...]


class Table(NamedTuple):
    """A table; a column whose title ends in '#' has numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Chart(NamedTuple):
    """Rows of characters, each with a name before and a remark after it, and a line below."""

    rows: tuple[tuple[str, str, str], ...]
    below: str = ""


Block = Heading | Paragraph | Bullets | Table | Chart


def outline(context: ReportContext, story: Story) -> list[Block]:
    """The whole report: the answer first, how to repeat it last."""
    made = opening(story)
    if story.members:
        title = "The anytime Pareto set" if context.race else "Not ruled out"
        made += [Heading(title), Bullets(tuple((e.algorithm, e.reason) for e in story.members))]
    if lacks_draws(context) is None:
        title = f"{P_BEST} by budget: the probability of the highest {WIN_RATE}"
        made += [Heading(title), _best(context)]
    if story.left_out:
        title = "Eliminated" if context.race else "Left out"
        made += [Heading(title), Bullets(tuple((e.algorithm, e.reason) for e in story.left_out))]
    if context.estimates is not None:
        made += [Heading("Is the row better than the column?"), *_matrix(context)]
    if context.rounds:
        made += [Heading("The race, round by round"), _rounds(context)]
        made += [Heading(f"Where the {context.axis} went"), _allocation(context)]
        decisions = tuple((str(d.round), str(d.instances), d.words) for d in story.decisions)
        made += [Heading("Decisions"), Table(("round#", "instances#", "decision"), decisions)]
    failed = failures(context.store)
    if failed:
        columns = ("algorithm", "runs#", "how", "message", "first on")
        rows = tuple((f.algorithm, str(f.runs), f.status, f.message, f.example) for f in failed)
        made += [Heading("Failures"), Table(columns, rows)]
    return [*made, Heading("How to repeat it"), Bullets(story.settings)]


def opening(story: Opening) -> list[Block]:
    """The title, the answer and what limits it."""
    made: list[Block] = [Heading(story.title), Paragraph(f"{story.headline} {story.evidence}")]
    if story.warnings:
        made.append(Bullets(tuple(("Note", warning) for warning in story.warnings)))
    return made


def bar(value: float, top: float) -> str:
    """A bar whose length is proportional to value / top."""
    return "█" * round(BAR_LENGTH * value / top) if top > 0 else ""


def _best(context: ReportContext) -> Chart:
    names, p_best = context.p_best
    times = context.times
    rows = []
    for name, chance in zip(names, p_best.T, strict=True):
        peak = int(chance.argmax())
        remark = f"up to {decisive(float(chance[peak]))} at {time(float(times[peak]))}"
        rows.append((name, curve(chance), remark))
    first, last = float(times[0]), float(times[-1])
    return Chart(tuple(rows), f"{time(first)} to {timed(last, context.axis)}")


def _matrix(context: ReportContext) -> list[Block]:
    """P(row better), each with the sign of the verdict, and a legend of the signs."""
    data = matrix_data(context)
    names = data["a"].unique(maintain_order=True).to_list()
    cells = dict.fromkeys(zip(names, names, strict=True), "")
    for a, b, p, kind, then in data.iter_rows():
        now = "unknown" if p is None else decisive(p)
        before = now if then is None else decisive(then)
        then = "" if before == now else f"({before}) "
        cells[a, b] = f"{then}{now} {SIGNS[VerdictKind(kind)] or ' '}"
    signs = ", ".join(legend(data["verdict"]))
    what = f"Numbers: {matrix_numbers(context)}"
    return [
        Table(
            ("", *(f"{name}#" for name in names)),
            tuple((a, *(cells[a, b] for b in names)) for a in names),
        ),
        Paragraph(f"{what}; signs: {signs}." if signs else f"{what}."),
    ]


def _rounds(context: ReportContext) -> Chart:
    settled = np.array([found.state.share_settled for found in context.rounds])
    left = np.array([len(found.state.candidates) for found in context.rounds])
    most = max(len(found.state.algorithms) for found in context.rounds)
    drawn = np.array([found.record.drawn for found in context.rounds])
    return Chart(
        (
            ("pairs settled", curve(settled), f"{percent(float(settled[-1]))}"),
            ("algorithms left", curve(left, most), f"{left[-1]} of {most}"),
            ("instances a round", curve(drawn, drawn.max()), f"up to {drawn.max()}"),
        ),
        f"rounds {context.rounds[0].number} to {context.rounds[-1].number}",
    )


def _allocation(context: ReportContext) -> Chart:
    assert context.race is not None
    spent, seen = context.race.spent, context.race.instances_by_algorithm
    most = max(spent.values(), default=0)
    rows = tuple(
        (name, bar(value, most), f"{time(value)} on {counted(seen[name], 'instance')}")
        for name, value in spent.items()
    )
    saved = f"{percent(context.race.saved)} of the budget of running everything was saved"
    return Chart(rows, f"{timed(sum(spent.values()), context.axis)}; {saved}")


def chart_lines(chart: Chart) -> list[str]:
    """A chart as lines of text, names cut to MAX_NAME characters."""
    names = [shortened(name, MAX_NAME) for name, _, _ in chart.rows]
    first = max(map(cell_len, names), default=0)
    middle = max((len(drawn) for _, drawn, _ in chart.rows), default=0)
    made = [
        f"{set_cell_size(name, first)}  {drawn:<{middle}}  {visible(remark)}".rstrip()
        for name, (_, drawn, remark) in zip(names, chart.rows, strict=True)
    ]
    return [*made, " " * (first + 2) + chart.below] if chart.below else made


def as_markdown(blocks: list[Block]) -> str:
    """Blocks as Markdown; the first heading is the title."""
    first = next((block for block in blocks if isinstance(block, Heading)), None)
    return "\n\n".join(_markdown(block, "#" if block is first else "##") for block in blocks) + "\n"


def _escaped(text: str) -> str:
    """Text that Markdown shows unchanged: no markup, link, mention or tag."""
    return _prose(text).replace("`", "\\`").replace("#", "\\#")


def _prose(text: str) -> str:
    """Escaped text in which backticks still mark code."""
    return re.sub(r"([\\*_\[\]<>|~$@])", r"\\\1", visible(text)).replace("&", "&amp;")


def _bold(name: str) -> str:
    return f"**{_escaped(name)}**"


def _markdown(block: Block, level: str) -> str:
    match block:
        case Heading(text):
            return f"{level} {_escaped(text)}"
        case Paragraph(text):
            parts = enumerate(pieces(text))
            return "".join((_bold if place % 2 else _prose)(part) for place, part in parts)
        case Bullets(lines):
            return "\n".join(
                f"- {_bold(name)}: {_prose(rest)}" if name else f"- {_prose(rest)}"
                for name, rest in lines
            )
        case Table(columns, rows):
            titles = [_escaped(title.removesuffix("#")) for title in columns]
            rule = ["---:" if title.endswith("#") else "---" for title in columns]
            cells = [titles, rule, *([_prose(cell) for cell in row] for row in rows)]
            return "\n".join(f"| {' | '.join(row)} |" for row in cells)
        case Chart():
            drawn = "\n".join(chart_lines(block)).replace("```", "'''")  # must not close its fence
            return f"```text\n{drawn}\n```"
