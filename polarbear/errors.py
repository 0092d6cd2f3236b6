"""All errors that PolarBear raises; the command line catches PolarBearError: exit code 1."""

import re

from polarbear.wording import visible

# Words of this length are cut, since a message may quote a file; the path of a file is shorter.
_VERY_LONG_WORD = re.compile(r"\S{1000,}")


class PolarBearError(Exception):
    """A problem that users can solve; the text says what was found, expected, and to do next.

    It may quote files of others: control characters are escaped, and very long words are cut.
    """

    def __str__(self) -> str:
        return _VERY_LONG_WORD.sub(_cut, visible(super().__str__(), keep="\n"))


def _cut(word: re.Match[str]) -> str:
    return f"{word[0][:200]}…{word[0][-50:]}"


class ConfigError(PolarBearError):
    """An invalid configuration, with file, line and key."""


class MissingExtraError(PolarBearError):
    """A feature whose optional packages are not installed."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs the package '{package}', which is not installed: "
            f"install the extra '{extra}' (in PolarBear's folder: pip install '.[{extra}]')"
        )


class ProblemError(PolarBearError):
    """An instance that cannot be drawn or built."""


class ClusterError(PolarBearError):
    """A cluster that does not answer or lacks something."""


class AlgorithmError(PolarBearError):
    """An algorithm that cannot be run or violates its interface."""


class BadOutputError(AlgorithmError):
    """A program printed something that is not a trajectory."""


class KilledFromOutsideError(AlgorithmError):
    """A program was killed by a signal from outside."""


class ImportFailedError(PolarBearError):
    """Data that cannot be imported."""


class ExportFailedError(PolarBearError):
    """Data that cannot be exported."""


class RankingError(PolarBearError):
    """Values or positions that cannot be ranked."""


class InferenceError(PolarBearError):
    """A posterior that cannot be computed from this data."""


class StanError(InferenceError):
    """CmdStan, its compiler or a Stan program is missing or fails."""


class RaceError(PolarBearError):
    """A race that cannot be started or continued."""


class SelectionError(PolarBearError):
    """A choice that cannot be made from this posterior and preference."""


class ReportError(PolarBearError):
    """A report or figure that cannot be created or written."""


class StoreError(PolarBearError):
    """A store that cannot be read or written."""


class NotAStoreError(StoreError):
    """The folder is no store."""


class StoreDamagedError(StoreError):
    """A file was changed or lost; `polarbear repair` helps."""

    why: str = ""  # a short reason, without file and remedy


class StoreVersionError(StoreError):
    """A format this version does not know."""


class StoreLockedError(StoreError):
    """Another process writes."""


class StoreReadOnlyError(StoreError):
    """The folder permits no writing, or its file system has no locks, which writing needs."""


class StoreFullError(StoreError):
    """No space left; what was stored is intact."""


class StoreMismatchError(StoreError):
    """The configuration contradicts what is stored."""


class PolarBearWarning(UserWarning):
    """A possible problem with results."""


class PlugInWarning(PolarBearWarning):
    """A third-party plug-in cannot be used; all others can."""


class BudgetExhausted(BaseException):
    """Raised by a recorded objective once the budget is spent.

    A BaseException, so that ``except Exception`` in a solver does not catch it.
    """
