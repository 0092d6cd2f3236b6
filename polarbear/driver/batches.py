"""Which instances a round is run on."""

from __future__ import annotations

from polarbear.config import Config
from polarbear.problems.base import Instance
from polarbear.racing import State


class Batches:
    """The stream of a suite's instances, in the batches that a race draws from it."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._stream: list[Instance] = []

    def first(self, count: int) -> list[Instance]:
        """The first so many instances of the stream."""
        suite, setting = self._config.instances, self._config.setting
        for index in range(len(self._stream), count):
            self._stream.append(suite.instance(index, setting))
        return self._stream[:count]

    def next(self, state: State, at_least: int = 1) -> list[Instance]:
        """What the next round is run on: new instances, or old ones for a newcomer."""
        first = state.caught_up if state.joining else state.instances
        return self._from(state, first, max(state.batch, at_least))

    def after_next(self, state: State, drawn: int, at_least: int = 1) -> list[Instance]:
        """What the round after one on so many instances can be run on, the likeliest first."""
        first = drawn + (state.caught_up if state.joining else state.instances)
        largest = self._config.race.batch.within(2 * state.batch, first)
        return self._from(state, first, max(largest, at_least))

    def _from(self, state: State, first: int, count: int) -> list[Instance]:
        """So many instances of the stream, or as many as may be used."""
        end = state.instances if state.joining else self._end
        last = first + count
        return self.first(last if end is None else min(last, end))[first:]

    @property
    def size(self) -> int | None:
        """How many instances there are, where a suite is finite."""
        return self._config.instances.size(self._config.setting)

    @property
    def _end(self) -> int | None:
        """How many instances a race may use, by its limits and by what there is."""
        ends = (self._config.race.limits.instances, self.size)
        return min((end for end in ends if end is not None), default=None)
