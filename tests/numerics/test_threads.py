"""Work shared by threads."""

import threading
import time

import pytest

from polarbear.numerics.threads import CancelledWork, Threads, in_threads


@pytest.mark.parametrize("count", [0, 1, 5, 5000])
@pytest.mark.parametrize("workers", [1, 3])
def test_results_come_in_the_order_of_the_items(count, workers):
    assert in_threads(lambda k: k * k, range(count), Threads(workers)) == [
        k * k for k in range(count)
    ]


def test_as_many_threads_work_as_were_asked_for():
    all_there = threading.Barrier(3, timeout=60)

    def worker(_: int) -> threading.Thread:
        all_there.wait()
        return threading.current_thread()

    assert len(set(in_threads(worker, range(3), Threads(3)))) == 3


def test_of_several_failures_the_first_in_the_order_of_the_items_is_raised():
    def run(item: int) -> None:
        if item == 1:
            time.sleep(0.1)  # so that a later one fails before it
        if item:
            raise LookupError(str(item))

    with pytest.raises(LookupError, match="1"):
        in_threads(run, range(4), Threads(4))


def test_after_a_failure_waiting_items_are_cancelled_and_running_ones_finish():
    begun = []
    ended = []

    def run(item: int) -> None:
        begun.append(item)
        if item == 0:
            raise IndexError("the first")
        time.sleep(0.1)
        ended.append(item)

    with pytest.raises(IndexError, match="the first"):
        in_threads(run, range(100), Threads(2))
    assert len(begun) < 50
    assert sorted(ended) == sorted(begun)[1:]


def test_items_may_use_threads_themselves():
    def below(depth: int) -> int:
        return 1 if not depth else sum(in_threads(below, [depth - 1] * 3, Threads(4)))

    assert below(4) == 3**4


@pytest.mark.parametrize("workers", [1, 2])
def test_cancelled_work_ends_before_its_next_item(workers: int):
    cancelled = threading.Event()
    begun = []

    def run(item: int) -> None:
        begun.append(item)
        cancelled.set()

    with pytest.raises(CancelledWork):
        in_threads(run, range(100), Threads(workers, cancelled))
    assert 1 <= len(begun) <= workers
