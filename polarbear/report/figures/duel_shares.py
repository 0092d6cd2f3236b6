"""Duels of fronts over time: the shares of wins, losses, draws and incomparable fronts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

from polarbear.rankings.front_duels import DRAW, INCOMPARABLE, LOSS, NOT_MET, WIN
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure, grid_axis
from polarbear.report.figures.chart import Area, Axis, Chart, Panel, Title, edges

MAX_PAIRS = 6
RESULTS = {"wins": WIN, "draws": DRAW, "incomparable": INCOMPARABLE, "losses": LOSS}


def lacks_fronts(context: ReportContext) -> str | None:
    """Why there are no duels of fronts to draw."""
    if context.store.n_objectives == 1:
        return "the problems have one objective, so no two runs are incomparable"
    if len(context.algorithms) < 2:
        return "a duel needs two algorithms, and there is one"
    return None


def data(context: ReportContext) -> pl.DataFrame:
    """For each pair at each time the number of duels, and of each result as seen from a."""
    names = context.algorithms
    grid = context.store.on_grid(context.times, names)
    results = grid.duel_results(context.store.settings.duels)
    assert results is not None
    order = {pair: k for k, pair in enumerate(combinations(names, 2))}
    rows = []
    for a, b in pairs(context):
        of_pair = results[:, order[a, b]]
        for k, t in enumerate(context.times.tolist()):
            row = {"a": a, "b": b, "t": t, "duels": int((of_pair[:, k] != NOT_MET).sum())}
            counts = {name: int((of_pair[:, k] == code).sum()) for name, code in RESULTS.items()}
            rows.append({**row, **counts})
    return pl.DataFrame(rows).filter(pl.col("duels") > 0)


def pairs(context: ReportContext) -> list[tuple[str, str]]:
    """The requested pair; otherwise pairs of candidates, then all others."""
    names = context.algorithms
    if context.comparison.pair is not None:
        a, b = sorted(context.comparison.pair, key=names.index)
        return [(a, b)]
    candidates = {*context.remaining}
    return sorted(combinations(names, 2), key=lambda pair: len({*pair} - candidates))


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A panel for each pair, with areas for the results one on top of the other."""
    panels = []
    all_pairs = data.select("a", "b").unique(maintain_order=True).rows()
    for a, b in all_pairs[:MAX_PAIRS]:
        rows = data.filter((pl.col("a") == a) & (pl.col("b") == b)).sort("t")
        borders = edges(rows["t"].to_numpy(), context.log_times)
        # Each time has a step of its own.
        x = np.repeat(borders, 2)[1:-1]
        duels = rows["duels"].to_numpy()
        areas = []
        below = np.zeros(len(duels))
        looks = {
            "wins": (a, 0.8),
            "draws": ("", 0.35),
            "incomparable": ("", 0.12),
            "losses": (b, 0.8),
        }
        for name, (algorithm, opacity) in looks.items():
            above = below + rows[name].to_numpy() / duels
            area = Area(
                x=x,
                low=np.repeat(below, 2),
                high=np.repeat(above, 2),
                algorithm=algorithm,
                opacity=opacity,
            )
            areas.append(area)
            below = above
        panel = Panel(
            x=grid_axis(context),
            y=Axis("share of duels", low=0.0, high=1.0),
            series=tuple(areas),
            titles=(Title(a, a, "left"), Title(b, b, "right")),
            aspect=0.6,
            algorithms=(a, b),
        )
        panels.append(panel)
    notes = [
        "from below: won by the left one, drawn (dark), incomparable (light), won by the right one"
    ]
    if len(all_pairs) > MAX_PAIRS:
        notes.append(f"{MAX_PAIRS} of {len(all_pairs)} pairs, candidates' first")
    return Chart(
        tuple(panels),
        context.labels,
        columns=2 if len(panels) in (2, 4) else 3,
        narrow_columns=2,
        shares_axes=True,
        notes=tuple(notes),
    )


def caption(context: ReportContext) -> str:
    return (
        f"Duels of fronts by {context.store.settings.duels.rule}, over time: the share that the "
        "left one of a pair has won, from below, then draws (dark grey), incomparable fronts "
        "(light grey), and those that the right one has won. Draws and incomparable fronts count "
        f"as half a win. At most {MAX_PAIRS} pairs are drawn, the data has all."
    )


DUEL_SHARES = Figure("duel-shares", "Duels of fronts over time", caption, lacks_fronts, data, chart)
