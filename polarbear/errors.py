"""Everything PolarBear raises on purpose.

PolarBearError                 caught once, at the command line: exit code 1
├── ConfigError                a configuration that cannot be meant, with file, line and key
├── MissingExtraError          something whose optional packages are not installed
├── ProblemError               an instance that cannot be drawn or built
│   └── SuiteExhaustedError    a finite suite has no further instance
├── ClusterError               other machines that do not answer, or lack something
├── AlgorithmError             an algorithm that cannot be run, or talks nonsense
│   ├── BadOutputError         a program printed something that is not a trajectory
│   └── KilledFromOutsideError a program was killed by somebody else, by no fault of its own
├── ImportFailedError          data from elsewhere that cannot be read
├── ExportFailedError          data that cannot be written in a format of others
├── RankingError               values or positions that cannot be ranked
├── InferenceError             a posterior that cannot be had from this data, model and method
│   └── StanError              CmdStan, its compiler or a Stan program is missing or fails
├── RaceError                  a race that cannot be started, or goes nowhere
├── SelectionError             a choice that cannot be made from this posterior and preference
├── ReportError                a report or figure that cannot be made or written
└── StoreError                 a store that cannot be read or written
    ├── NotAStoreError         the folder is something else
    ├── StoreDamagedError      a file in it is not what was written; `polarbear repair` helps
    ├── StoreVersionError      a format this version does not know
    ├── StoreLockedError       another process is writing
    ├── StoreReadOnlyError     no permission to write
    ├── StoreFullError         no space left; what was stored is intact
    └── StoreMismatchError     the configuration contradicts what is stored

PolarBearWarning               something to be careful about, from the Python door
PlugInWarning                  a warning: another package's plug-in is left out, and why
BudgetExhausted                not an error: ends an algorithm's run from inside its objective
"""

from __future__ import annotations

import re

from polarbear.wording import visible

_ENDLESS = re.compile(r"\S{1000,}")  # a path may be long


class PolarBearError(Exception):
    """Something the user can mend; its text says what was found, expected, and to do next.

    It may quote what stands in files of others: no character of it controls a terminal, or begins a
    line that is not meant, and a word that has no end is cut.
    """

    def __str__(self) -> str:
        return _ENDLESS.sub(_cut, visible(super().__str__(), keep="\n"))


def _cut(word: re.Match[str]) -> str:
    return f"{word[0][:200]}…{word[0][-50:]}"


class ConfigError(PolarBearError):
    pass


class MissingExtraError(PolarBearError):
    def __init__(self, what: str, package: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the package '{package}', which is not installed: "
            f"install the extra '{extra}' (in PolarBear's folder: pip install '.[{extra}]')"
        )


class ProblemError(PolarBearError):
    pass


class SuiteExhaustedError(ProblemError):
    pass


class ClusterError(PolarBearError):
    pass


class AlgorithmError(PolarBearError):
    pass


class BadOutputError(AlgorithmError):
    pass


class KilledFromOutsideError(AlgorithmError):
    pass


class ImportFailedError(PolarBearError):
    pass


class ExportFailedError(PolarBearError):
    pass


class RankingError(PolarBearError):
    pass


class InferenceError(PolarBearError):
    pass


class StanError(InferenceError):
    pass


class RaceError(PolarBearError):
    pass


class SelectionError(PolarBearError):
    pass


class ReportError(PolarBearError):
    pass


class StoreError(PolarBearError):
    pass


class NotAStoreError(StoreError):
    pass


class StoreDamagedError(StoreError):
    why: str = ""  # in a few words, without the file and without the way out


class StoreVersionError(StoreError):
    pass


class StoreLockedError(StoreError):
    pass


class StoreReadOnlyError(StoreError):
    pass


class StoreFullError(StoreError):
    pass


class StoreMismatchError(StoreError):
    pass


class PolarBearWarning(UserWarning):
    """Something that may make results worse than they look."""


class PlugInWarning(PolarBearWarning):
    """A plug-in of another package cannot be used; everything else can."""


class BudgetExhausted(BaseException):
    """Raised by a recorded objective once the budget is spent.

    A BaseException, so that a solver's own ``except Exception`` cannot swallow it and go on.
    """
