"""Formats numbers, names and times for users: plurals, lists, probabilities, units.

Characters that cannot be shown are escaped. The page formats numbers by the same limits and nouns,
which it receives from `page_words`. Uses no other module.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

# Numbers that are easily confused have the same names everywhere.
MAX_INCOMPARABLE_SHOWN = 4  # times with their share of incomparable duels, in one line
MEAN_WIN_RATE = "mean win rate"  # of an algorithm against the others
SHARE_OF_FIRSTS = "share of firsts"  # of instances on which an algorithm is first
WIN_RATE = "win rate against the strongest rival"  # the value of an algorithm in selection
P_BEST = "P(best)"  # the probability that this win rate is the highest
P_DOMINATED = "P(dominated)"  # the lowest probability, at any time, that another one is better
SAME_VALUES = "{names} had the same values in all {problems}"
P_DOMINATED_BY = "P({b} dominated by {a})"

JOINERS = "\u200c\u200d"  # needed by scripts and emoji between two non-ASCII characters
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Bounded(NamedTuple):
    """A format with a fixed number of digits that never rounds to certainty or to zero."""

    digits: int
    low: float  # positive values below it are shown as ``under``
    under: str
    high: float  # values from it on are shown as ``over``
    over: str
    unit: str = ""

    def __call__(self, value: float) -> str:
        if value >= self.high:
            return self.over
        return self.under if 0 < value < self.low else f"{fixed(value, self.digits)}{self.unit}"


PROBABILITY = Bounded(2, 0.005, "under 0.01", 0.995, "over 0.99")
PERCENT = Bounded(0, 0.5, "under 1%", 99.5, "over 99%", "%")
# The short forms of PROBABILITY.over and PROBABILITY.under.
OVER = "> 0.99"
UNDER = "< 0.01"
SMALLEST = 1e-4
LESS = "less than 0.0001"
WHOLE_FROM = 999.5  # times from here on are shown as whole numbers
TIME_DIGITS = 3  # significant digits of smaller times


def noun(number: float, singular_form: str, plural_form: str | None = None) -> str:
    """The singular or plural of a noun: round, rounds."""
    if number == 1:
        return singular_form
    return plural_form or f"{singular_form}s"


def counted(number: int, singular_form: str, plural_form: str | None = None) -> str:
    """1 round, 12,000 rounds."""
    return f"{whole(number)} {noun(number, singular_form, plural_form)}"


def whole(number: float) -> str:
    """A whole number with thousands separators."""
    return f"{number:,}" if isinstance(number, int) else f"{number:,.0f}"


def fixed(value: float, digits: int) -> str:
    """A number with a fixed number of decimals, and no minus before zero."""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def joined(names: Sequence[str], last: str = "and") -> str:
    """A, B and C."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}"


def same_values(names: Sequence[str], problems: int) -> str:
    """The words on equal algorithms: A and B had the same values in all 48 problems."""
    return SAME_VALUES.format(names=joined(names), problems=counted(problems, "problem"))


def multiples(names: Iterable[str]) -> str:
    """Repeated names with their counts, most frequent first: 3 x CSA, 1 x XNES."""
    return ", ".join(f"{count} x {name}" for name, count in Counter(names).most_common())


def time(value: float) -> str:
    """A time with significant digits: 758, 12,000, 0.223."""
    return whole(value) if value >= WHOLE_FROM else f"{value:.{TIME_DIGITS}g}"


def timed(value: float, axis: str) -> str:
    """A time with its unit: 12,000 evaluations, 1 evaluation, 0.5 seconds."""
    return f"{time(value)} {unit(time(value), axis)}"


def unit(formatted_number: str, axis: str) -> str:
    """The singular or plural of an axis for a formatted number."""
    return singular(axis) if formatted_number == "1" else axis


def singular(axis: str) -> str:
    """The singular of an axis: evaluation, query, batch; abbreviations are unchanged."""
    if " per " in axis:
        numerator, _, denominator = axis.partition(" per ")
        return f"{singular(numerator)} per {denominator}"
    *before, word = axis.split(" ")
    if word.endswith("ies") and len(word) > 4:
        word = f"{word[:-3]}y"
    elif word.endswith(("ches", "shes", "sses", "xes")):
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    return " ".join([*before, word])


def duration(seconds: float) -> str:
    """A duration with a suitable unit: 45 s, 12 min, 3.4 h."""
    if seconds < 90:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def size(count: float) -> str:
    """A number of bytes with a suitable unit: 12 B, 3.4 MiB."""
    for scale in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or scale == "GiB":
            break
        count /= 1024
    return f"{count:.0f} {scale}" if scale == "B" else f"{count:.1f} {scale}"


def probability(value: float) -> str:
    """A probability with two digits that never rounds to certainty."""
    return PROBABILITY(value)


def decisive(value: float) -> str:
    """A probability behind a decision: two digits, four near 1, never rounded to 1."""
    if value >= 0.99995:
        return "over 0.9999"
    return f"{value:.4f}" if value >= 0.99 else PROBABILITY(value)


def evidence_number(probability: float) -> str:
    """A probability that decides an elimination, rounded down: it never seems to reach a level."""
    if probability >= 0.9999:
        return "over 0.9999"
    digits = 4 if probability >= 0.99 else 3
    return f"{floor(probability * 10**digits + 1e-9) / 10**digits:.{digits}f}"


