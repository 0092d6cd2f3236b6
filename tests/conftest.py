"""Fixtures for all tests."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from polarbear.execution.executor_choice import MakeExecutor, use_executor
from polarbear.execution.in_process import InProcess
from polarbear.numerics.threads import available_processors
from tests.support import Project, quick_executor

MOST_PROCESSES = 8  # Starting more processes costs more time than they save.
ROOT = Path(__file__).parents[1]

# Processes that tests start use the package that the tests use, not one that is installed.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
)

# Coverage is measured in the processes of the tests: measuring it in each of the thousands of
# processes that they start takes as long as the tests.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COVERAGE_PROCESS_START", None)

# On a busy machine an example may take any time, and no test may fail for that.
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """The number of processes that `-n auto` stands for: the usable processors, and one more.

    Tests of clusters, browsers and killed processes mostly wait.
    """
    return min(available_processors() + 1, MOST_PROCESSES)


@pytest.hookimpl(tryfirst=True)  # Tests are deselected by their markers after this.
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that use the fixture `browser`, which needs a package of the extra test-all."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
            item.add_marker("peer")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.fixture(scope="session", autouse=True)
def quick_runs() -> Iterator[None]:
    """Most races in tests are so short that starting workers would take longer than their runs."""
    with use_executor(quick_executor):
        yield


@pytest.fixture
def choose_executor() -> Iterator[Callable[[MakeExecutor | None], None]]:
    """A function that chooses the executor for the rest of a test."""
    with ExitStack() as stack:

        def choose(make_executor: MakeExecutor | None) -> None:
            stack.enter_context(use_executor(make_executor))

        yield choose


@pytest.fixture
def real_workers() -> Iterator[None]:
    """All runs are executed in worker processes."""
    with use_executor(None):
        yield


@pytest.fixture
def no_workers() -> Iterator[None]:
    """All runs are executed in this process."""
    with use_executor(InProcess):
        yield


@pytest.fixture
def wait_until() -> Callable[..., None]:
    """A function that waits until a condition is true, by default ten minutes at most."""

    def wait(condition: Callable[[], Any], seconds: float = 600.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.02)

    return wait
