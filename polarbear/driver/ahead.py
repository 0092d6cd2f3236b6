"""Runs that are stored ahead of the round a race is at, since that round is replayed.

Old algorithms run on new instances only, so their later runs are out of the way. A newcomer runs on
instances that the race has seen: replayed rounds must not know those runs before they did.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping

from polarbear.driver.evidence import Tally
from polarbear.problems.base import Instance
from polarbear.racing import State
from polarbear.store.runs import StoredRun

Runs = MutableMapping[tuple[str, str], StoredRun]


class Ahead:
    """Keeps newcomers, and their runs, out of sight until the round that had them.

    ``entered`` says after which round each newcomer entered; it names none where nothing is
    replayed. ``seen`` are the instances that the newcomer in ``state`` has been run on.
    """

    def __init__(
        self,
        entered: Mapping[str, int],
        state: State,
        seen: list[Instance],
        runs: Runs,
        tally: Tally,
    ) -> None:
        self._entered, self._runs, self._tally = entered, runs, tally
        ids = {instance.id for instance in seen}
        self._hidden = {
            (name, instance): run
            for (name, instance), run in runs.items()
            if name in entered
            and (name not in state.algorithms or (name == state.joining and instance not in ids))
        }
        for name, instance in self._hidden:
            del runs[name, instance]
            tally.hide(name, instance)

    def may_enter(self, name: str, state: State) -> bool:
        """Whether nobody else is catching up, and no round is replayed that it was not in."""
        return state.joining is None and self._entered.get(name, 0) <= state.round

    def hides(self, name: str, instance: Instance) -> bool:
        """Whether a run is there, and out of sight."""
        return (name, instance.id) in self._hidden

    def bring_to_light(self, names: Iterable[str], instances: list[Instance]) -> None:
        """Let the runs count of those who run in this round."""
        for name in names:
            for instance in instances:
                if (name, instance.id) in self._hidden:
                    self._runs[name, instance.id] = self._hidden.pop((name, instance.id))
                    self._tally.show(name, instance)