def wealth_number(wealth: float) -> str:
    """Betting wealth with three digits, rounded down: 0.12, 19.9, 1,234, over 1,000,000."""
    if wealth >= 1e6:
        return "over 1,000,000"
    if wealth >= 100:
        return whole(floor(wealth))
    digits = 1 if wealth >= 10 else 2
    return f"{floor(wealth * 10**digits + 1e-9) / 10**digits:.{digits}f}"


def probability_mark(value: float) -> str:
    """A short probability: > 0.99, 0.95, < 0.01."""
    if value >= PROBABILITY.high:
        return OVER
    return UNDER if value < PROBABILITY.low else f"{value:.2f}"


def probability_cell(value: float) -> str:
    """A very short probability: >.99, .95, 0."""
    if value >= PROBABILITY.high:
        return ">.99"
    return "0" if value < PROBABILITY.low else f"{value:.2f}".lstrip("0")


def percent(share: float) -> str:
    """A share in percent that never rounds to 0% or 100%: 45%, over 99%."""
    return "100%" if share == 1 else PERCENT(100 * share)


def incomparable_words(entries: Sequence[Mapping[str, float]]) -> str:
    """The share of incomparable duels at some times, each with the keys t and share."""
    if len(entries) > MAX_INCOMPARABLE_SHOWN:
        last = len(entries) - 1
        steps = MAX_INCOMPARABLE_SHOWN - 1
        entries = [entries[round(k * last / steps)] for k in range(MAX_INCOMPARABLE_SHOWN)]
    shares = [f"{percent(entry['share'])} at {time(entry['t'])}" for entry in entries]
    return f"incomparable duels: {joined(shares)}"


def percent_cell(share: float, digits: int = 0) -> str:
    """A share in percent for tables and figures, rounded: 45%."""
    return f"{fixed(100 * share, digits)}%"


def points(difference: float) -> str:
    """A difference of shares in percentage points: +12, -3, 0."""
    return f"{100 * difference:+.0f}" if abs(difference) >= 0.005 else "0"


def factor(value: float) -> str:
    """A factor for use before "times": 0.042, 0.4, 1.25, 12."""
    if value >= 9.995:
        return whole(value)
    return f"{value:.2g}" if value < 0.1 else short(round(value, 2))


def small(value: float) -> str:
    """A small number with two significant digits."""
    if value == 0:
        return "0"
    return LESS if value < SMALLEST else f"{value:.2g}"


def short(value: float) -> str:
    """A number in a list: 0.5, 2000, 1e+06."""
    return f"{value:g}"


def rounded(value: float) -> float:
    """A time for users to type: whole numbers are unchanged, others have three digits."""
    return float(f"{value:.{TIME_DIGITS}g}") if value < WHOLE_FROM and value % 1 else round(value)


def short_between(low: float, high: float) -> float:
    """A positive number with few digits in an interval: 20 for 19.64 to 50."""
    for digits in range(1, 16):
        step = 10.0 ** (floor(log10(low)) + 1 - digits)
        candidate = float(f"{ceil(low / step) * step:.{digits}g}")
        if low <= candidate <= high:
            return candidate
    return low


def typed(value: float) -> str:
    """A number in a form that can be typed, with ten significant digits."""
    return f"{value:.10g}"


def typed_time(value: float, axis: str) -> str:
    """A time with its unit in a form that can be typed: 5000 evaluations."""
    return f"{typed(value)} {unit(typed(value), axis)}"


def tick(value: float) -> str:
    """A number on an axis: 0.05, 2000, 50,000, 2×10⁵."""
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.4g}"
    if 1e4 <= abs(value) < 1e5 and value == round(value):
        return whole(value)
    mantissa, _, exponent = f"{value:.2e}".partition("e")
    front = short(float(mantissa))
    power = power_of_ten(int(exponent))
    if front == "1":
        return power
    if front == "-1":
        return f"-{power}"
    return f"{front}×{power}"


def power_of_ten(exponent: int) -> str:
    """10⁻⁴."""
    return f"10{str(exponent).translate(SUPERSCRIPTS)}"


def page_words(axis: str, nouns: Iterable[str] = ()) -> dict[str, object]:
    """The limits and nouns with which the page formats numbers as this module does."""
    return {
        "axis": {"one": singular(axis), "many": axis},
        "time": {"whole_from": WHOLE_FROM, "digits": TIME_DIGITS},
        "nouns": {word: {"one": word, "many": noun(2, word)} for word in nouns},
        "probability": PROBABILITY._asdict(),
        "mark": {"over": OVER, "under": UNDER},
        "percent": PERCENT._asdict(),
        "share_of_firsts": SHARE_OF_FIRSTS,
        "p_best": P_BEST,
        "small": {"smallest": SMALLEST, "less": LESS},
    }


def visible(text: str, keep: str = "") -> str:
    """Text with invisible and control characters escaped, except those in ``keep``: \\x1b."""
    if text.isprintable():
        return text
    return "".join(
        sign if sign in keep or shows(text, index) else sign.encode("unicode_escape").decode()
        for index, sign in enumerate(text)
    )


def shows(text: str, index: int) -> bool:
    """Whether a character of a text is visible and no control character."""
    sign = text[index]
    if sign not in JOINERS:
        return sign.isprintable()
    neighbours = text[index - 1 : index] + text[index + 1 : index + 2]
    return len(neighbours) == 2 and all(
        neighbour.isprintable() and not neighbour.isascii() for neighbour in neighbours
    )


def contract_words(times: Sequence[float], axis: str) -> str:
    """How a contract algorithm is run on each problem."""
    return (
        f"a contract, with {counted(len(times), 'run')} on each problem, given {time(times[0])} to "
        f"{timed(times[-1], axis)}"
    )
