"""Saying that loops are being compiled, without loading the compiler to find out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_waiting: list[Callable[[], None]] = []  # what to say, once each


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
    """Something is being compiled: whoever asked to know is told."""
    while _waiting:
        _waiting.pop()()
