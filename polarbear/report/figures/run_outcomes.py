"""The runs of each algorithm: on how many instances, how far, at which cost, and failed ones."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import polars as pl

from polarbear.facts.summary import failures
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure, grid_axis
from polarbear.report.figures.chart import (
    Axis,
    Boxes,
    Cells,
    Chart,
    Panel,
    Row,
    Series,
    Tick,
    Title,
    edges,
    isolated,
    row_axis,
    row_edges,
)
from polarbear.report.figures.short_names import shortened
from polarbear.wording import counted, percent, percent_cell, timed, whole

MAX_LETTERS = 60  # a tooltip cuts longer messages of failures
LEAST_TEXT_WIDTH = 0.06  # a text needs this share of the grid's width


def data(context: ReportContext) -> pl.DataFrame:
    """For each round and algorithm: the number of new instances, and up to which time it ran.

    ``allotted`` is the budget that it got, ``everything`` the budget of running it to the end of
    the grid on all instances of the round. Runs without a race have no round.
    """
    rows = _rows_of_rounds(context) if context.rounds else _rows_without_race(context)
    schema = {
        "round": pl.Int64,
        "algorithm": pl.String,
        "instances": pl.Int64,
        "to": pl.Float64,
        "allotted": pl.Float64,
        "everything": pl.Float64,
    }
    return pl.DataFrame(rows, schema=schema)


def _rows_of_rounds(context: ReportContext) -> list[dict[str, object]]:
    end = (float(context.times[-1]),)
    rows: list[dict[str, object]] = []
    for entry in context.rounds:
        record = entry.record
        names = [record.newcomer] if record.newcomer else list(entry.state.algorithms)
        for name in names:
            last_time = float(record.ran_to.get(name, 0.0))
            instances = record.drawn if name in record.ran_to else 0
            row = {
                "round": entry.number,
                "algorithm": name,
                "instances": instances,
                "to": last_time,
                "allotted": instances * sum((record.ran_at or {}).get(name, (last_time,))),
                "everything": record.drawn * sum(entry.state.contracts.get(name, end)),
            }
            rows.append(row)
    return rows


def _rows_without_race(context: ReportContext) -> list[dict[str, object]]:
    end = float(context.times[-1])
    rank = {name: number for number, name in enumerate(context.algorithms)}
    counts = context.store.runs().group_by("algorithm", "budget").len()
    contracts = context.store.settings.contracts
    counts = counts.filter(~pl.col("algorithm").is_in(list(contracts)))
    rows = [_row_of_contract(context, name) for name in context.algorithms if name in contracts]
    for name, budget, n_runs in sorted(counts.iter_rows(), key=lambda row: (rank[row[0]], row[1])):
        row = {
            "round": None,
            "algorithm": name,
            "instances": n_runs,
            "to": budget,
            "allotted": n_runs * budget,
            "everything": n_runs * end,
        }
        rows.append(row)
    return rows


def _row_of_contract(context: ReportContext, name: str) -> dict[str, object]:
    """What the runs of a contract algorithm were given, without a race."""
    runs = context.store.runs().filter(pl.col("algorithm") == name)
    contract_times = context.store.settings.contracts[name]
    n_instances = runs["instance"].n_unique()
    return {
        "round": None,
        "algorithm": name,
        "instances": n_instances,
        "to": float(context.times[-1]),
        "allotted": float(runs["budget"].sum()),
        "everything": n_instances * float(contract_times.sum()),
    }


def instances_reached(data: pl.DataFrame, name: str, times: np.ndarray) -> np.ndarray:
    """The number of instances on which this algorithm ran at least up to each time."""
    rows = data.filter(pl.col("algorithm") == name)
    has_reached = rows["to"].to_numpy()[:, None] >= times
    counts = rows["instances"].to_numpy()[:, None] * has_reached
    return np.asarray(counts.sum(axis=0))


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """How far each algorithm ran on how many instances, and below it the budget of each round."""
    algorithms = set(data["algorithm"])
    names = [name for name in context.algorithms if name in algorithms]
    panels = [_instances_panel(data, names, context)]
    if data["round"].null_count() == 0:
        panels.append(_budgets_panel(data, names, context))
    return Chart(tuple(panels), context.labels, legend="below" if len(panels) > 1 else "")


def _instances_panel(data: pl.DataFrame, names: list[str], context: ReportContext) -> Panel:
    """The paper's figure: the shade is the number of instances on which each ran that far."""
    counts = np.array([instances_reached(data, name, context.times) for name in names])
    hover = []
    for name, counts_of_name in zip(names, counts.tolist(), strict=True):
        label = isolated(context.labels[name])
        texts = [
            f"{label} ran to {timed(float(t), context.axis)}\non {counted(count, 'instance')}"
            for t, count in zip(context.times, counts_of_name, strict=True)
        ]
        hover.append(texts)
    cells = Cells(
        columns=edges(context.times, context.log_times),
        rows=row_edges(len(names)),
        values=counts.astype(float),
        most=float(max(1, counts.max())),
        texts=[_texts_of_counts(counts_of_name) for counts_of_name in counts.tolist()],
        gaps="rows",
        hover=hover,
    )
    rows = [Row((name,), is_bracketed=name not in context.remaining) for name in names]
    return Panel(x=grid_axis(context), y=row_axis(rows), series=(cells,), lines=1.6 * len(names))


