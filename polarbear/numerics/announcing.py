"""Announces compilation, without loading the compiler."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_waiting: list[Callable[[], None]] = []  # callbacks, each called once


@contextmanager
def on_first_compilation(say: Callable[[], None]) -> Iterator[None]:
    """Call ``say`` once if anything has to be compiled, which may take a while."""
    _waiting.append(say)
    try:
        yield
    finally:
        if say in _waiting:
            _waiting.remove(say)


def announce() -> None:
    """Call and forget the waiting callbacks."""
    while _waiting:
        _waiting.pop()()
