"""Who races: the state to go on from, newcomers that wait, and whether it is the same race."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polarbear import racing as race
from polarbear.config import KEEPS, Config, differences
from polarbear.errors import RaceError, StoreMismatchError
from polarbear.racing import RoundRecord, State
from polarbear.settings.options import unknown
from polarbear.store import Store
from polarbear.store.verify import check_rounds


def settings_kept(config: Config) -> dict[str, Any]:
    """What must not change while a race goes on; its limits may."""
    plain = config.plain()
    rules = {key: value for key, value in plain["race"].items() if key != "limits"}
    failed = config.execution.failures.ranks
    if failed != KEEPS:  # said only where it differs, so that older races go on
        rules["failures"] = failed
    if config.instances.weights:
        rules["weights"] = dict(config.instances.weights)
    return {"rules": rules, "inference": plain["inference"]}


def entrants(config: Config, store: Store, add: Sequence[str]) -> tuple[State, list[str]]:
    """The state to go on from, and the newcomers that wait to enter."""
    names = [algorithm.name for algorithm in config.algorithms]
    for name in add:
        if name not in names:
            raise RaceError(f"--add: {unknown('algorithm', name, names)} (in the configuration)")
    check_rounds(store.path)
    last, later = store.rounds.last(), store.rounds.entered()
    if last is None:
        if add:
            raise RaceError(
                f"there is no race in {store.path} that '{add[0]}' could enter; start one without "
                "--add"
            )
        first = [name for name in names if name not in later]
        newcomers = sorted((name for name in names if name in later), key=later.__getitem__)
        return race.start(first, config.budget.times.tolist(), config.race), newcomers
    state = last.state
    _check_same_race(config, store, last)
    for name in add:
        if name in state.algorithms:
            raise RaceError(
                f"--add: '{name}' is in the race in {store.path} already; a newcomer needs a name "
                "of its own"
            )
    newcomers = [name for name in names if name not in state.algorithms]
    newcomers.sort(key=lambda name: later.get(name, state.round))
    return state, [name for name in newcomers if not add or name in add]


def race_differences(config: Config, last: RoundRecord) -> list[str]:
    """Why a race cannot go on with this configuration, one readable line each."""
    state, kept = last.state, {"rules": last.rules, "inference": last.inference}
    found = differences(kept, settings_kept(config))
    times = config.budget.times.tolist()
    if times != list(state.times):
        found.append(
            f"budget.grid: stored {len(state.times)} times up to {state.times[-1]:g}, "
            f"configuration {len(times)} up to {times[-1]:g}"
        )
    names = [algorithm.name for algorithm in config.algorithms]
    found += [
        f"algorithms: '{name}' is in the race, but not in the configuration"
        for name in state.algorithms
        if name not in names
    ]
    return found


def _check_same_race(config: Config, store: Store, last: RoundRecord) -> None:
    found = race_differences(config, last)
    if found:
        listing = "\n".join(f"  {line}" for line in found)
        raise StoreMismatchError(
            f"the configuration contradicts the race in {store.path}:\n{listing}\n"
            "Undo the change, or take its decisions anew with --redecide."
        )