def _texts_of_counts(counts: list[int]) -> list[str]:
    """Each count in the middle of its times, where there is room for it."""
    texts = [""] * len(counts)
    start = 0
    for count, equal_counts in groupby(counts):
        length = len(list(equal_counts))
        if length >= LEAST_TEXT_WIDTH * len(counts):
            texts[start + (length - 1) // 2] = str(count)
        start += length
    return texts


def _budgets_panel(data: pl.DataFrame, names: list[str], context: ReportContext) -> Panel:
    """A bar a round, its width the number of instances, filled with the share of budget used.

    Areas are budgets: the empty part was saved.
    """
    end = float(context.times[-1])
    rounds = data.group_by("round", maintain_order=True).agg(pl.col("everything").sum(), pl.len())
    budgets = rounds["everything"].to_numpy()
    # A newcomer that catches up is one of many that ran on these instances.
    widths = budgets / (end * max(rounds["len"].to_list()))
    right = np.cumsum(widths)
    left = right - widths
    numbers = rounds["round"].to_list()
    series: list[Series] = []
    filled = np.zeros(len(numbers))
    for name in names:
        allotted = _allotted(data, name, numbers)
        shares = allotted / budgets
        label = isolated(context.labels[name])
        boxes = Boxes(
            left=left,
            right=right,
            low=filled,
            high=filled + shares,
            algorithm=name,
            has_edges=True,
            is_named=True,
            hover=[
                f"{label}, round {number}\n{timed(amount, context.axis)}, "
                f"{percent(share)} of the round's"
                for number, amount, share in zip(
                    numbers, allotted.tolist(), shares.tolist(), strict=True
                )
            ],
        )
        series.append(boxes)
        filled = filled + shares
    none = np.zeros(len(numbers))
    frames = Boxes(left=left, right=right, low=none, high=none + 1, ink="faint", is_filled=False)
    saved = 1 - float(data["allotted"].sum()) / float(budgets.sum())
    return Panel(
        x=Axis(
            "instances, round after round",
            low=0,
            high=float(widths.sum()),
            has_whole_ticks=True,
            has_grid=False,
        ),
        y=Axis(
            "budget used",
            low=0,
            high=1.02,
            has_grid=False,
            ticks=(Tick(0, "0"), Tick(0.5, "50 %"), Tick(1, "100 %")),
        ),
        series=(*series, frames),
        titles=(Title(f"{percent_cell(saved)} saved", side="right", is_small=True),),
        lines=9,
    )


def _allotted(data: pl.DataFrame, name: str, numbers: list[int]) -> np.ndarray:
    """The budget that an algorithm got in each round."""
    amounts = dict.fromkeys(numbers, 0.0)
    own_rows = data.filter(pl.col("algorithm") == name)
    for number, amount in own_rows.select("round", "allotted").iter_rows():
        amounts[number] += amount
    return np.array(list(amounts.values()))


def missing(context: ReportContext) -> str | None:
    """Why there are no runs to draw."""
    if context.rounds or not context.store.runs().is_empty():
        return None
    return "the store has no runs, only rankings that were imported"


def caption(context: ReportContext) -> str:
    if not context.rounds:
        return "The number of instances on which each algorithm ran at least that far."
    last = context.rounds[-1]
    saved = context.race.saved if context.race else 0.0
    return (
        "Above: the number of instances on which each algorithm ran at least that far. Below: a "
        "bar per round, its width the number of instances, filled with the budget of each "
        "algorithm; the empty part was saved compared with running all of them to the end: "
        f"{percent(saved)} over {counted(last.state.instances, 'instance')}."
    )


ALLOCATION = Figure("allocation", "Where the budget went", caption, missing, data, chart)


MEANING = {
    "keeps": "A failed run keeps the best it had found, so it still counts.",
    "last": "From where it failed on, a run is last.",
    "absent": "From where it failed on, a run is left out of rankings.",
}


def failed_data(context: ReportContext) -> pl.DataFrame:
    """Failed runs of each algorithm by kind and message, and the number of its runs.

    They are those of the whole store, also where the report shows an earlier round.
    """
    runs = dict(context.store.runs().group_by("algorithm").len().iter_rows())
    rows = [
        {
            "algorithm": failure.algorithm,
            "kind": failure.status,
            "message": failure.message,
            "failed": failure.runs,
            "runs": runs[failure.algorithm],
            "example": failure.example,
        }
        for failure in failures(context.store)
    ]
    rows.sort(
        key=lambda row: (
            context.algorithms.index(row["algorithm"]),
            row["kind"],
            -row["failed"],
            row["message"],
        )
    )
    schema = {
        "algorithm": pl.String,
        "kind": pl.String,
        "message": pl.String,
        "failed": pl.Int64,
        "runs": pl.Int64,
        "example": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)


def failed_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A bar for each algorithm and kind of failure: the share of its runs."""
    kinds = data.group_by("algorithm", "kind", maintain_order=True).agg(
        pl.col("failed").sum(), pl.col("runs").first(), pl.col("message").first()
    )
    rows = []
    series: list[Series] = []
    for row_number, (name, kind, n_failed, n_runs, message) in enumerate(kinds.iter_rows()):
        example = shortened(message or "", MAX_LETTERS)
        words = f"{kind}: {whole(n_failed)} of {whole(n_runs)}"
        rows.append(Row((name,), number=words))
        bar = Boxes(
            left=(0.0,),
            right=(n_failed / n_runs,),
            low=(row_number - 0.35,),
            high=(row_number + 0.35,),
            algorithm=name,
            hover=(f"{isolated(context.labels[name])}\n{words}\n{isolated(example)}",),
        )
        series.append(bar)
    panel = Panel(
        x=Axis("share of runs that failed", low=0, high=1),
        y=row_axis(rows),
        series=tuple(series),
        lines=1.6 * len(rows),
    )
    return Chart((panel,), context.labels)


def lacks_failed(context: ReportContext) -> str | None:
    """Why there are no failed runs to draw."""
    return None if failures(context.store) else "no run has failed"


def failed_caption(context: ReportContext) -> str:
    meaning = MEANING[context.store.settings.failures.ranks]
    return f"Runs that failed, by algorithm and by how. {meaning}"


FAILURES = Figure(
    "failures", "Failed runs", failed_caption, lacks_failed, failed_data, failed_chart
)
