"""An executor without worker processes, for tests and debugging.

    with pb.use_executor(pb.InProcess):
        store = pb.race("config.yaml")

Runs are then executed one after the other in the calling process: a debugger stops in them, and
short runs do not wait for a process to start. Nothing protects that process from them. The limits
of seconds and memory do not hold, what runs print is printed, and every run sets the global
generators of `random` and NumPy.
"""

import sys
import threading
from collections.abc import Iterator
from typing import Self

from polarbear.config.configuration import Config
from polarbear.execution.outcome import Executor, Outcome, Task
from polarbear.execution.run import Problems, execute
from polarbear.numerics.threads import available_processors

MAX_WAIT_SECONDS = 0.25  # before the caller is asked for tasks again


class InProcess(Executor):
    """Executes the runs of a configuration in the calling process, one after the other.

    A race plans for as many ``workers`` as the configuration has, so that it starts the same runs.
    """

    def __init__(self, config: Config, workers: int | None = None) -> None:
        self._size = workers or config.execution.workers or available_processors()
        self._folder = config.setting.folder
        self._problems = Problems(config.instances, config.setting)
        self._tasks: list[Task] = []
        self._woken = threading.Event()
        self._has_added_folder = False

    def __enter__(self) -> Self:
        self._has_added_folder = self._folder not in sys.path
        if self._has_added_folder:
            sys.path.insert(0, self._folder)
        return self

    def __exit__(self, *error: object) -> None:
        if self._has_added_folder and self._folder in sys.path:
            sys.path.remove(self._folder)

    @property
    def size(self) -> int:
        return self._size

    def wake(self) -> None:
        self._woken.set()

    def _has_room(self) -> bool:
        return len(self._tasks) < self.size

    def _is_busy(self) -> bool:
        return bool(self._tasks)

    def _submit(self, task: Task) -> None:
        self._tasks.append(task)

    def _finished(self) -> Iterator[Outcome]:
        if self._tasks:
            yield execute(self._next_task(), self._problems)
        else:
            self._woken.wait(MAX_WAIT_SECONDS)
            self._woken.clear()

    def _next_task(self) -> Task:
        """Remove and return the task to execute now."""
        return self._tasks.pop(0)
