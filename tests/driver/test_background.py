"""Work beside workers: it is waited for, unless the waiting thread is interrupted."""

from __future__ import annotations

import threading

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

    def closed() -> None:
        raise OSError("handle is closed")

    background = Background(for_ever, closed)
    background.start()
    begun.wait()
    background.give_up()
    background.join()
    assert capfd.readouterr() == ("", "")
