"""The report as a sequence of blocks, and blocks as Markdown."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rich.cells import cell_len, set_cell_size

from polarbear.facts.summary import failures
from polarbear.racing.verdicts import SIGNS, VerdictKind
from polarbear.report import how_much
from polarbear.report.context import ReportContext
from polarbear.report.feature_rule import COLUMNS, TITLE, feature_rule
from polarbear.report.figures.base import lacks_draws
from polarbear.report.figures.pairs import matrix_data
from polarbear.report.figures.short_names import shortened
from polarbear.report.findings import matrix_numbers
from polarbear.report.story import Entry, Opening, Story, member_note
from polarbear.report.words import all_times, curve, highest, legend, pieces
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


class CharacterChart(NamedTuple):
    """Rows of characters, each with a name before and a remark after it, and a line below."""

    rows: tuple[tuple[str, str, str], ...]
    below: str = ""


Block = Heading | Paragraph | Bullets | Table | CharacterChart


def outline(context: ReportContext, story: Story) -> list[Block]:
    """The whole report: the answer first, how to repeat it last."""
    blocks = opening(story)
    if story.members:
        title = "Not eliminated" if context.race else "Not ruled out"
        blocks += [Heading(title), _reasons(story.members)]
        note = member_note(context)
        if note is not None:
            blocks.append(Paragraph(note))
    if lacks_draws(context) is None:
        title = f"{P_BEST} by budget: the probability of the highest {WIN_RATE}"
        blocks += [Heading(title), _best(context)]
    compared = how_much.comparisons(context)
    if compared:
        table = Table(
            how_much.columns(context.axis), tuple(comparison.cells for comparison in compared)
        )
        blocks += [Heading(how_much.TITLE), table, Paragraph(f"{how_much.EXPLANATION}.")]
    if context.groups is not None:
        titles, rows_of_groups = context.groups.table()
        table = Table(tuple(titles), tuple(tuple(row) for row in rows_of_groups))
        blocks += [Heading(f"By {context.groups.by}"), table]
        blocks.append(Paragraph(f"{context.groups.borrowing.capitalize()}."))
    rule = feature_rule(context)
    if rule is not None:
        table = Table(COLUMNS, tuple(row.cells for row in rule.rows))
        blocks += [Heading(TITLE), table, Paragraph(f"{rule.explanation}.")]
    if story.left_out:
        title = "Eliminated" if context.race else "Left out"
        blocks += [Heading(title), _reasons(story.left_out)]
    if context.estimates is not None:
        blocks += [Heading("Is the row better than the column?"), *_matrix(context)]
    if context.rounds:
        blocks += [Heading("The race, round by round"), _rounds(context)]
        blocks += [Heading(f"Where the {context.axis} went"), _allocation(context)]
        decisions = tuple((str(d.round), str(d.instances), d.words) for d in story.decisions)
        blocks += [Heading("Decisions"), Table(("round#", "instances#", "decision"), decisions)]
    failed = failures(context.store)
    if failed:
        columns = ("algorithm", "runs#", "how", "message", "first on")
        rows = tuple((f.algorithm, str(f.runs), f.status, f.message, f.example) for f in failed)
        blocks += [Heading("Failures"), Table(columns, rows)]
    return [*blocks, Heading("How to repeat it"), Bullets(story.settings)]


def _reasons(entries: Sequence[Entry]) -> Bullets:
    return Bullets(tuple((entry.algorithm, entry.reason) for entry in entries))


def opening(story: Opening) -> list[Block]:
    """The title, the answer, and notes on the limits of the answer."""
    blocks: list[Block] = [Heading(story.title), Paragraph(f"{story.headline} {story.evidence}")]
    if story.warnings:
        blocks.append(Bullets(tuple(("Note", warning) for warning in story.warnings)))
    return blocks


def bar(value: float, top: float) -> str:
    """A bar whose length is proportional to value / top."""
    return "█" * round(BAR_LENGTH * value / top) if top > 0 else ""


def _best(context: ReportContext) -> CharacterChart:
    names, p_best = context.p_best
    times = context.times
    rows = []
    for name, p_best_of_name in zip(names, p_best.T, strict=True):
        rows.append((name, curve(p_best_of_name), f"max {highest(p_best_of_name, times)}"))
    return CharacterChart(tuple(rows), all_times(times, context.axis))


def _matrix(context: ReportContext) -> list[Block]:
    """P(column dominated by row), each with the sign of the verdict, and a legend of the signs."""
    data = matrix_data(context)
    names = data["a"].unique(maintain_order=True).to_list()
    cells = dict.fromkeys(zip(names, names, strict=True), "")
    for a, b, p_dominated, kind in data.iter_rows():
        number = "unknown" if p_dominated is None else decisive(p_dominated)
        cells[a, b] = f"{number} {SIGNS[VerdictKind(kind)] or ' '}"
    columns = ("", *(f"{name}#" for name in names))
    rows = tuple((a, *(cells[a, b] for b in names)) for a in names)
    explanation = f"Numbers: {matrix_numbers()}"
    signs = ", ".join(legend(data["verdict"]))
    if signs:
        explanation += f"; signs: {signs}"
    return [Table(columns, rows), Paragraph(f"{explanation}.")]


def _rounds(context: ReportContext) -> CharacterChart:
    settled = np.array([entry.state.share_settled for entry in context.rounds])
    candidates = np.array([len(entry.state.candidates) for entry in context.rounds])
    n_algorithms = max(len(entry.state.algorithms) for entry in context.rounds)
    drawn = np.array([entry.record.drawn for entry in context.rounds])
    remark = f"{candidates[-1]} of {n_algorithms}"
    return CharacterChart(
        (
            ("pairs settled", curve(settled), f"{percent(float(settled[-1]))}"),
            ("algorithms left", curve(candidates, n_algorithms), remark),
            ("instances a round", curve(drawn, drawn.max()), f"up to {drawn.max()}"),
        ),
        f"rounds {context.rounds[0].number} to {context.rounds[-1].number}",
    )


def _allocation(context: ReportContext) -> CharacterChart:
    assert context.race is not None
    spent = context.race.spent
    instances = context.race.instances_by_algorithm
    most = max(spent.values(), default=0)
    rows = tuple(
        (name, bar(budget, most), f"{time(budget)} on {counted(instances[name], 'instance')}")
        for name, budget in spent.items()
    )
    saved = f"{percent(context.race.saved)} of the budget of running everything was saved"
    return CharacterChart(rows, f"{timed(sum(spent.values()), context.axis)}; {saved}")


def chart_lines(chart: CharacterChart) -> list[str]:
    """A chart as lines of text, names cut to MAX_NAME characters."""
    names = [shortened(name, MAX_NAME) for name, _, _ in chart.rows]
    name_width = max(map(cell_len, names), default=0)
    curve_width = max((len(drawn) for _, drawn, _ in chart.rows), default=0)
    lines = [
        f"{set_cell_size(name, name_width)}  {drawn:<{curve_width}}  {visible(remark)}".rstrip()
        for name, (_, drawn, remark) in zip(names, chart.rows, strict=True)
    ]
    if chart.below:
        lines.append(" " * (name_width + 2) + chart.below)
    return lines


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
            # Words and marked names alternate, words first.
            parts = enumerate(pieces(text))
            return "".join(_bold(part) if i % 2 else _prose(part) for i, part in parts)
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
        case CharacterChart():
            # Backticks in a name must not end the block of code.
            drawn = "\n".join(chart_lines(block)).replace("```", "'''")
            return f"```text\n{drawn}\n```"
