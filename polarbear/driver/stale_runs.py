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


def changes_between(before: Fingerprint, after: Fingerprint) -> list[str]:
    """The differences of two fingerprints in words: files, packages, options."""
    changes = source_changes(before, after)
    if before is None or after is None:
        return changes
    options_before = _completed(json.loads(before)["options"])
    options_after = _completed(json.loads(after)["options"])
    return changes + differences(options_before, options_after)


def has_contract(fingerprint: Fingerprint) -> bool:
    """Whether a run was made with one of the budgets of a contract algorithm."""
    return fingerprint is not None and "contract" in json.loads(fingerprint)["options"]


def source_changes(before: Fingerprint, after: Fingerprint) -> list[str]:
    """The differences of files and packages, whatever the options."""
    if before is None or after is None:
        return ["the origin of some runs is unknown"]
    parts_before = json.loads(before)
    parts_after = json.loads(after)
    file_changes = _file_changes(parts_before["files"], parts_after["files"])
    return file_changes + _package_changes(parts_before["packages"], parts_after["packages"])


def _file_changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    changes = []
    for name in sorted({*before, *after}):
        if name not in before:
            changes.append(f"{name} (new)")
        elif name not in after:
            changes.append(f"{name} (gone)")
        elif before[name] != after[name]:
            changes.append(name)
    return changes


def _package_changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    changes = []
    for name in sorted({*before, *after}):
        version_before = before.get(name, "not used")
        version_after = after.get(name, "not used")
        if version_before != version_after:
            changes.append(f"package {name} ({version_before} then, {version_after} now)")
    return changes


def _completed(options: Mapping[str, object]) -> Mapping[str, object]:
    """Options with their defaults, so that a difference shows both values."""
    algorithm = _algorithm("any", options)
    if algorithm is None:
        return options
    return algorithm.model_dump(mode="json", by_alias=True, exclude={"name"})


@dataclass(frozen=True)
class StaleRuns:
    """Runs of an algorithm from before a change, and what has changed."""

    algorithm: str
    runs: pl.DataFrame
    changes: tuple[str, ...]
    sources: bool  # whether files or packages have changed, not only options
    contract_changed: bool  # whether runs were made with a contract, and are not now, or reversely
    fingerprints: tuple[Fingerprint, ...]

    @property
    def words(self) -> str:
        return (
            f"{self.algorithm}: {joined(self.changes)}; {counted(len(self.runs), 'run')} from "
            "before that"
        )


def stale_runs(store: StoreOnDisk, current: Mapping[str, str]) -> list[StaleRuns]:
    """The runs of each algorithm whose fingerprint is not the current one."""
    all_runs = store.all_runs()
    all_stale = []
    for name, present in current.items():
        runs = all_runs.filter(pl.col("algorithm") == name)
        fitting = store.provenance.alike(name, present)
        others = [
            fingerprint
            for fingerprint in dict.fromkeys(runs["fingerprint"])
            if fingerprint not in fitting
        ]
        if others:
            changes = dict.fromkeys(
                change for fingerprint in others for change in changes_between(fingerprint, present)
            )
            stale = StaleRuns(
                algorithm=name,
                runs=runs.filter(pl.col("fingerprint").is_in(others, nulls_equal=True)),
                changes=tuple(changes),
                sources=any(source_changes(fingerprint, present) for fingerprint in others),
                contract_changed=any(
                    has_contract(fingerprint) != has_contract(present) for fingerprint in others
                ),
                fingerprints=tuple(others),
            )
            all_stale.append(stale)
    return all_stale
