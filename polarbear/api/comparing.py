"""The classical view of a store: ECDF, AOCC and EAF, and where the posterior disagrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polarbear.api.showing import Shown, dressed, html_table
from polarbear.classical import (
    ALL_ALGORITHMS,
    Comparison,
    ViewOptions,
    checked_names,
    checked_pair,
)
from polarbear.classical.comparison_facts import Compared, compared, pair_facts
from polarbear.report.drawing.files import check_free, chosen, write_figures
from polarbear.report.drawing.style import FORMATS, Style
from polarbear.report.material import Material, gather
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk
from polarbear.wording import counted

FIGURES = ("ecdf", "aocc", "eaf", "eaf-difference")


@dataclass(frozen=True, repr=False)
class ClassicalView(Shown, Compared):
    """What the classical view says of a store, and the files that were written."""

    def _in_a_line(self) -> str:
        first = self.aocc[0]
        return (
            f"{first.algorithm} has the highest mean AOCC, {first.mean:.3f}, of "
            f"{counted(len(self.aocc), 'algorithm')} on {counted(self.instances, 'instance')}"
        )

    def _repr_html_(self) -> str:
        rows = [
            [row.algorithm, *(f"{value:.3f}" for value in (row.mean, row.median, row.first))]
            for row in self.aocc
        ]
        said = self.pair.words if self.pair is not None else ()
        seen = [f"the views disagree: {other.words}" for other in self.disagreements or ()]
        verdict = [self.verdict] if self.verdict else []
        notes = [f"note: {note}" for note in self.notes]
        columns = ["algorithm", "mean AOCC", "median", "first in resamples"]
        lines = [f"scale: {self.scale.words}", *said, *seen, *verdict, *notes]
        return html_table(self._in_a_line(), columns, rows, lines)


def compare(
    disk: StoreOnDisk,
    pair: Sequence[str] | None,
    algorithms: Sequence[str] | None,
    options: Mapping[str, Any],
    folders: Mapping[str, Path],
    style: Style,
    force: bool,
) -> ClassicalView:
    """Look at a store classically; figures and their data go into folders named by endings."""
    named = list(algorithms or ())
    everyone = named == [ALL_ALGORITHMS] and ALL_ALGORITHMS not in disk.config["algorithms"]
    asked = Comparison(
        None if algorithms is None or everyone else checked_names(algorithms),
        None if pair is None else checked_pair(pair),
        everyone,
        validate(ViewOptions, options, Source("compare")),
    )
    material = replace(gather(disk), comparison=asked)
    if asked.options.per_dimension:
        # Figures of this view count time as it does; the posterior counts evaluations.
        per = material.classical
        material = replace(material, times=per.grid, axis=per.axis, basis=None)
    paired = None
    if asked.pair is not None:
        paired = pair_facts(material.classical_pair(*asked.pair), *asked.pair)
    told = compared(disk, material.classical, paired, material.basis)
    written = tuple(str(path) for path in _write(material, folders, style, force))
    return dressed(ClassicalView, replace(told, written=written))


def _write(
    material: Material, folders: Mapping[str, Path], style: Style, force: bool
) -> list[Path]:
    """The figures and their data, those that this store has; nothing if one is there already."""
    names = [figure.name for figure in chosen(FIGURES) if figure.missing(material) is None]
    if not force:
        for ending, folder in folders.items():
            check_free(folder / f"{name}.{ending}" for name in names)
    written = []
    for ending, folder in folders.items():
        formats = [known for known in FORMATS if known == ending]
        written += write_figures(material, folder, formats, names, style, ending == "csv", force)
    return written
