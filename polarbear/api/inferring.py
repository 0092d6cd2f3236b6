"""The posterior of a store's evidence: asked for, kept, and doubted where it has to be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from polarbear.api.listening import Listener
from polarbear.api.posterior import Posterior
from polarbear.api.warming import announce_stan
from polarbear.driver.evidence import Evidence, evidence_of
from polarbear.driver.posteriors import Learned, keep, learn
from polarbear.errors import ConfigError, StoreLockedError, StoreReadOnlyError
from polarbear.inference import ModelOptions
from polarbear.settings.options import Source, validate
from polarbear.store import Store as StoreOnDisk


def model_options(model: str | None, options: Mapping[str, Any]) -> ModelOptions:
    """The options of inference, as keywords give them."""
    given = dict(options) if model is None else {"model": model, **options}
    return validate(ModelOptions, given, Source("infer"))


def checked_seed(seed: int) -> int:
    """A seed that draws can derive from."""
    if seed < 0:
        raise ConfigError(f"a seed is zero or more, found {seed}")
    return seed


def infer(
    disk: StoreOnDisk,
    options: ModelOptions,
    algorithms: Sequence[str] | None,
    seed: int,
    tie_tolerance: float,
    kept: bool,
    listener: Listener,
) -> Posterior:
    """What the stored runs, or those of some algorithms, say; kept in the store unless not."""
    announce_stan(options, listener)
    evidence = evidence_of(disk, algorithms, tie_tolerance)
    learned = learn(disk, evidence, options, checked_seed(seed))
    if kept and not learned.from_store:
        _keep(disk, evidence, learned, listener)
    for problem in learned.posterior.diagnostics.problems:
        listener.doubts(problem)
    return Posterior(learned, disk.config["budget"]["axis"])


def _keep(disk: StoreOnDisk, evidence: Evidence, learned: Learned, listener: Listener) -> None:
    try:
        with disk.writing():
            keep(disk, evidence, learned)
    except (StoreLockedError, StoreReadOnlyError) as error:
        listener.not_kept(str(error))
