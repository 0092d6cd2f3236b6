"""Checks before the work begins: Stan programs to compile, busy processor cores."""

from __future__ import annotations

from polarbear.api.listening import Listener
from polarbear.config import Config
from polarbear.execution.host import cores, free_cores
from polarbear.inference import ModelOptions
from polarbear.settings.grid import SECONDS
from polarbear.wording import counted, noun


def announce_stan(options: ModelOptions, listener: Listener) -> None:
    """Announce the compilation of a Stan program; raise an error if CmdStan is missing."""
    if options.engine != "stan":
        return
    from polarbear.inference.stan import cmdstan, programs

    if not programs.is_compiled(options.model, cmdstan.find_for(options.method)):
        cmdstan.require_build_tools()
        listener.note(f"compiling the Stan program of {options.model}, once: about a minute")


def warn_of_busy_cores(config: Config, listener: Listener) -> None:
    """Warn if times in seconds are measured on cores that are busy."""
    if config.execution.scheduler or config.execution.job_queue:
        return  # the cores of other machines
    from polarbear.driver.collect import workers_of  # `infer` does not need it

    workers, free = workers_of(config), free_cores()
    if config.budget.axis == SECONDS and workers > free:
        remedy = f"--workers {free} avoids that" if free else "wait until the machine is idle"
        listener.warn(
            f"{free} of {counted(cores(), 'core')} {noun(free, 'is', 'are')} free for "
            f"{counted(workers, 'run')} at once: measured seconds will be too long; "
            f"{remedy}"
        )
