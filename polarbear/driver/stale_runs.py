"""Stored runs that were made by other code or options than their algorithm has now."""

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
class StaleRuns:
    """Runs of an algorithm from before a change, and what has changed."""

    algorithm: str
    runs: pl.DataFrame
    changes: tuple[str, ...]
    sources: bool  # whether files or packages have changed, not only options
    fingerprints: tuple[Fingerprint, ...]

    @property
    def words(self) -> str:
        return (
            f"{self.algorithm}: {joined(self.changes)}; {counted(len(self.runs), 'run')} from "
            "before that"
        )


@dataclass(frozen=True)
class Survey:
    """Stale runs in a store, and runs of unknown origin, by a configuration."""

    current: Mapping[str, str]
    stale: tuple[StaleRuns, ...]
    unknown: Mapping[str, int]  # runs of unknown origin, which count as made by the present code


def survey(config: Config, store: Store) -> Survey:
    """Compare the fingerprint of each run with the present one."""
    current = fingerprints(config)
    runs = store.all_runs()
    stale, unknown = [], {}
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
            stale.append(_stale_runs(store, name, mine, wrong, now))
    return Survey(current, tuple(stale), unknown)


def _stale_runs(
    store: Store, name: str, runs: pl.DataFrame, wrong: Sequence[Fingerprint], now: str
) -> StaleRuns:
    rows = runs.filter(pl.col("fingerprint").is_in(wrong, nulls_equal=True))
    made_by = [_known(store, name, one) for one in wrong]
    changes = dict.fromkeys(line for one in made_by for line in changes_between(one, now))
    sources = any(not same_sources(one, now) for one in made_by)
    return StaleRuns(name, rows, tuple(changes), sources, tuple(wrong))


def _known(store: Store, name: str, fingerprint: Fingerprint) -> str:
    """The fingerprint of a run, or the one that it was declared to be equal to."""
    for one in store.provenance.alike(name, fingerprint):
        if one is not None:
            return one
    return of_options_only(name, store.config["algorithms"][name])
