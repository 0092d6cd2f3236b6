"""The result of a gate in words and as a figure."""

from collections.abc import Sequence

import numpy as np
import scipy

from polarbear.regression.detectable import POWER
from polarbear.regression.gate_decision import FAILURE_SHARE, GateVerdict
from polarbear.regression.gate_run import GateOptions, PairVerdict
from polarbear.report.figures.canvas_renderer import draw_chart
from polarbear.report.figures.chart import (
    Axis,
    Boxes,
    Chart,
    Line,
    Panel,
    Rule,
    Series,
    Title,
    time_axis,
)
from polarbear.report.figures.figure_files import on_canvas, saved
from polarbear.report.figures.style import Style
from polarbear.settings.grid import suit_log_axis
from polarbear.wording import counted, joined, percent, short, time, timed

MOST_NAMED = 5  # instances named in a sentence
PARTS = ("early", "middle", "late")  # thirds of the times


def sentences(pair: PairVerdict, options: GateOptions) -> list[str]:
    """The verdict on a pair and its data; where time is in seconds, also a sentence on noise."""
    paragraph = [verdict_sentence(pair, options)]
    slowdown = pair.slowdown
    if slowdown is not None:
        paragraph.append(
            f"{pair.candidate} takes {slowdown.ratio:.2f} times as long as {pair.baseline} to the "
            f"same value (median of {counted(slowdown.instances, 'instance')}). Noise of this "
            f"machine: {percent(float(np.expm1(slowdown.noise)))} an instance; a slowdown by "
            f"{percent(slowdown.detectable)} is detectable in nine of ten gates."
        )
    return paragraph


def verdict_sentence(pair: PairVerdict, options: GateOptions) -> str:
    """The verdict on a pair, with its reason."""
    a = pair.candidate
    b = pair.baseline
    on = counted(pair.problems, "problem")
    level = f"level {options.alpha:g}"
    where = _where(pair)
    size = _size(pair)
    if pair.verdict is GateVerdict.IDENTICAL:
        code = "; their files and options are the same, too" if pair.unchanged_code else ""
        return f"{a} is identical to {b}: the same values on {on}{code}."
    if pair.verdict is GateVerdict.WORSE:
        reasons = []
        if size:
            reasons.append(f"{size}; {_loss_words(options)} is shown ({on}, {level})")
        if pair.failed and options.failures == "worse":
            reasons.append(_failed_words(pair))
        return f"{a} is worse than {b}{where}: {'; '.join(reasons)}."
    if pair.verdict is GateVerdict.UNDECIDED:
        return _undecided_sentence(pair, options)
    better = f" It is better{where}: {size}." if pair.verdict is GateVerdict.BETTER else ""
    no_worse = f"{a} is no worse than {b}: {_no_loss_words(options)} at every time"
    return f"{no_worse} ({on}, {level}).{better}"


def _loss_words(options: GateOptions) -> str:
    """The loss that a verdict "worse" has shown."""
    if options.longer is None:
        return f"a win rate below {0.5 - (options.tolerance or 0):g}"
    more = f"more than {percent_of(options.longer)} " if options.longer else ""
    return f"that it needs {more}longer"


def _no_loss_words(options: GateOptions) -> str:
    """What a verdict "no worse" has shown."""
    if options.longer is None:
        return f"its win rate is at least {0.5 - (options.tolerance or 0):g}"
    return f"it needs at most {percent_of(options.longer)} longer"


def percent_of(share: float) -> str:
    """A tolerance in percent, with all its digits: 10%, 2.5%."""
    return f"{short(100 * share)}%"


def _size(pair: PairVerdict) -> str:
    """The share of duels that the candidate wins in its span, and its factor of budget."""
    if pair.in_span is None:
        return ""
    wins = f"it wins {percent(pair.in_span)} of the duels there"
    factor = pair.times_as_long[0]
    if not factor.is_known:
        return wins
    back = pair.times_as_long_back[0]
    in_brackets = ""
    if back.is_known:
        in_brackets = f" ({pair.baseline} its values in {back.number} times)"
    return f"{wins} and {factor.words(pair.axis)}{in_brackets}"


def _undecided_sentence(pair: PairVerdict, options: GateOptions) -> str:
    """What was not shown, the loss that would have been, and the number of problems for a proof."""
    on = counted(pair.problems, "problem")
    if options.undecided == "pass":
        sentence = f"No regression of {pair.candidate} against {pair.baseline} is shown on {on}."
    elif not pair.open_times:
        sentence = (
            f"Undecided after {on}: {pair.candidate} is not worse than {pair.baseline} so far, but "
            f"the gate ended before failures on {percent(options.tolerance or FAILURE_SHARE)} of "
            "the instances would have shown."
        )
    else:
        sentence = (
            f"Undecided after {on}: at {pair.open_times} of {counted(len(pair.times), 'time')} it "
            f"is not shown of {pair.candidate} against {pair.baseline} that "
            f"{_no_loss_words(options)}, and at no time the contrary."
        )
    sentences = [sentence, *_power_sentences(pair, options)]
    if options.undecided == "fail" and pair.open_times and pair.problems_for_proof is not None:
        n_problems = counted(max(pair.problems_for_proof, pair.problems + 1), "problem")
        sentences.append(
            f"To show that an even change is no worse would take about {n_problems}: see "
            "--instances."
        )
    return " ".join(sentences)


