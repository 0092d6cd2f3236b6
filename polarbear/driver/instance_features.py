"""Stores the features that a configuration asks for, of the instances that are run."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from polarbear.config.configuration import Config
from polarbear.errors import PolarBearError, ProblemError
from polarbear.numerics.processor_time import tree_seconds
from polarbear.problems.base import Instance
from polarbear.problems.feature_sources import is_table
from polarbear.problems.instance_features import (
    FeatureFunction,
    FeatureRow,
    GivenFeatures,
    features_in_table,
)
from polarbear.settings.grid import CPU_SECONDS
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, joined

MAX_NAMES_SHOWN = 3


class FeatureCollector:
    """Adds the features of instances to a store, as far as they are not there.

    ``warn`` receives a line about instances whose features are unknown.
    """

    def __init__(self, config: Config, store: StoreOnDisk, warn: Callable[[str], None]) -> None:
        self._config = config
        self._store = store
        self._warn = warn
        self._table: dict[str, GivenFeatures] = {}
        self._function: FeatureFunction | None = None
        self._has_any = False
        source = config.instances.features
        if source is None:
            return
        self._has_any = not store.features().is_empty()
        if is_table(source):
            self._table = features_in_table(Path(config.folder, source))
        else:
            self._function = _function_of(config, source)

    def add(self, instances: Sequence[Instance]) -> None:
        """Store the features of some instances; a table replaces what is stored."""
        if self._config.instances.features is None:
            return
        rows: list[FeatureRow] = []
        if self._function is None:
            without = [instance.id for instance in instances if instance.id not in self._table]
            for instance in instances:
                if instance.id in self._table:
                    rows += self._table[instance.id].rows(instance.id)
            self._has_any = self._has_any or bool(rows)
            if without:
                self._report_missing(without, instances)
        else:
            stored = {*self._store.features()["instance"]}
            for instance in instances:
                if instance.id not in stored:
                    rows += self._computed(self._function, instance)
        if rows:
            self._store.add_features(pl.DataFrame(rows, schema=self._store.features().schema))

    def _report_missing(self, names: Sequence[str], instances: Sequence[Instance]) -> None:
        """Refuse a table that has none of the instances, and warn if it lacks some."""
        source = self._config.instances.features
        if len(names) == len(instances) and not self._has_any:
            raise ProblemError(
                f"instances.features: {source} has no row for any of the "
                f"{counted(len(instances), 'instance')}, such as '{names[0]}'; its column "
                "'instance' holds their names"
            )
        examples = joined(names[:MAX_NAMES_SHOWN])
        self._warn(
            f"{source} has no features of {counted(len(names), 'instance')}, such as {examples}"
        )

    def _computed(self, function: FeatureFunction, instance: Instance) -> list[FeatureRow]:
        """The features of an instance; none, with a warning, if their computation fails.

        One that fails on the first instance fails on all, and is refused.
        """
        try:
            rows = list(function(instance).rows(instance.id))
        except (Exception, SystemExit) as error:  # a user's function may raise anything
            line = _words_on_failure(instance, error)
            if not self._has_any:
                raise ProblemError(
                    f"instances.features: {line}; correct '{self._config.instances.features}'"
                ) from error
            self._warn(line)
            return []
        self._has_any = True
        return rows


def flaw_of_features(config: Config, instance: Instance) -> str | None:
    """Why the features of an instance cannot be had; None if they can, or none are asked for."""
    source = config.instances.features
    if source is None:
        return None
    try:
        if is_table(source):
            features_in_table(Path(config.folder, source))
        else:
            _function_of(config, source)(instance)
    except PolarBearError as error:
        return str(error)
    except (Exception, SystemExit) as error:
        return _words_on_failure(instance, error)
    return None


def _function_of(config: Config, source: str) -> FeatureFunction:
    """The function that computes features, with the clock of the axis."""
    clock = tree_seconds if config.budget.axis == CPU_SECONDS else time.perf_counter
    return FeatureFunction(config.instances, config.setting, source, clock)


def _words_on_failure(instance: Instance, error: BaseException) -> str:
    reason = f"{type(error).__name__}: {error}".partition("\n")[0]
    return f"the features of {instance.id} could not be computed: {reason}"
