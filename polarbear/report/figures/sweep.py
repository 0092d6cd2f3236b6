"""A sweep drawn: how likely each algorithm is the best, and which one is chosen where.

It shows one selection, with the preference and the risk that were asked for, and is drawn where
that is made (`polarbear select --sweep --png`); figures in the registry show a store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from polarbear.errors import SelectionError
from polarbear.report.drawing.palette import look
from polarbear.select.sweeps import Sweep
from polarbear.wording import P_BEST


def draw_sweep(
    sweep: Sweep, names: Sequence[str], labels: Mapping[str, str], title: str, path: Path
) -> None:
    """Write the figure; the ending of the file's name says in which format.

    ``labels`` are those of all algorithms of the store, in the order of their looks.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    places = list(labels)
    looks = [look(places.index(name)) for name in names]
    figure = Figure(figsize=(8, 4.5), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes, band = figure.subplots(2, 1, sharex=True, height_ratios=[12, 1])
    positions = sweep.variations.positions
    for item, name in enumerate(names):
        axes.plot(
            positions,
            sweep.p2bb[:, item],
            color=looks[item].colour,
            linestyle=looks[item].dash,
            label=labels[name],
        )
    intervals = sweep.intervals()
    ends = [(one.stop + other.start) / 2 for one, other in pairwise(intervals)]
    starts, stops = [positions[0], *ends], [*ends, positions[-1]]
    for one, start, stop in zip(intervals, starts, stops, strict=True):
        band.axvspan(start, stop, facecolor=looks[one.choice].colour, linewidth=0)
    axes.set_title(title, fontsize=10)
    axes.set_ylabel(P_BEST)
    axes.set_ylim(0, 1)
    for text in axes.legend(fontsize=8, loc="best", frameon=False).get_texts():
        text.set_parse_math(False)  # names are names, not formulas
    band.set_yticks([])
    band.set_ylabel("choice", rotation=0, ha="right", va="center", fontsize=8)
    band.set_xlabel(sweep.variations.name, parse_math=False)
    if sweep.variations.log and positions[0] > 0:
        band.set_xscale("log")
    band.set_xlim(positions[0], positions[-1])
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SelectionError(f"cannot write the figure {path}: {reason}") from None
