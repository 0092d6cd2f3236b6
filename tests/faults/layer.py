"""A layer in the place of `polarbear.store.fs`: it writes down what is asked, or refuses it."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from polarbear.store import fs

WRITES = ("create", "put", "sync", "rename", "remove", "make_folder", "sync_folder")
STEPS = ("read", *WRITES)


@dataclass(frozen=True)
class Step:
    """One thing asked of the disk; ``data`` is what was put, ``to`` what a file was renamed to."""

    what: str
    path: Path
    data: bytes = b""
    to: Path | None = None


class PowerCut(BaseException):
    """Nothing runs after a power cut; what handlers still try is refused."""


def step_of(what: str, target: Any, *more: Any) -> Step:
    path = Path(target if isinstance(target, Path) else target.name)
    if what == "put":
        return Step(what, path, data=bytes(more[0]))
    return Step(what, path, to=more[0]) if what == "rename" else Step(what, path)


@contextmanager
def under_the_store(around: Callable[[Step, Callable[[], Any]], Any]) -> Iterator[None]:
    """Everything asked of the disk goes through ``around(step, do)``, which may do it or not."""

    def through(what: str) -> Callable[..., Any]:
        original = getattr(fs, what)

        def asked(*arguments: Any) -> Any:
            return around(step_of(what, *arguments), lambda: original(*arguments))

        return asked

    with ExitStack() as stack:
        for what in STEPS:
            stack.enter_context(mock.patch.object(fs, what, through(what)))
        yield


@contextmanager
def recorded() -> Iterator[list[Step]]:
    """The steps that change the disk, as they are done."""
    steps: list[Step] = []

    def around(step: Step, do: Callable[[], Any]) -> Any:
        if step.what in WRITES:
            steps.append(step)
        return do()

    with under_the_store(around):
        yield steps


@contextmanager
def killed(at: int) -> Iterator[None]:
    """The process dies before it changes the disk for the n-th time, counted from 0."""
    count = 0

    def around(step: Step, do: Callable[[], Any]) -> Any:
        nonlocal count
        if step.what not in WRITES:
            return do()
        count += 1
        if count > at:
            raise PowerCut
        return do()

    with under_the_store(around):
        yield


@contextmanager
def failing(at: int, number: int, lasting: bool = False) -> Iterator[list[Step]]:
    """The n-th step fails with this error of the system, and with ``lasting`` every later one.

    Gives the steps that were asked for, reading included. Of a file that no more fits half is
    written, as a full disk does it.
    """
    steps: list[Step] = []

    def around(step: Step, do: Callable[[], Any]) -> Any:
        steps.append(step)
        place = len(steps) - 1
        if place == at or (lasting and place > at):
            if step.what == "put":
                step.path.write_bytes(step.data[: len(step.data) // 2])
            raise OSError(number, os.strerror(number), str(step.path))
        return do()

    with under_the_store(around):
        yield steps
