"""Resuming a race: its state, and the newcomers that wait to enter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from polarbear import racing as race
from polarbear.config import KEEPS, Config, differences
from polarbear.errors import RaceError
from polarbear.racing import RoundRecord, State
from polarbear.settings.options import unknown
from polarbear.store import Store
from polarbear.store.verify import check_rounds


def settings_kept(config: Config) -> dict[str, Any]:
    """Settings that must not change during a race; its limits may."""
    plain = config.plain()
    rules = {key: value for key, value in plain["race"].items() if key != "limits"}
    settings: dict[str, Any] = {}
    if config.execution.failures.ranks != KEEPS:
        settings["failures"] = config.execution.failures.ranks
    if config.instances.weights:
        settings["weights"] = dict(config.instances.weights)
    return {"rules": rules, "inference": plain["inference"], "settings": settings}


def resumed(config: Config, store: Store, add: Sequence[str]) -> tuple[State, list[str]]:
    """The state to continue from, and the newcomers that wait to enter."""
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
    for name in add:
        if name in state.algorithms:
            raise RaceError(
                f"--add: '{name}' is in the race in {store.path} already; a newcomer needs "
                "another name"
            )
    newcomers = [name for name in names if name not in state.algorithms]
    newcomers.sort(key=lambda name: later.get(name, state.round))
    return state, [name for name in newcomers if not add or name in add]


def race_differences(config: Config, last: RoundRecord) -> list[str]:
    """Reasons why a race cannot continue with this configuration."""
    state = last.state
    kept = {"rules": last.rules, "inference": last.inference, "settings": last.settings}
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
