"""A race in tables for booktabs: the Pareto set, who was put out, what to choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from polarbear.racing.recommendation import leaders
from polarbear.report.best_by_time import p_best
from polarbear.report.figures.base import lacks_draws, moment_of_draws
from polarbear.report.figures.values import data as values
from polarbear.report.latex.escaping import escaped
from polarbear.report.material import Material
from polarbear.report.prose.words import span
from polarbear.report.sampled import instances_at
from polarbear.wording import (
    P_BEST,
    SHARE_OF_FIRSTS,
    decisive,
    joined,
    percent_cell,
    probability,
    time,
    whole,
)


@dataclass(frozen=True)
class TexTable:
    """A table with its caption; a column whose title ends in '#' holds numbers."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def tex(self) -> str:
        """A table environment, to be read by \\input in a document that loads booktabs."""
        kinds = "".join("r" if title.endswith("#") else "l" for title in self.columns)
        titles = [title.removesuffix("#") for title in self.columns]
        lines = [_row(row) for row in self.rows]
        return "\n".join(
            [
                "\\begin{table}",
                "  \\centering",
                f"  \\caption{{{escaped(self.caption)}}}",
                f"  \\label{{tab:{self.name}}}",
                f"  \\begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
                "    \\toprule",
                f"    {_row(titles)}",
                "    \\midrule",
                *(f"    {line}" for line in lines),
                "    \\bottomrule",
                "  \\end{tabular}",
                "\\end{table}",
                "",
            ]
        )


def _row(cells: Sequence[str]) -> str:
    return " & ".join(escaped(cell) if cell else "" for cell in cells) + r" \\"


def tables(material: Material) -> list[TexTable]:
    """Those that a store has something for."""
    made = []
    if lacks_draws(material) is None:
        made.append(_pareto(material))
    if material.race is not None and material.race.eliminated:
        made.append(_eliminations(material))
    if lacks_draws(material) is None:
        made.append(_selection(material))
    return made


def _pareto(material: Material) -> TexTable:
    names, likely = p_best(material)
    stretches = leaders(names, material.times, likely)
    seen = instances_at(material)
    first, last = float(material.times[0]), float(material.times[-1])
    rows = []
    for name, chance in zip(names, likely.T, strict=True):
        mine = [one for one in stretches if one.algorithms == (name,)]
        when = [span(one.start, one.stop, first, last, material.axis) for one in mine]
        peak = int(chance.argmax())
        counts = [] if seen is None else [whole(int(seen[name].max()))]
        rows.append(
            (
                name,
                joined(when) or "never",
                probability(float(chance[peak])),
                time(float(material.times[peak])),
                *counts,
            )
        )
    what = "anytime Pareto set" if material.race is not None else "candidates"
    return TexTable(
        "pareto",
        f"The {what} ({moment_of_draws(material)}): when each is the likeliest to have the highest "
        f"{SHARE_OF_FIRSTS}, and where {P_BEST}, how sure that is, is highest.",
        ("algorithm", "likeliest to be best", f"{P_BEST}#", f"at {material.axis}#")
        + (() if seen is None else ("instances#",)),
        tuple(rows),
    )


def _eliminations(material: Material) -> TexTable:
    race = material.race
    assert race is not None
    when = "at every time" if race.joint else "at each time, at the least"
    return TexTable(
        "eliminations",
        f"Who was put out by whom, and how probable it then was that the other is better {when}.",
        ("algorithm", "by", "round#", "instances#", "probability#"),
        tuple(
            (
                gone.algorithm,
                gone.by,
                str(gone.round),
                str(gone.instances),
                decisive(gone.probability),
            )
            for gone in race.eliminated
        ),
    )


def _selection(material: Material) -> TexTable:
    facts = values(material).unique(["title", "algorithm"], keep="first", maintain_order=True)
    rows = []
    for (title,), own in facts.group_by("title", maintain_order=True):
        best = own.sort(pl.col("p_best"), descending=True).row(0, named=True)
        rows.append(
            (
                str(title),
                best["algorithm"],
                probability(best["p_best"]),
                percent_cell(best["mean"]),
                f"{percent_cell(best['low'])} to {percent_cell(best['high'])}",
            )
        )
    return TexTable(
        "selection",
        f"What to choose under several preferences over time ({moment_of_draws(material)}): who is "
        f"the likeliest to have the highest value, a mean {SHARE_OF_FIRSTS} or, at its worst "
        f"time, the lowest; {P_BEST}, how sure that is; and the value with its central 95 % "
        "interval.",
        ("budget", "choice", f"{P_BEST}#", "value#", "95 % interval#"),
        tuple(rows),
    )
