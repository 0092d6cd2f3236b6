"""Enumerations: the values of options that have a fixed set. Importing them takes no time."""

from enum import StrEnum


class InferenceEngine(StrEnum):
    """The program that computes a posterior."""

    NATIVE = "native"
    STAN = "stan"


class Method(StrEnum):
    """The algorithm that computes a posterior; each engine has some of them."""

    AUTO = "auto"
    MCMC = "mcmc"
    LAPLACE = "laplace"
    SPLIT_HMC = "split-hmc"
    PATHFINDER = "pathfinder"
    ADVI_MEANFIELD = "advi-meanfield"
    ADVI_FULLRANK = "advi-fullrank"


class ExecutionEngine(StrEnum):
    """The place where runs are executed: processes of this machine, or workers of Dask."""

    LOCAL = "local"
    DASK = "dask"


class Isolation(StrEnum):
    """What a process that executes code of the user serves: one algorithm, or one run."""

    ALGORITHM = "algorithm"
    RUN = "run"


class Theme(StrEnum):
    """The colours of figures."""

    LIGHT = "light"
    DARK = "dark"
    PRINT = "print"


class TimeAxis(StrEnum):
    """The scale of the time axis of figures; 'grid' is that of the grid."""

    GRID = "grid"
    LOG = "log"
    LINEAR = "linear"


class TargetScale(StrEnum):
    """The scale on which the targets of an ECDF are evenly spaced."""

    AUTO = "auto"
    LOG = "log"
    LINEAR = "linear"


class Alignment(StrEnum):
    """How the times of several stores are aligned: by value, or as shares of their budgets."""

    AUTO = "auto"
    UNITS = "units"
    SHARE = "share"


class Spacing(StrEnum):
    """Even steps in log t, or in t."""

    LOG = "log"
    LINEAR = "linear"


class AfterEnd(StrEnum):
    """The state of an algorithm after its last row: it keeps its best value, or is absent."""

    KEEPS = "keeps"
    ABSENT = "absent"


class FailedCandidate(StrEnum):
    """The meaning of a run that fails for the candidate of a gate only."""

    WORSE = "worse"
    RANKED = "ranked"


class Undecided(StrEnum):
    """The meaning of an undecided gate for its exit code and its JUnit file."""

    PASS = "pass"
    FAIL = "fail"


class CmdStanSource(StrEnum):
    """The origin of CmdStan."""

    AUTO = "auto"
    CMDSTANPY = "cmdstanpy"
    WHEELS = "wheels"
