"""Pairs over all times, with P(dominated) and the verdict, and pairs over time, a strip each."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import polars as pl

from polarbear.racing import ABOVE, ALIKE, BELOW, VerdictKind
from polarbear.racing.verdicts import AT_A_TIME, SIGNS
from polarbear.report.context import ReportContext
from polarbear.report.figures.base import Figure, estimates_source, grid_axis, lacks_estimates
from polarbear.report.figures.chart import (
    Boxes,
    Cells,
    Chart,
    Panel,
    Row,
    Series,
    edges,
    isolated,
    row_axis,
    row_edges,
)
from polarbear.report.findings import (
    MATRIX_NUMBER,
    evidence_on,
    matrix_numbers,
    relation_codes,
    verdict,
)
from polarbear.report.words import WORDS_AT_A_TIME, legend
from polarbear.wording import P_DOMINATED_BY, probability_cell, short, timed

NO_BREAK_SPACE = "\N{NO-BREAK SPACE}"


def order(context: ReportContext) -> list[str]:
    """Candidates first, then eliminated algorithms, the latest first."""
    estimates = context.estimates
    assert estimates is not None
    candidates = [name for name in estimates.algorithms if name in context.remaining]
    eliminated: list[str] = []
    if context.rounds:
        state = context.rounds[-1].state
        eliminated = [elimination.algorithm for elimination in reversed(state.eliminated)]
    others = [
        name for name in estimates.algorithms if name not in candidates and name not in eliminated
    ]
    return [*candidates, *eliminated, *others]


def matrix_data(context: ReportContext) -> pl.DataFrame:
    """For each ordered pair, P(b dominated by a), and the verdict.

    The ``probability`` is the lowest P(a is better than b) at any time, ``verdict`` a kind of
    `polarbear.racing.verdicts`.
    """
    estimates = context.estimates
    assert estimates is not None
    dominance = estimates.dominance()
    rows = []
    for a, b in permutations(order(context), 2):
        probability = float(dominance[estimates.row_of(a), estimates.row_of(b)])
        row = {
            "a": a,
            "b": b,
            "probability": None if np.isnan(probability) else probability,
            "verdict": verdict(context, a, b).kind.value,
        }
        rows.append(row)
    schema = {
        "a": pl.String,
        "b": pl.String,
        "probability": pl.Float64,
        "verdict": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)


def matrix_chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A cell for each ordered pair: its shade is P(dominated), its sign the verdict."""
    names = list(data["a"].unique(maintain_order=True))
    n_names = len(names)
    index_of = {name: i for i, name in enumerate(names)}
    probabilities = np.full((n_names, n_names), np.nan)
    texts = _empty_texts(n_names)
    signs = _empty_texts(n_names)
    hover = _empty_texts(n_names)
    for a, b, probability, kind in data.iter_rows():
        row = index_of[a]
        column = index_of[b]
        if probability is not None:
            probabilities[row, column] = probability
        sign = SIGNS[VerdictKind(kind)]
        signs[row][column] = sign
        number = "" if probability is None else probability_cell(probability)
        texts[row][column] = f"{sign}\n{number}"
        hover[row][column] = _words_on_pair(context, a, b, probability)
    cells = Cells(
        columns=row_edges(n_names),
        rows=row_edges(n_names),
        values=probabilities,
        texts=texts,
        short_texts=signs,
        bar_title=MATRIX_NUMBER,
        gaps="both",
        hover=hover,
    )
    rows = [Row((name,), is_bracketed=name not in context.remaining) for name in names]
    panel = Panel(
        x=row_axis(rows, is_on_top=True),
        y=row_axis(rows),
        series=(cells,),
        lines=2.3 * n_names,
    )
    meanings = [text.replace(" ", NO_BREAK_SPACE) for text in legend(data["verdict"])]
    note = ",  ".join([MATRIX_NUMBER, *meanings])
    return Chart((panel,), context.labels, notes=(note,))


def _empty_texts(n_names: int) -> list[list[str]]:
    return [[""] * n_names for _ in range(n_names)]


