"""The page's sections: what each shows, and the template that shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from polarbear.classical.disagreement import disagreements
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import lacks_draws
from polarbear.report.figures.ratings import TITLE, WHAT, field_of_firsts
from polarbear.report.page.figure_tables import Shown
from polarbear.report.story import Story
from polarbear.report.words import standing_alone
from polarbear.wording import counted, small, whole

CLASSICAL = ("ecdf", "aocc", "eaf", "eaf-difference")
PLACED = {
    *("leaders", "matrix", "pairs", "rounds", "allocation", "values", "failures", "diagnostics"),
    *CLASSICAL,
}
LONG = 12  # lines of a log after which the rest is folded away


@dataclass(frozen=True)
class Section:
    """A part of the page: its heading, and what its template is filled with."""

    id: str
    title: str
    kind: str
    content: Mapping[str, object]

    @property
    def template(self) -> str:
        return f"sections/{self.kind}.html"


def of(
    context: ReportContext, story: Story, content: dict[str, Any], shown: list[Shown]
) -> list[Section]:
    """All sections in the order of the page."""
    figures = {figure.name: figure for figure in shown}
    further = [figure for figure in shown if figure.name not in PLACED]  # tables only
    made = [
        _rounds(context, content),
        pareto(context, story),
        _selector(context, content, figures["leaders"]),
        _of_figures("pairs", "Pair by pair", [figures["matrix"], figures["pairs"]]),
        _closer(content),
        _of_figures("race", "The race", [figures["rounds"]]),
        _of_figures("allocation", "Where the budget went", [figures["allocation"]]),
        _of_figures("values", "Values under preferences", [figures["values"]]),
        _classical(context, [figures[name] for name in CLASSICAL]),
        _of_figures("trust", "How far to trust it", [figures["failures"], figures["diagnostics"]]),
        _of_figures("further", "Further figures", further) if further else None,
        *_last(story),
    ]
    return [section for section in made if section is not None]


def of_slim(
    context: ReportContext, story: Story, drawings: Sequence[Mapping[str, str]]
) -> list[Section]:
    """The sections of a page without scripts."""
    figures = [Section("figures", "Figures", "drawings", {"drawings": drawings})]
    made = [pareto(context, story), *(figures if drawings else []), *_last(story)]
    return [section for section in made if section is not None]


def pareto(context: ReportContext, story: Story) -> Section | None:
    if not story.members:
        return None
    members, out = (
        [
            {
                "algorithm": entry.algorithm,
                "said": standing_alone(entry.said),
                "colour": context.colour_index(entry.algorithm),
                "label": context.labels[entry.algorithm],
            }
            for entry in entries
        ]
        for entries in (story.members, story.out)
    )
    title = "The Pareto set" if context.race is not None else "The candidates"
    return Section("pareto", title, "pareto", {"members": members, "out": out})


def _of_figures(id: str, title: str, shown: list[Shown]) -> Section:
    return Section(id, title, "figures", {"figures": shown})


def _classical(context: ReportContext, shown: list[Shown]) -> Section:
    """The same runs by margins, and a plain word where that disagrees with the posterior."""
    title = "The classical view"
    reasons = {figure.missing for figure in shown}
    if len(reasons) == 1 and None not in reasons:
        return Section("classical", title, "missing", {"why": reasons.pop()})
    view, basis = context.classical, context.basis
    found, agreed = ([], None) if basis is None else disagreements(view, basis)
    notes = [*view.notes(), *([agreed] if agreed else [])]
    content = {"notes": notes, "disagreements": found, "figures": shown}
    return Section("classical", title, "classical", content)


def _selector(context: ReportContext, content: dict[str, Any], leaders: Shown) -> Section:
    title, chosen = "Choose for your budget", content["selector"]
    if chosen is None:
        why = lacks_draws(context) or "there is no candidate"
        return Section("choose", title, "missing", {"why": why})
    draws, of = chosen["draws"], counted(chosen["of_draws"], "draw")
    error = 0.5 / chosen["effective"] ** 0.5
    words = {
        "caption": leaders.caption.split(";")[0],
        "has_table": leaders.table is not None,
        "shipped": f"all {of}" if draws == chosen["of_draws"] else f"{whole(draws)} of the {of}",
        "error": small(2 * error),
    }
    return Section("choose", title, "selector", words)


def _closer(content: dict[str, Any]) -> Section | None:
    held = content["closer"]
    if held is None:
        return None
    many = len(held["instances"])
    several = f"{counted(held['of'], 'instance')} on which two or more have run"
    sample = f"all {several}"
    if many < held["of"]:
        sample = f"{whole(many)} of the {several}: those with the most runs"
    words = {"sample": sample, "show": held["show"]}
    return Section("closer", "Look closer: duels and runs", "closer", words)


def _rounds(context: ReportContext, content: dict[str, Any]) -> Section | None:
    if not content["moments"]:
        return None
    several = len(content["moments"]) > 1
    has_eliminated = bool(context.rounds and context.rounds[-1].state.eliminated)
    among = field_of_firsts(context)
    if among and context.other_model:  # which counts firsts by itself, and says so
        among = f"In the rounds, {among[0].lower()}{among[1:]}"
    words = {"what": WHAT, "among": among, "has_eliminated": has_eliminated}
    return Section("rounds", "Round by round" if several else TITLE, "rounds", words)


def _last(story: Story) -> list[Section]:
    """The log of decisions, where there are any, and the settings."""
    method = Section("method", "How to repeat it", "method", {"settings": story.settings})
    if not story.decisions:
        return [method]
    parts = {"first": story.decisions[:LONG], "rest": story.decisions[LONG:]}
    return [Section("log", "What was decided when", "log", parts), method]
