"""Kills a race with all of its process group at a step of its start.

    python killed_starts.py FOLDER PROCESS STEP...

PROCESS is the one whose steps are counted: the race, a worker, or the process of a run. A step is a
line of Python that it executes. For each STEP, a race is started whose temporary folder is
FOLDER/STEP, and killed there. It prints the steps that were reached.
"""

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import polarbear.execution
from polarbear.config.configuration import parse
from polarbear.execution import worker_process
from polarbear.execution.outcome import RunLimits, Task
from polarbear.execution.pool import Pool
from polarbear.settings.options import Source

ROOM = os.path.dirname(polarbear.execution.__file__)  # noqa: PTH120 - compared with texts
LIBRARIES = (tempfile.__file__, worker_process.subprocess.__file__)
RACE = "race"
WORKER = "worker"
RUN_PROCESS = "run process"
STEP_VARIABLE = "KILL_AT_STEP"
# A worker imports this module before anything else.
SITE_CUSTOMIZE = """
import os
from tests.faults import killed_starts
killed_starts.kill_at_the_step_of_the_environment()
"""


def kill_at(step: int, process: str, race: int) -> None:
    """Kill a race, and this process, before it executes a line of this number."""
    left = step

    def trace_lines(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        if event == "line":
            left -= 1
            if left < 0:
                os.killpg(race, signal.SIGKILL)
        return trace_lines

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        file = frame.f_code.co_filename
        is_counted = file.startswith(ROOM) or file in LIBRARIES
        return trace_lines if is_counted else None

    def trace_in_child() -> None:
        if process == RUN_PROCESS:
            sys.settrace(trace)

    if process == RUN_PROCESS:
        os.register_at_fork(after_in_child=trace_in_child)
    else:
        sys.settrace(trace)


def kill_at_the_step_of_the_environment() -> None:
    """Kill the race at the step of this worker, or of its run process, that a variable names."""
    process, step, race = os.environ.get(STEP_VARIABLE, "::").split(":")
    is_worker = worker_process.WORKER_MODULE in sys.orig_argv
    if process in (WORKER, RUN_PROCESS) and is_worker:
        kill_at(int(step), process, int(race))


def race_until_step(folder: Path, process: str, step: int) -> None:
    """Execute a run in a pool; this process is killed at a step before."""
    os.setsid()
    tempfile.tempdir = str(folder)
    os.environ[STEP_VARIABLE] = f"{process}:{step}:{os.getpid()}"
    data = {
        "algorithms": [{"name": "sleep", "use": "command", "command": "sleep 1000"}],
        "instances": {"suite": "files", "names": ["a"]},
        "budget": {"grid": [1]},
    }
    config = parse(data, Source("test"))
    instance = config.instances.instance(0, config.setting)
    task = Task(config.algorithms[0], instance, 1, 1)
    pool = Pool(config.instances, config.setting, 1, RunLimits(2.0, 2**32))
    if process == RACE:
        kill_at(step, process, os.getpid())
    with pool:
        list(pool.run([task]))


def in_child(act: Callable[[], None]) -> int:
    """Call a function in a forked process; return its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        act()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def main() -> None:
    parent, process, *steps = sys.argv[1:]
    site = Path(parent) / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE_CUSTOMIZE)
    sys.path.insert(0, str(site))
    for step in steps:
        folder = Path(parent) / step
        folder.mkdir()
        exit_code = in_child(partial(race_until_step, folder, process, int(step)))
        if exit_code == 0:  # the run had ended before
            return
        assert exit_code == -signal.SIGKILL, exit_code
        print(step, flush=True)


if __name__ == "__main__":
    main()
