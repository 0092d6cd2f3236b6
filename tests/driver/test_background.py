"""Work beside workers: it is waited for, unless whoever waits is interrupted."""

from __future__ import annotations

import random
import sys
import threading
import time

import pytest

from polarbear.driver.scheduler import Background
from polarbear.numerics.threads import in_threads


def test_what_the_work_raises_is_raised_where_it_is_waited_for():
    def fails() -> None:
        raise LookupError("nothing there")

    woken = threading.Event()
    background = Background(fails, woken.set)
    background.start()
    with pytest.raises(LookupError, match="nothing there"):
        background.result()
    assert background.done
    assert woken.is_set()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("threads", [1, 2])
def test_work_that_is_given_up_ends_and_says_nothing(
    threads: int, capfd: pytest.CaptureFixture[str]
):
    begun = threading.Event()

    def for_ever() -> None:
        while True:
            in_threads(lambda _: begun.set(), range(2), threads)

    def nobody() -> None:
        raise OSError("handle is closed")

    background = Background(for_ever, nobody)
    background.start()
    begun.wait()
    background.give_up()
    background.join()
    assert capfd.readouterr() == ("", "")


def test_work_that_is_given_up_while_it_starts_threads_ends():
    """Seed 1, 300 moments by lot. An exception thrown into it, as it once was, left some for ever
    waiting for a thread that had ended unborn: the 39th and the 63rd, in two trials."""

    def for_ever() -> None:
        while True:
            in_threads(lambda _: time.sleep(0), range(16), 8)

    lot, usual = random.Random(1), sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for _ in range(300):
            background = Background(for_ever, lambda: None)
            background.start()
            time.sleep(0.01 * lot.random())
            background.give_up()
            background.join(120)
            assert not background.is_alive()
    finally:
        sys.setswitchinterval(usual)