def _words_on_pair(context: ReportContext, a: str, b: str, probability: float | None) -> str:
    """The probability and the verdict on a pair, one fact on each line."""
    first = isolated(context.labels[a])
    other = isolated(context.labels[b])
    number = "unknown" if probability is None else f"{probability:.4f}"
    lines = [f"{P_DOMINATED_BY.format(a=first, b=other)} = {number}"]
    evidence_of_elimination = evidence_on(context, a, b)
    if evidence_of_elimination is not None:
        lines.append(f"when it was decided: {evidence_of_elimination}")
    lines.append(_on_lines(verdict(context, a, b).words(first, other)))
    return "\n".join(lines)


def _on_lines(words: str) -> str:
    """A sentence with a line for each of its halves."""
    return words.replace("; ", ";\n").replace(": ", ":\n")


def matrix_caption(context: ReportContext) -> str:
    names = order(context)
    signs = legend({verdict(context, a, b).kind for a, b in permutations(names, 2)})
    eliminated = ""
    if set(names) != set(context.remaining):
        eliminated = (
            " Candidates come first, then eliminated algorithms (in brackets), the latest first; "
            "pairs without a sign are not compared further."
        )
    return (
        f"Pairs as a whole ({estimates_source(context)}). Numbers are {matrix_numbers()}. "
        f"Signs are relations shown with probability {short(context.rules.alpha)}, seen from the "
        f"row: {', '.join(signs)}.{eliminated}"
    )


MATRIX = Figure(
    "matrix", "Pairs as a whole", matrix_caption, lacks_estimates, matrix_data, matrix_chart
)


CERTAIN_LEAN = {"above": 1.0, "below": -1.0}  # used where a pair was settled without a probability
SHOWN = ("above", "below", "equivalent")
THICK = 0.4  # half the height of a strip where a relation was shown, in rows
THIN = 0.15  # half its height elsewhere
MAX_PAIRS = 21  # all pairs of seven algorithms


def data(context: ReportContext) -> pl.DataFrame:
    """For each pair and time: P(a is better), P(b is better), P(equivalent), and what is settled.

    ``settled`` is above, below, equivalent, open; crossing where nothing was shown and the pair is
    settled because it crosses; moot where one of the two is eliminated. Pairs of candidates come
    first, then each eliminated algorithm with the one that eliminated it.
    """
    estimates = context.estimates
    assert estimates is not None
    frames = []
    for a, b in pairs(context):
        i = estimates.row_of(a)
        j = estimates.row_of(b)
        columns = {
            "a": a,
            "b": b,
            "t": estimates.times,
            "p_above": estimates.above[:, i, j],
            "p_below": estimates.above[:, j, i],
            "p_alike": estimates.alike[:, i, j],
            "settled": [AT_A_TIME[code] for code in relation_codes(context, a, b).tolist()],
        }
        frames.append(pl.DataFrame(columns))
    return pl.concat(frames).with_columns(pl.col("p_above", "p_below", "p_alike").fill_nan(None))


def pairs(context: ReportContext) -> list[tuple[str, str]]:
    """All pairs: of candidates, of eliminated algorithms with their dominators, and others."""
    candidates = context.remaining
    dominators = {}
    if context.rounds:
        eliminated = context.rounds[-1].state.eliminated
        dominators = {elimination.algorithm: elimination.by for elimination in eliminated}

    def rank(pair: tuple[str, str]) -> int:
        a, b = pair
        if a in candidates and b in candidates:
            return 0
        return 1 if dominators.get(b) == a or dominators.get(a) == b else 2

    return sorted(combinations(order(context), 2), key=rank)


def chart(data: pl.DataFrame, context: ReportContext) -> Chart:
    """A strip over time for each pair, in the colour of the better algorithm."""
    all_pairs = data.select("a", "b").unique(maintain_order=True).rows()
    drawn = all_pairs[:MAX_PAIRS]
    series: list[Series] = []
    for row_number, (a, b) in enumerate(drawn):
        rows = data.filter((pl.col("a") == a) & (pl.col("b") == b))
        series += _strip(row_number, (a, b), rows, context)
    panel = Panel(
        x=grid_axis(context),
        y=row_axis([Row(pair) for pair in drawn]),
        series=tuple(series),
        lines=1.35 * len(drawn),
    )
    meaning = "thick: shown; framed: equivalent"
    notes = [f"colour: the better one; {meaning}"]
    in_print = [f"dark: left better, grey: right better; {meaning}"]
    if len(drawn) < len(all_pairs):
        count = f"{len(drawn)} of {len(all_pairs)} pairs, candidates' first"
        notes.append(count)
        in_print.append(count)
    return Chart((panel,), context.labels, notes=tuple(notes), notes_in_print=tuple(in_print))


