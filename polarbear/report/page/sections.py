"""The page's sections as HTML; whatever comes from a store is escaped here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

from polarbear.attainment import agreement, disagreements
from polarbear.report.figures.base import lacks_draws
from polarbear.report.material import Material
from polarbear.report.page.figures import Shown
from polarbear.report.story import Entry, Story

DATA = (
    '<div class="below"><button type="button" class="csv">Download CSV</button>'
    '<details class="data"><summary>As a table</summary><div class="table"></div></details></div>'
)
CLASSICAL = ("ecdf", "aocc", "eaf", "eaf-difference")
PLACED = {
    *("leaders", "matrix", "pairs", "rounds", "allocation", "values", "failures", "diagnostics"),
    *CLASSICAL,
}
LONG = 12  # lines of a log after which the rest is folded away


@dataclass(frozen=True)
class Section:
    """A part of the page, and how the list of contents leads there."""

    id: str
    title: str
    body: str

    @property
    def markup(self) -> str:
        return (
            f'<section id="{self.id}" aria-labelledby="{self.id}-title">'
            f'<h2 id="{self.id}-title">{self.title}</h2>{self.body}</section>'
        )

    @property
    def link(self) -> str:
        return f'<li><a href="#{self.id}">{self.title}</a></li>'


def of(
    material: Material, story: Story, content: dict[str, Any], shown: list[Shown]
) -> list[Section]:
    """All sections in the order of the page."""
    figures = {figure.name: figure for figure in shown}
    made = [
        _pareto(material, story),
        _selector(material, content, figures["leaders"]),
        _rounds(content),
        _of_figures("pairs", "Pair by pair", [figures["matrix"], figures["pairs"]]),
        _of_figures("race", "The race", [figures["rounds"]]),
        _of_figures("allocation", "Where the budget went", [figures["allocation"]]),
        _of_figures("values", "Values under preferences", [figures["values"]]),
        _classical(material, [figures[name] for name in CLASSICAL]),
        _of_figures("trust", "How far to trust it", [figures["failures"], figures["diagnostics"]]),
        _further([figure for figure in shown if figure.name not in PLACED]),
        _log(story),
        _method(story),
    ]
    return [section for section in made if section is not None]


def answer(story: Story) -> str:
    first, second = (escape(sentence) for sentence in story.answer)
    return f'{first} <span class="second">{second}</span>'


def warnings(story: Story) -> str:
    return "".join(f'<p class="warning">{escape(_sentence(line))}</p>' for line in story.warnings)


def missing(words: str) -> str:
    return f'<p class="missing">{escape(words)}</p>'


def _sentence(line: str) -> str:
    line = line[:1].upper() + line[1:]
    return line if line.endswith(".") else f"{line}."


def _pareto(material: Material, story: Story) -> Section | None:
    if not story.members:
        return None
    members = "".join(
        f'<li style="--colour: var(--algorithm-{material.colour_index(entry.algorithm)})">'
        f'<bdi class="name">{escape(entry.algorithm)}</bdi>'
        f"<p>{escape(_sentence(entry.reason))}</p></li>"
        for entry in story.members
    )
    raced = material.race is not None
    title = "The Pareto set" if raced else "Who is in question"
    return Section("pareto", title, f'<ul class="members">{members}</ul>{_out(story.out)}')


def _out(entries: Iterable[Entry]) -> str:
    lines = [
        f'<li><bdi class="name">{escape(entry.algorithm)}</bdi>: {escape(_sentence(entry.reason))}'
        "</li>"
        for entry in entries
    ]
    if not lines:
        return ""
    title = f"<summary>Who is out, and why ({len(lines)})</summary>"
    return f"<details>{title}<ul>{''.join(lines)}</ul></details>"


def _of_figures(id: str, title: str, shown: list[Shown]) -> Section:
    """Figures under one heading; with a single one it is theirs."""
    return Section(id, title, "".join(_figure(figure, len(shown) > 1) for figure in shown))


def _further(shown: list[Shown]) -> Section | None:
    """Figures that have no drawing in the page: their tables."""
    return _of_figures("further", "Further figures", shown) if shown else None


def _classical(material: Material, shown: list[Shown]) -> Section:
    """The same runs by margins, and a plain word where that disagrees with the posterior."""
    title = "The classical view"
    reasons = {figure.missing for figure in shown}
    if len(reasons) == 1 and None not in reasons:
        return Section("classical", title, missing(_sentence(str(reasons.pop()))))
    view = material.classical
    lines = [f"<p>{escape(_sentence(line))}</p>" for line in view.notes()]
    if material.basis is not None:
        notes = disagreements(view, material.basis)
        lines += [
            f'<p class="note">{escape(_sentence(note.words))} '
            f'<span class="quiet">{escape(_sentence(note.why))}</span></p>'
            for note in notes
        ]
        if not notes:
            lines.append(f"<p>{escape(_sentence(agreement(view, material.basis)))}</p>")
    body = _of_figures("classical", title, shown).body
    return Section("classical", title, "".join(lines) + body)


def _figure(figure: Shown, titled: bool) -> str:
    title = f"<h3>{escape(figure.title)}</h3>" if titled else ""
    if figure.missing is not None:
        return title + missing(_sentence(figure.missing))
    return (
        f'{title}<figure data-figure="{figure.name}" data-title="{escape(figure.title)}">'
        f'<div class="chart of-table"></div><figcaption>{escape(figure.caption)}</figcaption>'
        f"{DATA}</figure>"
    )


def _selector(material: Material, content: dict[str, Any], leaders: Shown) -> Section:
    chosen = content["selector"]
    if chosen is None:
        words = lacks_draws(material) or "nobody is left to choose from"
        return Section("choose", "Choose for your budget", missing(_sentence(words)))
    draws, of = chosen["draws"], chosen["of_draws"]
    shipped = f"all {of:,} draws" if draws == of else f"{draws:,} of the {of:,} draws"
    error = 0.5 / chosen["effective"] ** 0.5
    body = f"""
