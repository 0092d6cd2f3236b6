"""A layer around `polarbear.store.fs` records each file operation, or makes it fail."""

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
    """A file operation; ``data`` is the data of a put, ``to`` the new name of a rename."""

    operation: str
    path: Path
    data: bytes = b""
    to: Path | None = None


class PowerCut(BaseException):
    """Nothing runs after a power cut: operations that handlers still try fail, too."""


def step_of(operation: str, target: Any, *arguments: Any) -> Step:
    path = Path(target if isinstance(target, Path) else target.name)
    if operation == "put":
        return Step(operation, path, data=bytes(arguments[0]))
    if operation == "rename":
        return Step(operation, path, to=arguments[0])
    return Step(operation, path)


@contextmanager
def under_the_store(around: Callable[[Step, Callable[[], Any]], Any]) -> Iterator[None]:
    """Every file operation is replaced by ``around(step, do)``, which may call ``do`` or not."""

    def wrapped(operation: str) -> Callable[..., Any]:
        original = getattr(fs, operation)

        def wrapper(*arguments: Any) -> Any:
            return around(step_of(operation, *arguments), lambda: original(*arguments))

        return wrapper

    with ExitStack() as stack:
        for operation in STEPS:
            stack.enter_context(mock.patch.object(fs, operation, wrapped(operation)))
        yield


@contextmanager
def recorded() -> Iterator[list[Step]]:
    """The steps that change the disk, as they are done."""
    steps: list[Step] = []

    def around(step: Step, do: Callable[[], Any]) -> Any:
        if step.operation in WRITES:
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
        if step.operation not in WRITES:
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

    Yields the list of steps, reading included. A put that fails writes half of its data, as on a
    full disk.
    """
    steps: list[Step] = []

    def around(step: Step, do: Callable[[], Any]) -> Any:
        steps.append(step)
        index = len(steps) - 1
        if index == at or (lasting and index > at):
            if step.operation == "put":
                step.path.write_bytes(step.data[: len(step.data) // 2])
            raise OSError(number, os.strerror(number), str(step.path))
        return do()

    with under_the_store(around):
        yield steps
