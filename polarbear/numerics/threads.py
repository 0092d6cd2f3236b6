"""Work shared by threads: NumPy, SciPy and compiled loops release the interpreter's lock."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


class CancelledWork(BaseException):
    """Work was cancelled; not an Exception, since it is no failure that anybody handles."""


@dataclass(frozen=True)
class Threads:
    """The number of threads that may share some work, and an event that cancels the work."""

    count: int | None = None  # by default one for each processor
    cancelled: threading.Event | None = None

    @property
    def number(self) -> int:
        return self.count or available_processors()

    def check_not_cancelled(self) -> None:
        """End the work here if it was cancelled."""
        if self.cancelled is not None and self.cancelled.is_set():
            raise CancelledWork


ALL_THREADS = Threads()


def in_threads(
    run: Callable[[Item], Result], items: Iterable[Item], threads: Threads = ALL_THREADS
) -> list[Result]:
    """Call ``run`` for each item; return the results in the order of the items.

    Work that is cancelled ends with CancelledWork before its next item.
    """
    items = list(items)
    n_threads = min(threads.number, len(items))

    def run_unless_cancelled(item: Item) -> Result:
        threads.check_not_cancelled()
        return run(item)

    if n_threads <= 1:
        return [run_unless_cancelled(item) for item in items]
    with ThreadPoolExecutor(n_threads) as pool:
        futures = [pool.submit(run_unless_cancelled, item) for item in items]
        try:
            return [future.result() for future in futures]
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Multiply matrices by one BLAS thread each.

    Many small products from several threads would otherwise wait for BLAS's own threads, and the
    rounding of a product would depend on their number.
    """
    with _controller("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas"):
        yield


@cache
def _controller(with_scipy: bool) -> ThreadpoolController:
    """The BLAS libraries in this process, found once: SciPy brings one in addition to NumPy's."""
    from threadpoolctl import ThreadpoolController  # not needed to read a store

    return ThreadpoolController()


def available_processors() -> int:
    """The number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
