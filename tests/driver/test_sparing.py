"""Work that takes a small part of the time: when it is due again."""

from __future__ import annotations

from polarbear.driver.sparing import OFTEN, PART, Sparing


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_what_is_quick_is_due_again_after_a_moment():
    clock = Clock()
    sparing = Sparing(clock)
    assert not sparing.due
    clock.now = OFTEN
    assert sparing.due
    with sparing.timed():
        pass
    assert not sparing.due
    clock.now += OFTEN
    assert sparing.due


def test_what_is_slow_waits_until_it_is_a_small_part_of_the_time():
    clock = Clock()
    sparing = Sparing(clock)
    with sparing.timed():
        clock.now += 3.0
    clock.now += 3.0 / PART - 0.1
    assert not sparing.due
    clock.now += 0.2
    assert sparing.due
