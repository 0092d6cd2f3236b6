"""The runs that wait for a worker."""

from collections import Counter, OrderedDict
from operator import itemgetter

from polarbear.driver.collect import RUNS_IN_A_ROW
from polarbear.execution.outcome import Executor, RunKey, Task


class RunQueue:
    """Tasks in the order in which they were added, from which an executor takes what suits it.

    It may prefer an algorithm for which it has a process. An algorithm is then at most
    ``RUNS_IN_A_ROW`` runs ahead of another one that waits.
    """

    def __init__(self) -> None:
        # By algorithm, each with its position in the whole queue.
        self._tasks: dict[str, OrderedDict[RunKey, tuple[int, Task]]] = {}
        self._n_added = 0
        self._n_taken: Counter[str] = Counter()  # by algorithm

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def clear(self) -> None:
        """Forget all tasks, and which were taken before."""
        self._tasks.clear()
        self._n_taken.clear()

    def add(self, task: Task) -> None:
        """Add a task at the end."""
        of_algorithm = self._tasks.setdefault(task.algorithm.name, OrderedDict())
        of_algorithm[task.key] = (self._n_added, task)
        self._n_added += 1

    def take(self, executor: Executor) -> Task:
        """Remove and return the task that an executor shall start next."""
        task = executor.preferred(self._next_tasks())
        name = task.algorithm.name
        del self._tasks[name][task.key]
        if not self._tasks[name]:
            del self._tasks[name]
        self._n_taken[name] += 1
        return task

    def _next_tasks(self) -> list[Task]:
        """The first task of all, then those of other algorithms that are not too far ahead."""
        first_tasks = [next(iter(tasks.values())) for tasks in self._tasks.values()]
        in_order = [task for _, task in sorted(first_tasks, key=itemgetter(0))]
        fewest = min(self._n_taken[name] for name in self._tasks)
        others = [
            task
            for task in in_order[1:]
            if self._n_taken[task.algorithm.name] - fewest < RUNS_IN_A_ROW
        ]
        return [in_order[0], *others]
