"""How much better: win rates, and times as long, of the pairs that a report is about."""

from dataclasses import dataclass

import numpy as np

from polarbear.facts.standings import second_best
from polarbear.facts.time_factors import RunTimes, TimeFactor
from polarbear.report.context import ReportContext, once
from polarbear.wording import percent_cell, time, timed

TITLE = "How much better"
EXPLANATION = (
    "Times as long: the factor of budget in which the algorithm reaches the values that the "
    "other one has, the median over times, then over problems, with its 95 % interval; and back: "
    "the same with the two exchanged. Both are 1 for identical runs, and noise raises both. They "
    "are the same for every increasing transformation of the values"
)


def columns(axis: str) -> tuple[str, ...]:
    """The titles of a table of comparisons, of which the first is the unit of its budgets."""
    return (
        *(axis, "algorithm", "against", "win rate#"),
        *("times as long#", "interval#", "and back#"),
    )


@dataclass(frozen=True)
class Comparison:
    """Two algorithms in a span of time; ``win_rate`` is None where no posterior has both.

    ``is_recommended`` says whether the span is one of the answer, rather than an elimination.
    """

    budget: str
    win_rate: float | None
    factor: TimeFactor
    back: TimeFactor
    is_recommended: bool

    def words(self, axis: str) -> str:
        """The comparison as a line: 20 to 60 evaluations: A reaches B's values in 0.5 times ..."""
        line = f"{self.budget}: {self.factor.algorithm} {self.factor.words(axis)}"
        if self.win_rate is None:
            return line
        return f"{line}; win rate {percent_cell(self.win_rate)}"

    @property
    def cells(self) -> tuple[str, ...]:
        """A row of the table with the titles of `columns`."""
        win_rate = "" if self.win_rate is None else percent_cell(self.win_rate)
        factor = self.factor
        first = time(factor.from_)
        last = time(factor.to)
        return (
            first if first == last else f"{first} to {last}",
            factor.algorithm,
            factor.against,
            win_rate,
            factor.cell,
            factor.interval,
            self.back.cell,
        )


@once
def comparisons(context: ReportContext) -> tuple[Comparison, ...]:
    """The first two algorithms of each recommended span, and each elimination over all times."""
    if context.estimates is None or context.store.runs().is_empty():
        return ()
    times = context.times
    names, p_best = context.p_best
    pairs: list[tuple[str, str, float, float, bool]] = []
    if len(names) > 1:
        spans = context.advice.spans
        seconds = second_best(names, times, p_best, spans)
        for span, second in zip(spans, seconds, strict=True):
            pairs.append((span.algorithms[0], second, span.start, span.stop, True))
    if context.race is not None:
        for elimination in context.race.eliminated:
            first = float(times[0])
            last = float(times[-1])
            pairs.append((elimination.by, elimination.algorithm, first, last, False))
    compared = dict.fromkeys(name for pair in pairs for name in pair[:2])
    run_times = RunTimes(context.store, list(compared), times)
    rows = []
    for algorithm, against, start, stop, is_recommended in pairs:
        factor = run_times.times_as_long(algorithm, against, (start, stop))
        is_inside = (times >= start) & (times <= stop)
        win_rate = _win_rate(context, algorithm, against, is_inside)
        budget = _budget(context, start, stop)
        back = run_times.times_as_long(against, algorithm, (start, stop))
        rows.append(Comparison(budget, win_rate, factor, back, is_recommended))
    return tuple(rows)


def _budget(context: ReportContext, start: float, stop: float) -> str:
    if start == stop:
        return timed(stop, context.axis)
    return f"{time(start)} to {timed(stop, context.axis)}"


def _win_rate(
    context: ReportContext, algorithm: str, against: str, is_inside: np.ndarray
) -> float | None:
    """The expected share of problems on which an algorithm wins, averaged over times."""
    basis = context.draws
    if basis is None or not {algorithm, against} <= set(basis.algorithms):
        return None
    first = basis.algorithms.index(algorithm)
    other = basis.algorithms.index(against)
    rate = float(basis.posterior.win_rate(first, other)[is_inside].mean())
    return None if np.isnan(rate) else rate
