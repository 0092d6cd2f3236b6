"""Work shared by threads, of which the one that asks is one."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest

from polarbear.numerics import threads
from polarbear.numerics.threads import in_threads


@pytest.mark.parametrize("count", [0, 1, 5, 513, 5000])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_the_items_order_however_many_are_handed_over_at_once(count, workers):
    assert in_threads(lambda k: k * k, range(count), workers) == [k * k for k in range(count)]


def test_as_many_threads_work_as_are_wanted_and_who_asks_is_one_of_them():
    all_there = threading.Barrier(3, timeout=60)

    def who(_: int) -> threading.Thread:
        all_there.wait()
        return threading.current_thread()

    working = in_threads(who, range(3), 3)
    assert len(set(working)) == 3
    assert threading.current_thread() in working


def test_helpers_stay_and_are_asked_again():
    for _ in range(300):
        in_threads(str, range(3), 3)
    helpers = [one for one in threading.enumerate() if one.name.startswith("helper")]
    assert len(helpers) <= max(threads._MOST_HELPERS, threads.available_processors())


def test_of_several_failures_the_first_in_the_items_order_is_raised():
    def run(item: int) -> None:
        if item == 1:
            time.sleep(0.1)  # so that a later one fails before it
        if item:
            raise LookupError(str(item))

    with pytest.raises(LookupError, match="1"):
        in_threads(run, range(4), 4)


def test_nothing_is_begun_after_a_failure_and_what_was_begun_is_waited_for():
    begun, ended = [], []
    both = threading.Barrier(2, timeout=60)

    def run(item: int) -> None:
        begun.append(item)
        both.wait()
        if item == 0:
            raise IndexError("as lists raise it")
        time.sleep(0.2)
        ended.append(item)

    with pytest.raises(IndexError, match="as lists raise it"):
        in_threads(run, range(100), 2)
    assert sorted(begun) == [0, 1]
    assert ended == [1]


def test_work_that_is_shared_may_share_its_own():
    def below(depth: int) -> int:
        return 1 if not depth else sum(in_threads(below, [depth - 1] * 3, 4))

    assert below(4) == 3**4


def test_a_process_that_was_forked_has_helpers_of_its_own():
    code = """
import os, threading
from polarbear.numerics import threads
from polarbear.numerics.threads import in_threads
def working():
    all_there = threading.Barrier(3, timeout=30)
    def who(_):
        all_there.wait()
        return threading.current_thread()
    return len(set(in_threads(who, range(3), 3)))
assert working() == 3
if not os.fork():
    os._exit(0 if working() == 3 else 1)
_, status = os.wait()
raise SystemExit(os.waitstatus_to_exitcode(status))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
