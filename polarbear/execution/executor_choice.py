"""The choice of another executor than the one that a configuration names, from Python."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from polarbear.config.configuration import Config
from polarbear.execution.outcome import Executor

MakeExecutor = Callable[[Config], Executor | None]
_make_executor: ContextVar[MakeExecutor | None] = ContextVar("make_executor", default=None)


@contextmanager
def use_executor(make_executor: MakeExecutor | None) -> Iterator[None]:
    """Execute the runs of all calls in this context by another executor.

    ``make_executor`` receives the configuration of a call and returns its executor, or None for
    the one that the configuration names. ``use_executor(None)`` undoes an outer choice.

    >>> with pb.use_executor(pb.InProcess):
    ...     store = pb.race(config, "in-process")
    """
    token = _make_executor.set(make_executor)
    try:
        yield
    finally:
        _make_executor.reset(token)


def chosen_executor(config: Config) -> Executor | None:
    """The executor that `use_executor` has chosen for a configuration, if any."""
    make_executor = _make_executor.get()
    return None if make_executor is None else make_executor(config)
