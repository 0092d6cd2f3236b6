"""The report that compares several stores: a page, figures, text or Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from polarbear.api.reporting import folders_of, style_of
from polarbear.errors import ReportError
from polarbear.plain import html_table
from polarbear.report.context import gather
from polarbear.report.current_draws import still_in
from polarbear.report.drawing.files import check_free
from polarbear.report.drawing.style import Style
from polarbear.report.page.static_page import write_page_of_stores
from polarbear.report.prose.rendering import as_markdown, as_text
from polarbear.report.stores.comparison_figures import write_figures_of_stores
from polarbear.report.stores.comparison_story import StoryOfStores, tell_of_stores
from polarbear.report.stores.differences import Compared, compared
from polarbear.report.stores.head_to_head import Change, changes
from polarbear.report.stores.sides import different_settings, sides_of
from polarbear.store import Store as StoreOnDisk


@dataclass(frozen=True, repr=False)
class ReportOfStores:
    """The comparison of several stores with the first, and the files that were written."""

    compared: Compared
    changes: tuple[Change, ...]
    story: StoryOfStores
    written: tuple[Path, ...]

    @property
    def answer(self) -> tuple[str, ...]:
        """The differences, and the evidence for them."""
        return self.story.answer

    @property
    def warnings(self) -> tuple[str, ...]:
        """Limits of the evidence."""
        return self.story.warnings

    def text(self) -> str:
        """The report as plain text."""
        return as_text(self.story.outline())

    def markdown(self) -> str:
        """The report as Markdown, for a pull request."""
        return as_markdown(self.story.outline())

    def to_dict(self) -> dict[str, Any]:
        """The facts that `polarbear report A B --json` prints."""
        found = self.compared
        settings = different_settings(found.sides, found.algorithms)
        return {
            "stores": [
                {
                    "name": side.name,
                    "path": str(side.context.store.path),
                    "instances": side.basis.instances,
                    "model": side.basis.posterior.model,
                    "in": list(still_in(side.context)),
                    "times": side.basis.times[places].tolist(),
                }
                for side, places in zip(found.sides, found.moments.places, strict=True)
            ],
            "algorithms": list(found.algorithms),
            "axis": found.moments.label,
            "at": found.moments.at.tolist(),
            "answer": list(self.answer),
            "changes": [asdict(change) for change in self.changes],
            "differences": found.differences.to_dicts(),
            "levels": found.levels.to_dicts(),
            "settings": [{"setting": key, "values": list(values)} for key, values in settings],
            "warnings": list(self.warnings),
            "written": [str(path) for path in self.written],
        }

    def __repr__(self) -> str:
        files = f"; written: {', '.join(map(str, self.written))}" if self.written else ""
        return f"<Report: {self.answer[0]}{files}>"

    def _repr_html_(self) -> str:
        rows = [
            [
                row["store"],
                row["algorithm"],
                *(f"{row[k]:+.3f}" for k in ("difference", "low", "high")),
            ]
            for row in self.compared.over_time(pairs=False).iter_rows(named=True)
        ]
        columns = ["store", "algorithm", "difference", "low", "high"]
        return html_table(self.answer[0], columns, rows, [*self.answer[1:], *self.warnings])


def compare_stores(
    *stores: str | Path,
    html: str | Path | None = None,
    png: str | Path | None = None,
    pdf: str | Path | None = None,
    svg: str | Path | None = None,
    csv: str | Path | None = None,
    only: Sequence[str] | None = None,
    align: str = "auto",
    model: str | None = None,
    theme: str = "light",
    width: str | float = "double",
    font_size: float = 8.0,
    time_axis: str = "grid",
    font: str = "sans",
    force: bool = False,
) -> ReportOfStores:
    """Compare stores with the first of them, with 95 % intervals.

    They are compared at the same times or, by ``align="share"`` and where their axes differ, at the
    same shares of their budgets. ``html`` is a page; figures go into the folders ``png``, ``pdf``
    and ``svg``, their data into ``csv``. Existing files are overwritten only with ``force``.
    """
    if len(stores) < 2:
        raise ReportError(
            "a comparison needs two stores or more; `polarbear.open(store).report()` reports on one"
        )
    folders = folders_of(png=png, pdf=pdf, svg=svg, csv=csv)
    if only and not folders:
        raise ReportError("--only selects figures: name a folder with --png, --pdf, --svg or --csv")
    opened = [StoreOnDisk.open(Path(store)) for store in stores]
    sides = sides_of([gather(disk, model=model) for disk in opened])
    found = compared(sides, align)
    changed = tuple(changes(sides, found.algorithms, found.moments))
    story = tell_of_stores(found, changed)
    style = style_of(theme, width, font_size, time_axis, font)
    path = None if html is None else Path(html)
    written = _write(found, story, path, folders, only, style, force)
    return ReportOfStores(found, changed, story, tuple(written))


def page_of(stores: Sequence[str | Path]) -> Path:
    """The default file of the page that compares several stores."""
    paths = [Path(store).resolve() for store in stores]
    return paths[0].with_name(f"{'-and-'.join(path.name for path in paths)}.html")


def _write(
    found: Compared,
    story: StoryOfStores,
    html: Path | None,
    folders: Mapping[str, Path],
    only: Sequence[str] | None,
    style: Style,
    force: bool,
) -> list[Path]:
    if html is not None and not force:
        check_free([html])
    written = write_figures_of_stores(found, folders, only, style, force)
    if html is not None:
        write_page_of_stores(found, story, html, force)
        written.append(html)
    return written