def _power_sentences(pair: PairVerdict, options: GateOptions) -> list[str]:
    """The loss that these problems would have shown."""
    if pair.detectable is None:
        return []
    power = f"probability {short(POWER)}"
    if pair.detectable.win_rate is None:
        return [f"No loss at a single time would have been found with {power}."]
    handicap = ""
    if options.longer:
        handicap = f", with {percent_of(options.longer)} more time than {pair.baseline},"
    return [
        f"A win rate of {short(pair.detectable.win_rate)} at some time{handicap} would have been "
        f"found with {power}."
    ]


def _where(pair: PairVerdict) -> str:
    """The times at which the candidate is worse, or better, as the end of a clause."""
    if pair.from_ is None or pair.to is None:
        return ""
    if pair.from_ == pair.to:
        return f" at {timed(pair.to, pair.axis)}"
    start = time(pair.from_)
    stop = timed(pair.to, pair.axis)
    if (pair.from_, pair.to) == (pair.times[0], pair.times[-1]):
        return f" over the whole budget, {start} to {stop}"
    return f" between {start} and {stop}"


def _failed_words(pair: PairVerdict) -> str:
    names = [failed_run.instance for failed_run in pair.failed]
    listed = names[:MOST_NAMED]
    if len(names) > MOST_NAMED:
        listed.append(f"{len(names) - MOST_NAMED} more")
    return (
        f"it failed on {len(names)} of {counted(pair.instances, 'instance')} on which "
        f"{pair.baseline} did not: {joined(listed)}"
    )


def drawing(pairs: Sequence[PairVerdict], options: GateOptions) -> bytes:
    """The win rate of each candidate over time with 95 % intervals, as SVG."""
    labels = {pair.candidate: pair.candidate for pair in pairs}
    meanings = ["band: 95 % interval at each time"]
    if options.tolerance:
        meanings.append(f"dashes: the tolerated win rate, {0.5 - options.tolerance:g}")
    if any(pair.from_ is not None for pair in pairs):
        meanings.append("grey: the times of the verdict")
    panels = tuple(_panel(pair, options) for pair in pairs)
    chart = Chart(panels, labels, notes=("; ".join(meanings),))
    style = Style()
    with on_canvas(style) as canvas:
        draw_chart(canvas, chart, style)
        return saved(canvas, style, "svg")


def _panel(pair: PairVerdict, options: GateOptions) -> Panel:
    """The win rate of one candidate, and in grey the span of times of its verdict."""
    times = np.array(pair.times, dtype=float)
    win_rate = np.array(pair.win_rate, dtype=float)
    n_won = 1 + win_rate * pair.problems
    n_lost = 1 + (1 - win_rate) * pair.problems
    low, high = scipy.special.betaincinv(n_won, n_lost, [[0.025], [0.975]])
    series: list[Series] = []
    if pair.from_ is not None and pair.to is not None:
        span = Boxes(left=(pair.from_,), right=(pair.to,), low=(0,), high=(1,), ink="rest")
        series.append(span)
    series.append(Rule(0.5, ink="faint", dash="solid", width=0.6))
    if options.tolerance:
        series.append(Rule(0.5 - options.tolerance, ink="faint", width=0.6))
    line = Line(times, win_rate, low, high, algorithm=pair.candidate, dash="solid")
    series.append(line)
    titles = [Title(f"{pair.candidate} against {pair.baseline}: {pair.verdict.words}")]
    factors = _factors_words(pair)
    if factors:
        titles.append(Title(factors, side="right", is_small=True))
    return Panel(
        x=time_axis(times, suit_log_axis(times), pair.axis),
        y=Axis("win rate", low=0, high=1, has_grid=False),
        series=tuple(series),
        titles=tuple(titles),
        aspect=0.25,
    )


def _factors_words(pair: PairVerdict) -> str:
    """How many times as long the candidate needs in each third of the times."""
    factors = pair.times_as_long[1:]
    known = [
        f"{name} {factor.number}"
        for name, factor in zip(PARTS[-len(factors) :], factors, strict=True)
        if factor.is_known
    ]
    return f"needs times as long: {', '.join(known)}" if known else ""
