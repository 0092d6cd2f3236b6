"""What is told before work begins: programs to be compiled, a machine that is too busy."""

from __future__ import annotations

from polarbear.api.listening import Listener
from polarbear.config import Config
from polarbear.execution.host import cores, free_cores
from polarbear.inference import ModelOptions
from polarbear.settings.grid import SECONDS
from polarbear.wording import counted, noun


def announce_stan(options: ModelOptions, listener: Listener) -> None:
    """Say so if a Stan program has to be compiled; fail now if CmdStan is not there."""
    if options.engine != "stan":
        return
    from polarbear.inference.stan import cmdstan, programs

    if not programs.is_compiled(options.model, cmdstan.find_for(options.method)):
        cmdstan.require_build_tools()
        listener.note(f"compiling the Stan program of {options.model}, once: about a minute")


def warn_of_busy_cores(config: Config, listener: Listener) -> None:
    """Seconds measured on a machine that is busy with something else come out too long."""
    if config.execution.scheduler or config.execution.job_queue:
        return  # these are other machines' cores
    from polarbear.driver.collect import workers_of  # with all that runs something

    workers, free = workers_of(config), free_cores()
    if config.budget.axis == SECONDS and workers > free:
        remedy = f"--workers {free} avoids that" if free else "wait until the machine is idle"
        listener.warn(
            f"{free} of {counted(cores(), 'core')} {noun(free, 'is', 'are')} free for "
            f"{counted(workers, 'run')} at once: seconds will come out longer than they should; "
            f"{remedy}"
        )
