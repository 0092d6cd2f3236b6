"""A short trial of a configuration."""

from __future__ import annotations

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.config import Overrides
from polarbear.driver import collect
from polarbear.driver.check import Checked, Forecast
from polarbear.driver.check import check as run_trial

__all__ = ["Checked", "Forecast", "check"]


def check(
    config: ConfigLike,
    *,
    workers: int | None = None,
    seed: int | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
) -> Checked:
    """Build one problem, run each algorithm on it for a few evaluations, and report the findings.

    A cause that makes every run fail, such as a missing program, is raised. The findings of the
    trial are ``errors`` and ``warnings``. Nothing is stored.
    """
    settings = configurations.read(config, Overrides(seed, workers, engine, scheduler))
    collect.prepare(settings)
    with collect.pool_of(settings) as pool:
        return run_trial(settings, pool)
