"""All errors that PolarBear raises.

PolarBearError                 caught once, at the command line: exit code 1
├── ConfigError                an invalid configuration, with file, line and key
├── MissingExtraError          a feature whose optional packages are not installed
├── ProblemError               an instance that cannot be drawn or built
│   └── SuiteExhaustedError    a finite suite has no further instance
├── ClusterError               a cluster that does not answer or lacks something
├── AlgorithmError             an algorithm that cannot be run or violates its interface
│   ├── BadOutputError         a program printed something that is not a trajectory
│   └── KilledFromOutsideError a program was killed by a signal from outside
├── ImportFailedError          data that cannot be imported
├── ExportFailedError          data that cannot be exported
├── RankingError               values or positions that cannot be ranked
├── InferenceError             a posterior that cannot be computed from this data
│   └── StanError              CmdStan, its compiler or a Stan program is missing or fails
├── RaceError                  a race that cannot be started or continued
├── SelectionError             a choice that cannot be made from this posterior and preference
├── ReportError                a report or figure that cannot be created or written
└── StoreError                 a store that cannot be read or written
    ├── NotAStoreError         the folder is no store
    ├── StoreDamagedError      a file was changed or lost; `polarbear repair` helps
    ├── StoreVersionError      a format this version does not know
    ├── StoreLockedError       another process writes
    ├── StoreReadOnlyError     no permission to write
    ├── StoreFullError         no space left; what was stored is intact
    └── StoreMismatchError     the configuration contradicts what is stored

PolarBearWarning               a possible problem with results
PlugInWarning                  a third-party plug-in is left out, with the reason
BudgetExhausted                not an error: ends an algorithm's run from inside its objective
"""

from __future__ import annotations

import re

from polarbear.wording import visible

_ENDLESS = re.compile(r"\S{1000,}")  # a path may be long


class PolarBearError(Exception):
    """A problem that users can solve; the text says what was found, expected, and to do next.

    It may quote files of others: control characters are escaped, and very long words are cut.
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
    why: str = ""  # a short reason, without file and remedy


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
    """A possible problem with results."""


class PlugInWarning(PolarBearWarning):
    """A third-party plug-in cannot be used; all others can."""


class BudgetExhausted(BaseException):
    """Raised by a recorded objective once the budget is spent.

    A BaseException, so that ``except Exception`` in a solver does not catch it.
    """