def _strip(
    row_number: int, pair: tuple[str, str], rows: pl.DataFrame, context: ReportContext
) -> list[Series]:
    """One pair: boxes of the first algorithm, of the second one, and frames."""
    borders = edges(rows["t"].to_numpy(), context.log_times)
    hover = _words_on_times(pair, rows, context)
    boxes_of_side: dict[int, list[tuple[int, float, float]]] = {1: [], 2: []}
    framed = []
    for k, (p_above, p_below, settled) in enumerate(
        rows.select("p_above", "p_below", "settled").iter_rows()
    ):
        if settled == "equivalent":
            framed.append(k)
        elif p_above is not None or settled in SHOWN:
            lean = CERTAIN_LEAN[settled] if p_above is None else p_above - p_below
            half_height = THICK if settled in SHOWN else THIN
            boxes_of_side[1 if lean > 0 else 2].append((k, half_height, abs(lean)))
    series: list[Series] = []
    for side, boxes in boxes_of_side.items():
        if boxes:
            times = np.array([k for k, _, _ in boxes])
            half_heights = np.array([half_height for _, half_height, _ in boxes])
            boxes_of_algorithm = Boxes(
                left=borders[times],
                right=borders[times + 1],
                low=row_number - half_heights,
                high=row_number + half_heights,
                algorithm=pair[side - 1],
                side=side,
                strength=[strength for _, _, strength in boxes],
                hover=[hover[k] for k in times],
            )
            series.append(boxes_of_algorithm)
    if framed:
        series.append(_frames(row_number, framed, borders, hover))
    return series


def _frames(row_number: int, times: list[int], borders: np.ndarray, hover: list[str]) -> Boxes:
    """Frames around the times at which two algorithms are equivalent."""
    cells = np.array(times)
    return Boxes(
        left=borders[cells],
        right=borders[cells + 1],
        low=np.full(len(cells), row_number - THICK),
        high=np.full(len(cells), row_number + THICK),
        ink="faint",
        is_filled=False,
        hover=[hover[k] for k in times],
    )


def _words_on_times(pair: tuple[str, str], rows: pl.DataFrame, context: ReportContext) -> list[str]:
    """The probabilities of a pair at each time, and what was shown."""
    first = isolated(context.labels[pair[0]])
    other = isolated(context.labels[pair[1]])
    words = []
    columns = ("t", "p_above", "p_below", "p_alike", "settled")
    for t, p_above, p_below, p_alike, settled in rows.select(columns).iter_rows():
        lines = [timed(t, context.axis)]
        if p_above is None:
            lines.append("unknown")
        else:
            lines.append(f"{first} better: {p_above:.3f}")
            lines.append(f"{other} better: {p_below:.3f}")
            lines.append(f"equivalent: {p_alike:.3f}")
        lines.append(_on_lines(WORDS_AT_A_TIME[settled].format(a=first, b=other)))
        words.append("\n".join(lines))
    return words


def missing(context: ReportContext) -> str | None:
    """Why there are no pairs to draw."""
    estimates = context.estimates
    if estimates is None or estimates.trusted:
        return lacks_estimates(context)
    settled = [relation_codes(context, a, b) for a, b in pairs(context)]
    if np.isin(settled, (ABOVE, BELOW, ALIKE)).any():
        return None
    return "no posterior was usable so far, so nothing is known about pairs"


def caption(context: ReportContext) -> str:
    return (
        f"Pairs over time ({estimates_source(context)}). Each strip has the colour of the better "
        "algorithm, stronger with higher probability; it is thick where this was shown with "
        f"probability {short(context.rules.alpha)}, thin elsewhere, framed where the two are "
        "equivalent. Pairs of candidates come first, then eliminated algorithms; at most "
        f"{MAX_PAIRS} are drawn, the data has all."
    )


PAIRS = Figure("pairs", "Pairs over time", caption, missing, data, chart)
