"""Runs in a store that something else has made than what their algorithm is now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from polarbear.config import Config
from polarbear.driver.fingerprints import (
    changes_between,
    fingerprints,
    of_options_only,
    same_options,
    same_sources,
)
from polarbear.store import Store
from polarbear.store.provenance import Fingerprint
from polarbear.wording import counted, joined


@dataclass(frozen=True)
class Outdated:
    """Runs of an algorithm that what it is now has not made, and what has changed since."""

    algorithm: str
    runs: pl.DataFrame
    changes: tuple[str, ...]
    sources: bool  # whether anything but its options in the configuration has changed
    fingerprints: tuple[Fingerprint, ...]

    @property
    def words(self) -> str:
        return (
            f"{self.algorithm}: {joined(self.changes)}; {counted(len(self.runs), 'run')} made "
            "before that"
        )


@dataclass(frozen=True)
class Survey:
    """How the runs in a store go with a configuration: what is outdated, and what does not tell."""

    current: Mapping[str, str]
    outdated: tuple[Outdated, ...]
    unknown: Mapping[str, int]  # runs by an older version, which count as made by what is there now


def survey(config: Config, store: Store) -> Survey:
    """Hold what each run says made it against what is there now."""
    current = fingerprints(config)
    runs = store.all_runs()
    outdated, unknown = [], {}
    for name, now in current.items():
        mine = runs.filter(pl.col("algorithm") == name)
        made_by: list[Fingerprint] = mine["fingerprint"].to_list()
        fitting = store.provenance.alike(name, now)
        wrong = [one for one in dict.fromkeys(made_by) if one not in fitting]
        if None in wrong and store.provenance.alike(name, None) == [None]:
            stored = store.config["algorithms"].get(name)
            if stored is None or same_options(of_options_only(name, stored), now):
                wrong.remove(None)
                unknown[name] = made_by.count(None)
        if wrong:
            outdated.append(_outdated(store, name, mine, wrong, now))
    return Survey(current, tuple(outdated), unknown)


def _outdated(
    store: Store, name: str, runs: pl.DataFrame, wrong: Sequence[Fingerprint], now: str
) -> Outdated:
    rows = runs.filter(pl.col("fingerprint").is_in(wrong, nulls_equal=True))
    made_by = [_known(store, name, one) for one in wrong]
    changes = dict.fromkeys(line for one in made_by for line in changes_between(one, now))
    sources = any(not same_sources(one, now) for one in made_by)
    return Outdated(name, rows, tuple(changes), sources, tuple(wrong))


def _known(store: Store, name: str, fingerprint: Fingerprint) -> str:
    """What made a run as far as is known: what it says, or what it was taken for."""
    for one in store.provenance.alike(name, fingerprint):
        if one is not None:
            return one
    return of_options_only(name, store.config["algorithms"][name])
