"""Stored runs whose fingerprint is not the present one, and what has changed since them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl
from pydantic import ValidationError

from polarbear.algorithms import ADAPTERS, Algorithm
from polarbear.config.contradictions import differences
from polarbear.driver.fingerprints import chosen_options
from polarbear.errors import ConfigError
from polarbear.store import StoreOnDisk
from polarbear.store.runs import Fingerprint
from polarbear.wording import counted, joined


def _algorithm(name: str, entry: Mapping[str, object]) -> Algorithm | None:
    """An algorithm from its options; None if they are imported or of another version."""
    try:
        return ADAPTERS[str(entry["use"])].model_validate({"name": name, **entry})
    except (ConfigError, ValidationError, KeyError):
        return None


def known_options(name: str, entry: Mapping[str, object]) -> dict[str, object]:
    """Options as a fingerprint has them, from those that a store keeps with all defaults."""
    algorithm = _algorithm(name, entry)
    return dict(entry) if algorithm is None else chosen_options(algorithm)


def changes_between(before: Fingerprint, now: Fingerprint) -> list[str]:
    """The differences of two fingerprints in words: files, packages, options."""
    found = source_changes(before, now)
    if before is None or now is None:
        return found
    old, new = (_completed(json.loads(one)["options"]) for one in (before, now))
    return found + differences(old, new)


def source_changes(before: Fingerprint, now: Fingerprint) -> list[str]:
    """The differences of files and packages, whatever the options."""
    if before is None or now is None:
        return ["the origin of some runs is unknown"]
    old, new = json.loads(before), json.loads(now)
    found = []
    for name in sorted({*old["files"], *new["files"]}):
        if old["files"].get(name) != new["files"].get(name):
            gone = "" if name in new["files"] else " (gone)"
            found.append(f"{name}{gone}" if name in old["files"] else f"{name} (new)")
    for name in sorted({*old["packages"], *new["packages"]}):
        was, is_now = (side["packages"].get(name, "not used") for side in (old, new))
        if was != is_now:
            found.append(f"package {name} ({was} then, {is_now} now)")
    return found


def _completed(options: Mapping[str, object]) -> Mapping[str, object]:
    """Options with their defaults, so that a difference shows both values."""
    made = _algorithm("any", options)
    if made is None:
        return options
    return made.model_dump(mode="json", by_alias=True, exclude={"name"})


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


def stale_runs(store: StoreOnDisk, current: Mapping[str, str]) -> list[StaleRuns]:
    """The runs of each algorithm whose fingerprint is not the current one."""
    runs, found = store.all_runs(), []
    for name, now in current.items():
        mine = runs.filter(pl.col("algorithm") == name)
        fitting = store.provenance.alike(name, now)
        wrong = [one for one in dict.fromkeys(mine["fingerprint"]) if one not in fitting]
        if wrong:
            rows = mine.filter(pl.col("fingerprint").is_in(wrong, nulls_equal=True))
            changes = dict.fromkeys(line for one in wrong for line in changes_between(one, now))
            sources = any(source_changes(one, now) for one in wrong)
            found.append(StaleRuns(name, rows, tuple(changes), sources, tuple(wrong)))
    return found
