"""The classical view of a store: ECDF, AOCC and EAF, and its disagreements with the posterior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from polarbear.classical import (
    ALL_ALGORITHMS,
    Comparison,
    ViewOptions,
    checked_names,
    checked_pair,
)
from polarbear.classical.comparison_facts import AoccRow, Areas, Compared, compared, pair_facts
from polarbear.classical.ert import ErtPoint
from polarbear.report.context import ReportContext, gather
from polarbear.report.drawing.files import check_free, chosen, write_figures
from polarbear.report.drawing.style import FORMATS, Style
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk

__all__ = ["AoccRow", "Areas", "Compared", "ErtPoint", "compare"]
FIGURES = ("ecdf", "aocc", "eaf", "eaf-difference")


def compare(
    disk: StoreOnDisk,
    pair: Sequence[str] | None,
    algorithms: Sequence[str] | None,
    options: Mapping[str, Any],
    folders: Mapping[str, Path],
    style: Style,
    force: bool,
) -> Compared:
    """Compare algorithms classically; ``folders`` by file ending get the figures and their data."""
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
        # The time of these figures is per dimension; that of the posterior is not.
        per = material.classical
        material = replace(material, times=per.grid, axis=per.axis, basis=None)
    paired = None
    if asked.pair is not None:
        paired = pair_facts(material.classical_pair(*asked.pair), *asked.pair)
    result = compared(disk, material.classical, paired, material.basis)
    written = tuple(str(path) for path in _write(material, folders, style, force))
    return replace(result, written=written)


def _write(
    material: ReportContext, folders: Mapping[str, Path], style: Style, force: bool
) -> list[Path]:
    """Write the figures that this store has, and their data; an existing file is an error."""
    names = [figure.name for figure in chosen(FIGURES) if figure.missing(material) is None]
    if not force:
        for ending, folder in folders.items():
            check_free(folder / f"{name}.{ending}" for name in names)
    written = []
    for ending, folder in folders.items():
        formats = [known for known in FORMATS if known == ending]
        written += write_figures(material, folder, formats, names, style, ending == "csv", force)
    return written
