"""LaTeX for a paper: a folder of tables for booktabs, figures as PDF, captions, and a document.

No TeX system is needed to write it.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from polarbear.facts.standings import Standings
from polarbear.report import how_much
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import draws_source, lacks_draws
from polarbear.report.figures.best_algorithm import values_data as values
from polarbear.report.figures.figure_files import (
    available,
    check_free,
    write_figures,
    write_file,
)
from polarbear.report.figures.short_names import on_one_line
from polarbear.report.figures.style import Style
from polarbear.report.findings import instances_at
from polarbear.report.words import (
    budgets_led,
    budgets_shared,
    evidence,
    evidence_needed,
    share_interval,
)
from polarbear.wording import (
    P_BEST,
    WIN_RATE,
    percent_cell,
    probability,
    time,
    whole,
)

SIGNS = {
    **{sign: f"\\{sign}" for sign in "{}$&#%_"},
    **{sign: rf"\ensuremath{{{sign}}}" for sign in "<>|"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "-": "{-}",  # LaTeX would typeset two hyphens as one dash.
    "…": r"\ldots{}",
    "·": r"\textperiodcentered{}",
    "×": r"\ensuremath{\times}",
    "≥": r"\ensuremath{\geq}",
    "≤": r"\ensuremath{\leq}",
    "≳": r"\ensuremath{\stackrel{>}{\sim}}",
    "≲": r"\ensuremath{\stackrel{<}{\sim}}",
    "≈": r"\ensuremath{\approx}",
    "±": r"\ensuremath{\pm}",
}
RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))
LATIN = 0x17F  # the last letter that the usual fonts of pdfLaTeX have


def escaped(text: str) -> str:
    """Text that LaTeX typesets unchanged, on one line."""
    latex = "".join(_sign(sign) for sign in unicodedata.normalize("NFC", on_one_line(text)))
    # Several superscript digits in a row become one superscript with several digits.
    return latex.replace("}\\textsuperscript{", "")


def _sign(sign: str) -> str:
    if sign in SIGNS:
        return SIGNS[sign]
    if sign in RAISED:
        return rf"\textsuperscript{{{RAISED[sign]}}}"
    if ord(sign) <= 0x7E or (0xC0 <= ord(sign) <= LATIN and sign.isalpha()):
        return sign
    return rf"\othersign{{{ord(sign):04X}}}{{{sign}}}"


@dataclass(frozen=True)
class TexTable:
    """A table with its caption; a column whose title ends in '#' holds numbers."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def tex(self) -> str:
        """A table environment, to be read by \\input in a document that loads booktabs."""
        alignments = "".join("r" if title.endswith("#") else "l" for title in self.columns)
        titles = _row([title.removesuffix("#") for title in self.columns])
        body = "\n    ".join(map(_row, self.rows))
        return rf"""\begin{{table}}
  \centering
  \caption{{{escaped(self.caption)}}}
  \label{{tab:{self.name}}}
  \begin{{tabular}}{{@{{}}{alignments}@{{}}}}
    \toprule
    {titles}
    \midrule
    {body}
    \bottomrule
  \end{{tabular}}
\end{{table}}
"""


def _row(cells: Sequence[str]) -> str:
    return " & ".join(escaped(cell) if cell else "" for cell in cells) + r" \\"


def tables(context: ReportContext) -> list[TexTable]:
    """The tables that a store has data for."""
    has_draws = lacks_draws(context) is None
    tables_with_data = []
    if has_draws:
        tables_with_data.append(_pareto(context))
    if context.race is not None and context.race.eliminated:
        tables_with_data.append(_eliminations(context.race))
    compared = how_much.comparisons(context)
    if compared:
        rows = tuple(comparison.cells for comparison in compared)
        caption = f"{how_much.TITLE}. {how_much.EXPLANATION}."
        tables_with_data.append(TexTable("how-much", caption, how_much.columns(context.axis), rows))
    if has_draws:
        tables_with_data.append(_selection(context))
    return tables_with_data


