"""The report as a sequence of blocks, rendered by `text` as plain text or Markdown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.report.context import ReportContext
from polarbear.report.figures.base import lacks_draws
from polarbear.report.findings import decided_otherwise, verdict
from polarbear.report.story import Entry, Opening, Story
from polarbear.report.words import LOWEST_P_BETTER, Sentence, curve, legend
from polarbear.store import summary
from polarbear.wording import (
    P_BEST,
    WIN_RATE,
    counted,
    decisive,
    percent,
    probability_entry,
    time,
    timed,
)

BAR_LENGTH = 30  # characters of the longest bar


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Paragraph:
    text: Sentence


@dataclass(frozen=True)
class Bullets:
    """Lines with a name at the beginning of each, which may be empty."""

    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Table:
    """A table; a column whose title ends in '#' has numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Chart:
    """Rows of characters, each with a name before and a remark after it, and a line below."""

    rows: tuple[tuple[str, str, str], ...]
    below: str = ""


Block = Heading | Paragraph | Bullets | Table | Chart


def outline(context: ReportContext, story: Story) -> list[Block]:
    """The whole report: the answer first, how to repeat it last."""
    made = opening(story)
    if story.members:
        title = "The anytime Pareto set" if context.race else "Not ruled out"
        made += [Heading(title), _entries(story.members)]
    if lacks_draws(context) is None:
        made += [
            Heading(f"{P_BEST} by budget: the probability of the highest {WIN_RATE}"),
            _best(context),
        ]
    if story.out:
        made += [Heading("Eliminated" if context.race else "Left out"), _entries(story.out)]
    if context.believed is not None and len(context.believed.algorithms) > 1:
        made += [Heading("Is the row better than the column?"), *_matrix(context)]
    if context.rounds:
        made += [Heading("The race, round by round"), _rounds(context)]
        made += [Heading(f"Where the {context.axis} went"), _allocation(context)]
        made += [Heading("Decisions"), _decisions(story)]
    failed = summary.failures(context.store)
    if failed:
        made += [Heading("Failures"), _failures(failed)]
    return [*made, Heading("How to repeat it"), Bullets(story.settings)]


def opening(story: Opening) -> list[Block]:
    """The title, the answer and what limits it."""
    made: list[Block] = [Heading(story.title), Paragraph((*story.headline, f" {story.evidence}"))]
    if story.warnings:
        made.append(Bullets(tuple(("Note", warning) for warning in story.warnings)))
    return made


def _entries(entries: tuple[Entry, ...]) -> Bullets:
    return Bullets(tuple((entry.algorithm, entry.reason) for entry in entries))


def bar(value: float, top: float) -> str:
    """A bar whose length is proportional to value / top."""
    if top <= 0:
        return ""
    eighths = round(BAR_LENGTH * 8 * value / top)
    tail = "▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else ""
    return "█" * (eighths // 8) + tail


def _best(context: ReportContext) -> Chart:
    names, likely = context.p_best
    times = context.times
    rows = []
    for name, chance in zip(names, likely.T, strict=True):
        peak = int(chance.argmax())
        remark = f"up to {decisive(float(chance[peak]))} at {time(float(times[peak]))}"
        rows.append((name, curve(chance), remark))
    first, last = float(times[0]), float(times[-1])
    return Chart(tuple(rows), f"{time(first)} to {timed(last, context.axis)}")


def _matrix(context: ReportContext) -> list[Block]:
    """P(row better), each with the sign of the verdict, and a legend of the signs."""
    believed = context.believed
    assert believed is not None
    chance = believed.dominance()
    remaining = [name for name in believed.algorithms if name in context.remaining]
    order = [*remaining, *(name for name in believed.algorithms if name not in remaining)]
    found = {(a, b): verdict(context, a, b) for a in order for b in order if a != b}
    rows = []
    for a in order:
        cells = [a]
        for b in order:
            p = chance[believed.place(a), believed.place(b)]
            said = "unknown" if np.isnan(p) else probability_entry(p)
            then = decided_otherwise(context, a, b, p)
            before = "" if then is None else f"({probability_entry(then)}) "
            cells.append("" if a == b else f"{before}{said} {found[a, b].sign or ' '}")
        rows.append(tuple(cells))
    made: list[Block] = [Table(("", *(f"{name}#" for name in order)), tuple(rows))]
    what = f"Numbers: {LOWEST_P_BETTER.format(a='row')} now"
    if any("(" in cell for row in rows for cell in row[1:]):
        what += ", in brackets before it when it was decided, where that was another"
    signs = legend(one.kind for one in found.values())
    return [*made, Paragraph((f"{'; signs: '.join(filter(None, (what, ', '.join(signs))))}.",))]


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
    rows = [
        (name, bar(value, most), f"{time(value)} on {counted(seen[name], 'instance')}")
        for name, value in spent.items()
    ]
    return Chart(
        tuple(rows),
        f"{timed(sum(spent.values()), context.axis)}; {percent(context.race.saved)} of the "
        "budget of running everything was saved",
    )


def _decisions(story: Story) -> Table:
    return Table(
        ("round#", "instances#", "decision"),
        tuple((str(d.round), str(d.instances), d.words) for d in story.decisions),
    )


def _failures(failed: list[summary.Failure]) -> Table:
    return Table(
        ("algorithm", "runs#", "how", "message", "first on"),
        tuple((f.algorithm, str(f.runs), f.status, f.message, f.example) for f in failed),
    )
