"""Work shared by threads: NumPy, SciPy and compiled loops release the interpreter's lock."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(
    run: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> list[Result]:
    """Results in the order of the items, by one thread per processor unless given.

    If the calling thread has an attribute ``given_up`` that becomes true, work ends before its
    next item with SystemExit.
    """
    caller, items = threading.current_thread(), list(items)
    workers = min(threads or available_processors(), len(items))

    def run_if_wanted(item: Item) -> Result:
        if getattr(caller, "given_up", False):
            raise SystemExit
        return run(item)

    if workers <= 1:
        return [run_if_wanted(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(run_if_wanted, item) for item in items]
        try:
            return [future.result() for future in futures]
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Matrix products by one BLAS thread each.

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
