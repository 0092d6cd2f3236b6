"""Work shared by threads; compiled loops free the interpreter's lock."""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from threadpoolctl import ThreadpoolController

_TASKS_A_THREAD = 256  # about: of more items several are handed over at once, which takes time
_MOST_HELPERS = 32  # or one a processor; where all are busy, who asks does the rest

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    run: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> list[Result]:
    """Results in the items' order, by as many threads as there are processors unless told.

    The thread that asks is one of them. Work in a thread that nobody waits for any more
    (`given_up`) ends before its next item, by SystemExit, which a thread may end with in silence.
    """
    caller, items = threading.current_thread(), list(items)
    workers = threads or available_processors()
    stride = 1 + len(items) // (_TASKS_A_THREAD * workers)
    waiting = deque(range(0, len(items), stride))
    results: dict[int, list[Result]] = {}
    failed: dict[int, BaseException] = {}

    def run_if_wanted(item: Item) -> Result:
        if getattr(caller, "given_up", False):
            raise SystemExit
        return run(item)

    def work() -> None:
        while waiting:
            with suppress(IndexError):  # another was faster
                first = waiting.popleft()
                try:
                    results[first] = [run_if_wanted(item) for item in items[first : first + stride]]
                except BaseException as error:
                    failed[first] = error
                    waiting.clear()

    helpers = [_helpers().submit(work) for _ in range(min(workers, len(waiting)) - 1)]
    try:
        work()
    finally:
        waiting.clear()
        for helper in helpers:
            if not helper.cancel():
                helper.exception()  # when it has ended
    if failed:
        raise failed[min(failed)]
    return [result for first in sorted(results) for result in results[first]]


@cache
def _helpers() -> ThreadPoolExecutor:
    """Threads that stay, since to start one takes as long as many a task."""
    from concurrent.futures import ThreadPoolExecutor  # which who reads a store has no use for

    os.register_at_fork(after_in_child=_helpers.cache_clear)  # where there are none of them
    return ThreadPoolExecutor(max(_MOST_HELPERS, available_processors()), "helper")


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Matrix products by one thread each, while several threads of ours make many small ones.

    BLAS would have each of them wait for threads of its own: on a busy machine twenty times as
    long. With one thread a product's rounding does not depend on their number either.
    """
    with _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield


@cache
def _libraries(with_scipy: bool) -> ThreadpoolController:
    """The libraries in this process that have threads of their own; looking for them takes longer
    than many a product, and scipy brings a BLAS beside NumPy's."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def available_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
