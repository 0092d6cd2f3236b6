"""Reports on one store or several, and the classical comparison of algorithms."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Unpack

from polarbear.api import posterior
from polarbear.api.keyword_options import ComparisonKeywords, FigureKeywords
from polarbear.api.report_text import as_text
from polarbear.classical.comparison_facts import (
    AoccRow,
    Areas,
    Compared,
    ErtPoint,
    compared,
    pair_facts,
)
from polarbear.classical.view_options import ALL_ALGORITHMS, Comparison, ViewOptions, checked_pair
from polarbear.errors import ReportError
from polarbear.records import Facts, Record, json_values
from polarbear.report import how_much
from polarbear.report.context import ReportContext, gather
from polarbear.report.figures import FIGURES
from polarbear.report.figures.base import Figure, Subject
from polarbear.report.figures.figure_files import available, check_free, write_figures, write_text
from polarbear.report.figures.style import Style
from polarbear.report.outline import Block, as_markdown, outline
from polarbear.report.page.build import page, page_of_stores, slim_page
from polarbear.report.stores import differences
from polarbear.report.stores.comparison_figures import chosen
from polarbear.report.stores.comparison_story import (
    StoryOfStores,
    different_settings,
    story_of_stores,
)
from polarbear.report.stores.differences import AlgorithmChange, changes
from polarbear.report.stores.sides import sides_of
from polarbear.report.story import Entry, Story, story_of
from polarbear.settings import defaults
from polarbear.settings.enumerations import Theme
from polarbear.settings.options import Source, validate
from polarbear.store import StoreOnDisk

__all__ = ["AoccRow", "Areas", "Compared", "ErtPoint", "Report", "compare_stores"]
CLASSICAL_FIGURES = ("ecdf", "aocc", "eaf", "eaf-difference")
FOLDERS = ("png", "pdf", "svg", "csv")


@dataclass(frozen=True, repr=False)
class Report(Record):
    """A report on one store or several: facts, words, and the files that were written.

    ``outline`` makes its headings, tables and charts; ``how_much`` says for each recommended span
    how much better its first algorithm is than the next one.
    """

    facts: Facts
    table: list[Facts]
    story: Story | StoryOfStores
    outline: Callable[[], list[Block]]
    written: tuple[Path, ...]
    how_much: tuple[str, ...] = ()

    @property
    def answer(self) -> tuple[str, ...]:
        """The main result, and the evidence for it: a sentence or two each."""
        return self.story.answer

    @property
    def warnings(self) -> tuple[str, ...]:
        """Limits of the evidence."""
        return self.story.warnings

    def text(self) -> str:
        """The report as plain text."""
        return as_text(self.outline())

    def markdown(self) -> str:
        """The report as Markdown, for a pull request."""
        return as_markdown(self.outline())

    def to_dict(self) -> Facts:
        return {
            **self.facts,
            "answer": list(self.answer),
            "warnings": list(self.warnings),
            "written": [str(path) for path in self.written],
        }

    def one_line(self) -> str:
        return self.answer[0]

    def remarks(self) -> list[str]:
        return [*self.answer[1:], *self.warnings]

    def rows(self) -> list[Facts]:
        return self.table


def _facts_of_store(context: ReportContext, story: Story) -> Facts:
    groups = {} if context.groups is None else {"groups": context.groups.summary()}
    return {
        "store": str(context.store.path),
        "pareto_set": [entry.algorithm for entry in story.members],
        "members": _names_and_reasons(story.members),
        "out": _names_and_reasons(story.left_out),
        "decisions": [
            {
                "round": decision.round,
                "instances": decision.instances,
                "kind": decision.kind,
                "words": decision.words,
            }
            for decision in story.decisions
        ],
        "settings": [list(pair) for pair in story.settings],
        "times_as_long": [
            {**json_values(comparison.factor), "win_rate": comparison.win_rate}
            for comparison in how_much.comparisons(context)
        ],
        "figures": {name: figure.missing(context) for name, figure in FIGURES.items()},
        **groups,
    }


def _names_and_reasons(entries: Sequence[Entry]) -> list[Facts]:
    return [{"algorithm": entry.algorithm, "reason": entry.reason} for entry in entries]


def _facts_of_stores(
    comparison: differences.StoreComparison, algorithm_changes: Sequence[AlgorithmChange]
) -> Facts:
    settings = different_settings(comparison.sides, comparison.algorithms)
    return {
        "stores": [
            {
                "name": side.name,
                "path": str(side.context.store.path),
                "instances": side.basis.instances,
                "model": side.basis.posterior.model,
                "in": list(side.context.remaining),
                "times": side.basis.times[indices].tolist(),
            }
            for side, indices in zip(comparison.sides, comparison.moments.places, strict=True)
        ],
        "algorithms": list(comparison.algorithms),
        "axis": comparison.moments.label,
        "at": comparison.moments.at.tolist(),
        "changes": [asdict(change) for change in algorithm_changes],
        "differences": comparison.differences.to_dicts(),
        "levels": comparison.levels.to_dicts(),
        "settings": [{"setting": key, "values": list(values)} for key, values in settings],
    }


def report(
    disk: StoreOnDisk,
    html: str | Path | None = None,
    *,
    only: Sequence[str] | None = None,
    round: int | None = None,
    model: str | None = None,
    latex: str | Path | None = None,
    at: float | None = None,
    by: str | None = None,
    slim: bool = False,
    force: bool = False,
    **figures: Unpack[FigureKeywords],
) -> Report:
    """Report on a store in words, and in the given files: see `Store.report`."""
    folders, style = _folders_and_style(only, figures)
    if slim and html is None:
        raise ReportError("--slim needs a page: name its file with --html")
    if at is not None and latex is None and not folders:
        raise ReportError(
            "--at is the budget of the figure one-budget: name a folder with --png, --pdf, --svg, "
            "--csv or --latex"
        )
    context = replace(gather(disk, round, model), at=at, by=by)
    drawn = available(context, only or None) if folders else []
    render = partial(slim_page if slim else page, context)
    written = _write(drawn, context, folders, style, force, html, render)
    if latex is not None:
        from polarbear.report.latex import write_kit  # few reports need it

        written += write_kit(context, Path(latex), style, force)
    story = story_of(context)
    facts = _facts_of_store(context, story)
    table = [*facts["members"], *facts["out"]]
    return Report(
        facts=facts,
        table=table,
        story=story,
        outline=partial(outline, context, story),
        written=tuple(written),
        how_much=tuple(
            comparison.words(context.axis)
            for comparison in how_much.comparisons(context)
            if comparison.is_recommended and comparison.factor.is_faster
        ),
    )


def compare(
    disk: StoreOnDisk,
    pair: Sequence[str] | None = None,
    *,
    algorithms: Sequence[str] | None = None,
    png: str | Path | None = None,
    csv: str | Path | None = None,
    theme: str = Theme.LIGHT,
    width: str | float = defaults.WIDTH,
    force: bool = False,
    **options: Unpack[ComparisonKeywords],
) -> Compared:
    """Compare algorithms classically, and with the posterior: see `Store.compare`."""
    names = tuple(dict.fromkeys(algorithms or ()))
    shows_all = names == (ALL_ALGORITHMS,) and ALL_ALGORITHMS not in disk.settings.algorithms
    comparison = Comparison(
        algorithms=None if algorithms is None or shows_all else names,
        pair=None if pair is None else checked_pair(pair),
        include_eliminated=shows_all,
        options=validate(ViewOptions, options, Source("compare")),
    )
    context = replace(gather(disk), comparison=comparison)
    if comparison.options.per_dimension:
        context = replace(context, basis=None)  # its time is not per dimension
    pair_of_view = None
    if comparison.pair is not None:
        view = context.classical_view(comparison.pair)
        pair_of_view = pair_facts(view, *comparison.pair)
    result = compared(disk, context.classical, pair_of_view, context.basis)
    figures = [FIGURES[name] for name in CLASSICAL_FIGURES if not FIGURES[name].missing(context)]
    style = validate(Style, {"theme": theme, "width": width}, Source("compare"))
    folders = {
        ending: Path(folder)
        for ending, folder in (("png", png), ("csv", csv))
        if folder is not None
    }
    written = write_figures(figures, context, folders, style, force)
    return replace(result, written=tuple(map(str, written)))


def compare_stores(
    *stores: str | Path,
    html: str | Path | None = None,
    only: Sequence[str] | None = None,
    align: str = "auto",
    model: str | None = None,
    force: bool = False,
    **figures: Unpack[FigureKeywords],
) -> Report:
    """Compare ``stores`` with the first of them, with 95 % intervals.

    They are compared at the same times or, if ``align`` is "share" and where their axes differ, at
    the same shares of their budgets. ``html`` is a page; ``only``, ``model``, ``force`` and
    ``figures`` (folders and style) are those of `Store.report`.

    >>> more = pb.run(config, "more", instances=24)
    >>> pb.compare_stores("results", "more").to_dict()["algorithms"]
    ['powell', 'random']
    """
    if len(stores) < 2:
        raise ReportError(
            "a comparison needs two stores or more; `polarbear.open(store).report()` reports on one"
        )
    folders, style = _folders_and_style(only, figures)
    opened = [StoreOnDisk.open(Path(store)) for store in stores]
    for disk in opened:
        if not disk.posteriors.stored() and not disk.rounds.numbers():
            posterior.infer(disk, model)
    sides = sides_of([gather(disk, model=model) for disk in opened])
    comparison = differences.compared(sides, align)
    algorithm_changes = tuple(changes(sides, comparison.algorithms, comparison.moments))
    story = story_of_stores(comparison, algorithm_changes)
    figures_of_stores = chosen(comparison, only or None)
    render = partial(page_of_stores, comparison, story)
    written = _write(figures_of_stores, comparison, folders, style, force, html, render)
    columns = ["store", "algorithm", "difference", "low", "high"]
    return Report(
        facts=_facts_of_stores(comparison, algorithm_changes),
        table=comparison.over_time(pairs=False).select(columns).to_dicts(),
        story=story,
        outline=story.outline,
        written=tuple(written),
    )


def page_of(stores: Sequence[str | Path]) -> Path:
    """The default file of the page that compares several stores."""
    paths = [Path(store).resolve() for store in stores]
    return paths[0].with_name(f"{'-and-'.join(path.name for path in paths)}.html")


def _folders_and_style(
    only: Sequence[str] | None, figures: FigureKeywords
) -> tuple[dict[str, Path], Style]:
    """The folders of figures by the ending of their files, and the style of figures."""
    folders = {
        name: Path(str(folder))
        for name, folder in figures.items()
        if name in FOLDERS and folder is not None
    }
    if only and not folders:
        raise ReportError("--only selects figures: name a folder with --png, --pdf, --svg or --csv")
    style = {name: value for name, value in figures.items() if name not in FOLDERS}
    return folders, validate(Style, style, Source("figures"))


def _write(
    figures: Iterable[Figure[Subject]],
    subject: Subject,
    folders: Mapping[str, Path],
    style: Style,
    force: bool,
    html: str | Path | None,
    render: Callable[[], str],
) -> list[Path]:
    """Write the figures and the page, or nothing if one of the files exists."""
    pages = [] if html is None else [Path(html)]
    if not force:
        check_free(pages)
    written = write_figures(figures, subject, folders, style, force)
    for path in pages:
        write_text(render, path, force)
    return written + pages
