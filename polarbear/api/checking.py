"""A configuration tried out before anything is spent on it."""

from __future__ import annotations

from dataclasses import dataclass

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.showing import Shown, dressed
from polarbear.config import Overrides
from polarbear.driver import collect
from polarbear.driver.check import Checked as Found
from polarbear.driver.check import check as try_out
from polarbear.wording import counted


@dataclass(frozen=True, repr=False)
class Checked(Shown, Found):
    """What a short trial of a configuration shows; nothing of it is stored."""

    def _in_a_line(self) -> str:
        return (
            f"{counted(len(self.algorithms), 'algorithm')} tried on {self.instance}: "
            f"{counted(len(self.errors), 'error')}, {counted(len(self.warnings), 'warning')}"
        )


def check(
    config: ConfigLike,
    *,
    workers: int | None = None,
    seed: int | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
) -> Checked:
    """Build one problem, run each algorithm on it for a few evaluations, and say what that shows.

    What makes every run fail, such as a program that is not there, is raised; what a trial shows
    stands among ``errors`` and ``warnings``.
    """
    settings = configurations.read(config, Overrides(seed, workers, engine, scheduler))
    collect.prepare(settings)
    with collect.pool_of(settings) as pool:
        return dressed(Checked, try_out(settings, pool))