def _pareto(context: ReportContext) -> TexTable:
    names, p_best = context.p_best
    spans = context.advice.spans
    instance_counts = instances_at(context)
    columns = [
        "algorithm",
        "likely the best",
        "one of the likely best",
        f"highest {P_BEST}#",
        f"at {context.axis}#",
    ]
    if instance_counts is not None:
        columns.append("instances#")
    rows = []
    for name, p_best_of_name in zip(names, p_best.T, strict=True):
        peak = int(p_best_of_name.argmax())
        row = [
            name,
            budgets_led(spans, name, context.axis),
            budgets_shared(spans, name, context.axis),
            probability(float(p_best_of_name[peak])),
            time(float(context.times[peak])),
        ]
        if instance_counts is not None:
            row.append(whole(int(instance_counts[name].max())))
        rows.append(tuple(row))
    subject = "algorithms not eliminated" if context.race is not None else "candidates"
    return TexTable(
        "pareto",
        f"The {subject} ({draws_source(context)}): the budgets at which each is, alone or with "
        f"others, likely the best, and its highest {P_BEST}, the probability of the highest "
        f"{WIN_RATE}.",
        tuple(columns),
        tuple(rows),
    )


def _eliminations(race: Standings) -> TexTable:
    needed = evidence_needed(race.rules)
    and_needed = f"; {needed}" if needed else ""
    return TexTable(
        "eliminations",
        f"Eliminated algorithms, with the evidence that decided{and_needed}.",
        ("algorithm", "by", "round#", "instances#", "evidence"),
        tuple(
            (
                elimination.algorithm,
                elimination.by,
                str(elimination.round),
                str(elimination.instances),
                evidence(elimination, race.rules),
            )
            for elimination in race.eliminated
        ),
    )


def _selection(context: ReportContext) -> TexTable:
    facts = values(context).unique(["title", "algorithm"], keep="first", maintain_order=True)
    rows = []
    for (title,), facts_of_preference in facts.group_by("title", maintain_order=True):
        best = facts_of_preference.sort("p_best", descending=True).row(0, named=True)
        rows.append(
            (
                str(title),
                best["algorithm"],
                probability(best["p_best"]),
                percent_cell(best["mean"]),
                share_interval(best["low"], best["high"]),
            )
        )
    return TexTable(
        "selection",
        f"The choice under several preferences over time ({draws_source(context)}): the "
        f"algorithm with the highest {P_BEST}, the probability of the highest value, and its value "
        f"(the {WIN_RATE}, on average over the budgets or at the worst time) with its central "
        "95 % interval.",
        ("budget", "choice", f"{P_BEST}#", "value#", "95 % interval#"),
        tuple(rows),
    )


DOCUMENT = r"""% Shows everything in this folder; take from it what the paper needs.
\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage[margin=1.5cm]{geometry}
\usepackage{booktabs,graphicx}
% A sign that fonts lack: unchanged where the engine reads Unicode, otherwise by its number.
\providecommand{\othersign}[2]{%
  \ifdefined\directlua#2\else\ifdefined\XeTeXversion#2\else\texttt{U+#1}\fi\fi}
\providecommand{\textquotedbl}{\char34\relax}
\begin{document}
%INPUTS%\end{document}
"""


def write_kit(
    context: ReportContext, folder: Path, style: Style, force: bool = False
) -> list[Path]:
    """Write the kit and return its files.

    Nothing is written if one of the files exists, unless ``force``.
    """
    figures = available(context)
    texts = {table.name: table.tex() for table in tables(context)}
    for figure in figures:
        caption = escaped(figure.caption(context))
        texts[f"figure-{figure.name}"] = (
            f"\\begin{{figure}}\n  \\centering\n  \\includegraphics{{{figure.name}.pdf}}\n"
            f"  \\caption{{{caption}}}\n  \\label{{fig:{figure.name}}}\n\\end{{figure}}\n"
        )
    inputs = "".join(f"\\input{{{name}}}\n\\clearpage\n" for name in texts)
    texts["kit"] = DOCUMENT.replace("%INPUTS%", inputs)
    paths = [folder / f"{name}.tex" for name in texts]
    if not force:
        check_free(paths)
    drawn = write_figures(figures, context, {"pdf": folder}, style, force)
    for path, text in zip(paths, texts.values(), strict=True):
        write_file(path, text.encode())
    return [*paths, *drawn]