<p>Say what you know about the time there will be. Everything below follows at once.</p>
<div class="selector">
  <div id="selector-controls"></div>
  <div class="card result">
    <div id="choice" role="status" aria-live="polite"></div>
    <div id="choice-table" class="table"></div>
    <ul id="choice-notes"></ul>
  </div>
</div>
<figure data-figure="leaders">
  <div id="selector-chart" class="chart"></div>
  <figcaption>{escape(leaders.caption.split(";")[0])}. What you ask for is marked; click to move a
  single budget.</figcaption>{DATA if leaders.table else ""}
</figure>
<div class="command"><code id="command"></code><button id="copy" type="button">Copy</button></div>
<p class="quiet">Computed in this page from {shipped} of the posterior: a probability is exact to
about ± {2 * error:.2g} (two Monte-Carlo errors, at worst). The command asks the same of
all draws.</p>"""
    return Section("choose", "Choose for your budget", body)


def _rounds(content: dict[str, Any]) -> Section | None:
    if not content["moments"]:
        return None
    several = len(content["moments"]) > 1
    title = "Round by round" if several else "Ratings over time"
    body = f"""
<p>A rating is the probability of finding the best solution of all by that time; bands hold 95 % of
the posterior. Those in brackets, with thin lines, were out by then.</p>
<div id="round-row" class="round-row">
  <button id="round-back" type="button" aria-label="One round back">←</button>
  <input id="round" type="range" min="1" value="1" step="1" aria-label="Round">
  <button id="round-on" type="button" aria-label="One round on">→</button>
</div>
<p class="round-title" id="round-number"></p>
<p id="round-facts" class="quiet"></p>
<figure data-figure="ratings">
  <div id="rounds-chart" class="chart"></div>
  <div class="switches">
    <label><input id="rounds-x-log" type="checkbox"> logarithmic time</label>
    <label><input id="rounds-y-log" type="checkbox"> logarithmic rating</label>
  </div>
  {DATA}
</figure>
<ul id="round-out"></ul>"""
    return Section("rounds", title, body)


def _log(story: Story) -> Section | None:
    if not story.decisions:
        return None
    lines = [
        f'<li class="{decision.kind}"><span class="quiet">Round {decision.round}, '
        f"{decision.instances:,} instances.</span> {escape(decision.words)}</li>"
        for decision in story.decisions
    ]
    body = f'<ol class="log">{"".join(lines[:LONG])}</ol>'
    if lines[LONG:]:
        body += (
            f'<details class="long"><summary>{len(lines) - LONG} more decisions</summary>'
            f'<ol class="log">{"".join(lines[LONG:])}</ol></details>'
        )
    return Section("log", "What was decided when", body)


def _method(story: Story) -> Section:
    pairs = "".join(
        f"<dt>{escape(label)}</dt><dd>{escape(value)}</dd>" for label, value in story.settings
    )
    return Section("method", "How to repeat it", f"<dl>{pairs}</dl>")
