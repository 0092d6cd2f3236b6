"""The report of a store as a page, figures, text or Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from polarbear.errors import ReportError
from polarbear.plain import html_table
from polarbear.report.context import ReportContext, gather
from polarbear.report.drawing.files import check_free, write_figures
from polarbear.report.drawing.style import FORMATS, Style
from polarbear.report.figures import FIGURES
from polarbear.report.page import write_page
from polarbear.report.prose.outline import outline
from polarbear.report.prose.rendering import as_markdown, as_text
from polarbear.report.story import Story, tell
from polarbear.settings.options import Source, unknown, validate
from polarbear.store import Store as StoreOnDisk

TIME_AXES = {"log": True, "linear": False, "grid": None}


@dataclass(frozen=True, repr=False)
class Report:
    """The report in words, and the files that were written."""

    material: ReportContext
    story: Story
    written: tuple[Path, ...]

    @property
    def answer(self) -> tuple[str, ...]:
        """The recommendation, and the evidence for it: a sentence or two each."""
        return self.story.answer

    @property
    def warnings(self) -> tuple[str, ...]:
        """Limits of the evidence."""
        return self.story.warnings

    def text(self) -> str:
        """The report as plain text."""
        return as_text(outline(self.material, self.story))

    def markdown(self) -> str:
        """The report as Markdown, for a pull request."""
        return as_markdown(outline(self.material, self.story))

    def to_dict(self) -> dict[str, Any]:
        """The facts that `polarbear report --json` prints."""
        members, out = (
            [{"algorithm": entry.algorithm, "reason": entry.reason} for entry in entries]
            for entries in (self.story.members, self.story.out)
        )
        decisions = [
            {"round": d.round, "instances": d.instances, "kind": d.kind, "words": d.words}
            for d in self.story.decisions
        ]
        return {
            "store": str(self.material.store.path),
            "written": [str(path) for path in self.written],
            "answer": list(self.answer),
            "pareto_set": [entry.algorithm for entry in self.story.members],
            "members": members,
            "out": out,
            "decisions": decisions,
            "settings": [list(pair) for pair in self.story.settings],
            "warnings": list(self.warnings),
            "figures": {name: figure.missing(self.material) for name, figure in FIGURES.items()},
        }

    def __repr__(self) -> str:
        files = f"; written: {', '.join(map(str, self.written))}" if self.written else ""
        return f"<Report: {self.answer[0]}{files}>"

    def _repr_html_(self) -> str:
        rows = [[entry.algorithm, entry.reason] for entry in (*self.story.members, *self.story.out)]
        notes = [f"note: {warning}" for warning in self.warnings]
        return html_table(self.answer[0], ["algorithm", "why"], rows, [*self.answer[1:], *notes])


def report(
    disk: StoreOnDisk,
    html: Path | None,
    folders: Mapping[str, Path],
    only: Sequence[str] | None,
    upto: int | None,
    model: str | None,
    style: Style,
    force: bool,
    slim: bool,
    latex: Path | None = None,
    at: float | None = None,
) -> Report:
    """Write the page, and into ``folders`` by file ending the figures and their data.

    ``latex`` is the folder for LaTeX tables and figures. The figure of one budget shows ``at``.
    """
    if slim and html is None:
        raise ReportError("--slim needs a page: name its file with --html")
    material = replace(gather(disk, upto, model), at=at)
    if only and not folders:
        raise ReportError("--only selects figures: name a folder with --png, --pdf, --svg or --csv")
    if at is not None and latex is None and not folders:
        raise ReportError(
            "--at is the budget of the figure one-budget: name a folder with --png, --pdf, --svg, "
            "--csv or --latex"
        )
    written = _write(material, html, folders, only, style, force, slim)
    if latex is not None:
        from polarbear.report.latex.kit import write_kit

        written += write_kit(material, latex, style, force)
    return Report(material, tell(material), tuple(written))


def folders_of(**named: str | Path | None) -> dict[str, Path]:
    """The given folders, by the ending of their files."""
    return {ending: Path(folder) for ending, folder in named.items() if folder is not None}


def style_of(
    theme: str,
    width: str | float,
    font_size: float = 8.0,
    time_axis: str = "grid",
    font: str = "sans",
    source: str = "figures",
) -> Style:
    """The style of figures."""
    if time_axis not in TIME_AXES:
        raise ReportError(unknown("time axis", time_axis, TIME_AXES))
    log_time = TIME_AXES[time_axis]
    options = {"theme": theme, "width": width, "font_size": font_size, "log_time": log_time}
    options["font"] = font
    return validate(Style, options, Source(source))


def _write(
    material: ReportContext,
    html: Path | None,
    folders: Mapping[str, Path],
    only: Sequence[str] | None,
    style: Style,
    force: bool,
    slim: bool,
) -> list[Path]:
    """Write the requested files."""
    if html is not None and not force:
        check_free([html])
    written = []
    for folder in dict.fromkeys(folders.values()):
        endings = [ending for ending, chosen in folders.items() if chosen == folder]
        formats = [known for known in FORMATS if known in endings]
        written += write_figures(material, folder, formats, only, style, "csv" in endings, force)
    if html is not None:
        write_page(material, html, force, slim)
        written.append(html)
    return written
