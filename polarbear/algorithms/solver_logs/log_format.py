"""The description of a solver's log by regular expressions, and those of users."""

import re
from dataclasses import dataclass
from enum import StrEnum

from polarbear.settings.options import unknown

# A number as solvers print it; some use a decimal comma.
NUMBER = r"[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?(?![\d.]|,\d|[eE][-+]?\d)"
EXPRESSION = "expression"  # the name of a log that a user's regular expression describes


class Ending(StrEnum):
    """How an algorithm ends its search by itself; the values are statuses of runs."""

    PROVEN = "proven"  # it has proved that nothing is better
    INFEASIBLE = "infeasible"  # it has proved that there is no solution
    LIMIT = "limit"  # it stopped at a limit that it was given
    ENDED = "ended"  # any other way


@dataclass(frozen=True)
class LogFormat:
    """The lines of a solver's log, as regular expressions that are searched in each line.

    ``values`` have a group ``y``, the value of an incumbent in the problem's own sign, or
    ``internal``, which is negated if a line matches ``maximising``. They and ``clocks`` may have a
    group ``t``, the seconds since the solver's clock started, or ``ms``, milliseconds. ``reading``
    tells the seconds (``t``) that passed before that clock started. The line ``start`` occurs once
    in the log of a run. The first of ``endings`` that matches a line says how the search ended.
    ``silent`` is a line that shows that the solver was not told to print values, with the remedy.
    ``exit_codes`` are those of a program that has not failed.
    """

    name: str
    about: str
    values: tuple[re.Pattern[str], ...]
    clocks: tuple[re.Pattern[str], ...] = ()
    endings: tuple[tuple[re.Pattern[str], Ending], ...] = ()
    reading: re.Pattern[str] | None = None
    maximising: re.Pattern[str] | None = None
    start: re.Pattern[str] | None = None
    silent: tuple[re.Pattern[str], str] | None = None
    exit_codes: frozenset[int] = frozenset({0})

    @property
    def has_times(self) -> bool:
        """Whether its lines may tell a time."""
        return any({"t", "ms"} & {*pattern.groupindex} for pattern in (*self.values, *self.clocks))


def compiled(pattern: str) -> re.Pattern[str]:
    """A regular expression in which N stands between angle brackets for a number."""
    return re.compile(pattern.replace("<N>", NUMBER))


def named_log(read: str) -> LogFormat:
    """The log of a name, or the one that a regular expression with a group y describes."""
    from polarbear.algorithms.solver_logs import LOGS

    if read in LOGS:
        return LOGS[read]
    if "(" not in read:
        raise ValueError(f"{LOGS.refusal(read)}; or a regular expression with the groups t and y")
    try:
        pattern = re.compile(read)
    except re.error as error:
        raise ValueError(f"the regular expression {read!r} is invalid: {error}") from None
    for group in pattern.groupindex:
        if group not in ("t", "y"):
            raise ValueError(unknown("group of the regular expression", group, ("t", "y")))
    if "y" not in pattern.groupindex:
        raise ValueError(
            f"the regular expression {read!r} has no group y: write (?P<y>...) for the value, and "
            "(?P<t>...) for the time"
        )
    return LogFormat(EXPRESSION, "lines that a regular expression matches", (pattern,))
