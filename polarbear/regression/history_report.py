"""The history of a gate in words, as rows of a table, and as a figure over merges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from polarbear.numerics.arrays import Floats, spread
from polarbear.regression.gate_decision import GateVerdict
from polarbear.regression.gate_report import PARTS
from polarbear.regression.history_files import MergeSequence
from polarbear.regression.merge_drift import Comparison, comparisons, mean_scores, win_rates
from polarbear.report.figures.canvas_renderer import draw_chart
from polarbear.report.figures.chart import (
    Axis,
    Boxes,
    Chart,
    Line,
    Panel,
    Rule,
    Series,
    Tick,
    Title,
)
from polarbear.report.figures.figure_files import on_canvas, saved
from polarbear.report.figures.style import Style
from polarbear.settings.grid import TIMED_AXES
from polarbear.wording import counted, joined, noun, percent, short, small, time, timed

MOST_TICKS = 8  # commits below the figure


@dataclass(frozen=True)
class MergeRow:
    """One merge: its verdict, and win rates over all times.

    ``against_previous`` is the win rate against the merge before it in its sequence, and
    ``against_others`` that against all others of the sequence. ``by_time`` has the latter at each
    time of the grid.
    """

    merge: str
    commit: str
    committed: str
    verdict: GateVerdict
    problems: int
    against_previous: float | None
    against_others: float | None
    by_time: tuple[float | None, ...]


@dataclass(frozen=True)
class SequenceReport:
    """A sequence of merges that can be compared, and the test for a drift of the newest one.

    ``changed`` says why the sequence before it ended. Only the newest sequence of an algorithm has
    ``comparisons``.
    """

    store: str
    algorithm: str
    axis: str
    changed: str
    is_newest: bool
    times: tuple[float, ...]
    merges: tuple[MergeRow, ...]
    comparisons: tuple[Comparison, ...]
    DERIVED: ClassVar[tuple[str, ...]] = ("is_drift",)

    @property
    def is_drift(self) -> bool:
        """Whether the newest merges are shown to be worse than earlier ones."""
        return any(comparison.is_drift for comparison in self.comparisons)


def reports(
    sequences: Sequence[MergeSequence], tolerance: float, alpha: float
) -> list[SequenceReport]:
    """All sequences with their rows, and with comparisons for the newest of each algorithm."""
    newest = {(sequence.store, sequence.algorithm): sequence for sequence in sequences}
    described = []
    for sequence in sequences:
        is_newest = newest[sequence.store, sequence.algorithm] is sequence
        compared: tuple[Comparison, ...] = ()
        if is_newest:
            compared = comparisons(sequence.results, tolerance, alpha)
        report = SequenceReport(
            store=sequence.store,
            algorithm=sequence.algorithm,
            axis=sequence.axis,
            changed=sequence.changed,
            is_newest=is_newest,
            times=sequence.results[0].times,
            merges=tuple(_rows(sequence)),
            comparisons=compared,
        )
        described.append(report)
    return described


def _rows(sequence: MergeSequence) -> list[MergeRow]:
    rates = win_rates(sequence.results)
    rows = []
    for number, (merge, result) in enumerate(zip(sequence.merges, sequence.results, strict=True)):
        previous = np.empty(0)
        if number:
            previous = mean_scores([result], [sequence.results[number - 1]])
        row = MergeRow(
            merge=merge.label,
            commit=merge.commit,
            committed=merge.committed,
            verdict=result.verdict,
            problems=len(set(result.problems)),
            against_previous=_mean(previous),
            against_others=_mean(rates[number]),
            by_time=tuple(None if np.isnan(rate) else float(rate) for rate in rates[number]),
        )
        rows.append(row)
    return rows


def _mean(scores: Floats) -> float | None:
    """The mean of all scores that are known."""
    known = scores[~np.isnan(scores)]
    return float(known.mean()) if len(known) else None


def drift_sentence(report: SequenceReport, tolerance: float, alpha: float) -> str:
    """Whether the newest merges are worse than earlier ones, and by which numbers."""
    name = f"{report.algorithm} ({report.store})"
    if not report.comparisons:
        return f"{name} has one merge that can be compared; a drift is tested from the second on."
    if not report.is_drift:
        distances = joined([str(compared.merges_ago) for compared in report.comparisons])
        last = noun(report.comparisons[-1].merges_ago, "merge")
        return (
            f"No drift of {name} is shown: the newest of {counted(len(report.merges), 'merge')} "
            f"against those {distances} {last} ago (level {alpha:g} over all merges)."
        )
    compared = clearest(report.comparisons)
    newer_side, older_side = _ranges(len(report.merges), compared)
    newer = _merges_words(report, newer_side)
    older = _merges_words(report, older_side)
    return (
        f"Drift of {name}: {newer} {_win_words(compared, report.axis)} against {older}, "
        f"{counted(compared.merges_ago, 'merge')} earlier; a win rate below "
        f"{short(0.5 - tolerance)} is shown ({counted(compared.problems, 'problem')}, "
        f"P(without drift) <= {small(compared.p)}, permitted {small(compared.error)})."
    )


def clearest(compared: Sequence[Comparison]) -> Comparison:
    """The comparison that shows a drift most clearly."""
    return min(compared, key=lambda comparison: comparison.p / comparison.error)


def _win_words(compared: Comparison, axis: str) -> str:
    """The win rate of the newer merges, and the times at which they lose most clearly."""
    wins = noun(compared.merges, "wins", "win")
    rate = percent(compared.win_rate or 0.0)
    if compared.from_ is None or compared.to is None:
        return f"{wins} {rate} of the duels"
    if compared.from_ == compared.to:
        return f"{wins} {rate} of the duels at {timed(compared.to, axis)}"
    return (
        f"{wins} {rate} of the duels between {time(compared.from_)} and {timed(compared.to, axis)}"
    )


def _ranges(end: int, compared: Comparison) -> tuple[tuple[int, int], tuple[int, int]]:
    """The first merge of the newer and of the older side, and the one after its last."""
    older_end = end - compared.merges_ago
    return (end - compared.merges, end), (older_end - compared.merges, older_end)


def _merges_words(report: SequenceReport, span: tuple[int, int]) -> str:
    names = [row.merge for row in report.merges[slice(*span)]]
    if len(names) == 1:
        return f"merge {names[0]}"
    return f"the {len(names)} merges {names[0]} to {names[-1]}"


def warnings(described: Sequence[SequenceReport]) -> list[str]:
    """What limits the comparison of merges whose times are seconds."""
    if not any(report.axis in TIMED_AXES and report.is_newest for report in described):
        return []
    return [
        "times are seconds: merges of different machines, or of different days on one machine, are "
        "not comparable; a change of the machine starts a new sequence, another day does not"
    ]


def drawing(described: Sequence[SequenceReport], ending: str) -> bytes:
    """The win rate of each merge against the others, by third of the times, as SVG or PNG."""
    labels = {part: f"{part} third of the times" for part in PARTS}
    followed = dict.fromkeys((report.store, report.algorithm) for report in described)
    panels = []
    for store, algorithm in followed:
        sequences = [
            report for report in described if (report.store, report.algorithm) == (store, algorithm)
        ]
        title = f"{algorithm} ({store})"
        if any(report.is_drift for report in sequences):
            title = f"{title}: grey merges show a drift"
        panels.append(_panel(title, sequences))
    chart = Chart(tuple(panels), labels, legend="below")
    style = Style()
    with on_canvas(style) as canvas:
        draw_chart(canvas, chart, style)
        return saved(canvas, style, ending)


def _panel(title: str, sequences: Sequence[SequenceReport]) -> Panel:
    """All merges of an algorithm; the lines are broken where a new sequence begins."""
    series: list[Series] = [Rule(0.5, ink="faint", dash="solid", width=0.6)]
    rows: list[MergeRow] = []
    named: set[str] = set()
    for report in sequences:
        first = len(rows)
        rows += report.merges
        if report.is_drift:
            series.insert(0, _grey(report, first))
        if len(report.merges) == 1:
            continue  # It has no others to be compared with.
        thirds = [part for part in np.array_split(np.arange(len(report.times)), 3) if len(part)]
        rates = np.array([row.by_time for row in report.merges], dtype=float)
        for name, part in zip(PARTS[-len(thirds) :], thirds, strict=True):
            line = Line(
                x=np.arange(first, len(rows)) + 1.0,
                y=np.nanmean(rates[:, part], axis=1),
                algorithm=name,
                marker="own",
                is_named=name not in named,
            )
            named.add(name)
            series.append(line)
    shown = spread(len(rows), MOST_TICKS)
    ticks = tuple(Tick(index + 1.0, rows[index].merge) for index in shown.tolist())
    return Panel(
        x=Axis("merge", low=0.5, high=len(rows) + 0.5, has_grid=False, ticks=ticks),
        y=Axis("win rate against\nthe other merges", low=0, high=1, has_grid=False),
        series=tuple(series),
        titles=(Title(title),),
        aspect=0.25,
    )


def _grey(report: SequenceReport, first: int) -> Boxes:
    """Boxes around the merges of the clearest comparison."""
    sides = _ranges(len(report.merges), clearest(report.comparisons))
    return Boxes(
        left=[first + start + 0.5 for start, _ in sides],
        right=[first + stop + 0.5 for _, stop in sides],
        low=[0, 0],
        high=[1, 1],
        ink="rest",
    )
