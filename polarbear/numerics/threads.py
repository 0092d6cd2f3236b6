"""Work shared by threads; compiled loops free the interpreter's lock."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

_TASKS_A_THREAD = 256  # about: of more items several are handed over at once, which takes time

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    run: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> list[Result]:
    """Results in the items' order, by as many threads as there are processors unless told.

    Work in a thread that nobody waits for any more (`given_up`) ends before its next item, by
    SystemExit, which a thread may end with in silence.
    """
    caller = threading.current_thread()

    def run_if_wanted(item: Item) -> Result:
        if getattr(caller, "given_up", False):
            raise SystemExit
        return run(item)

    def run_some(some: Sequence[Item]) -> list[Result]:
        return [run_if_wanted(item) for item in some]

    workers = threads or available_processors()
    items = list(items)
    if workers == 1:
        return run_some(items)
    stride = 1 + len(items) // (_TASKS_A_THREAD * workers)
    from concurrent.futures import ThreadPoolExecutor  # which who reads a store has no use for

    with ThreadPoolExecutor(workers) as pool:
        tasks = [items[first : first + stride] for first in range(0, len(items), stride)]
        return [result for results in pool.map(run_some, tasks) for result in results]


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
