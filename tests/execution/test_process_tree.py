"""A run and everything it started is gone when it ends, however it ends."""

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from polarbear.config.configuration import Config
from polarbear.errors import PolarBearError
from polarbear.execution import process_tree
from polarbear.execution.outcome import RunLimits, Status
from polarbear.execution.pool import Pool
from polarbear.execution.worker_log import log_stream
from polarbear.execution.worker_process import WorkerProcess
from tests.execution.test_pool import GENEROUS, GOOD, configured, outcome_of, run, tasks
from tests.support import Project, no_space, solver

LINUX = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="without a subreaper some of these get away"
)
# Processes that a program may leave behind; SLEEP stands for the command of a sleeper.
GETS_AWAY = {
    "a child": "SLEEP & echo 1 2",
    "a child in a new session": "setsid SLEEP & echo 1 2",
    "an orphan": "(setsid SLEEP &); echo 1 2",
    "a daemon without an environment": "(setsid env -i SLEEP &); echo 1 2",
    "one that ignores signals": "setsid sh -c 'trap \"\" HUP INT TERM; SLEEP; SLEEP' & echo 1 2",
    "one behind a failure": "setsid SLEEP & echo 1 2; exit 3",
    "one behind nonsense": "setsid SLEEP & echo nonsense",
}


class Sleepers:
    """Processes that sleep, identified by the number of seconds for which they do."""

    def __init__(self) -> None:
        self.seconds = f"{secrets.randbelow(10**6) + 10**6}.{secrets.randbelow(10**6)}"
        self.command = f"/bin/sleep {self.seconds}"

    def alive(self) -> list[psutil.Process]:
        processes = psutil.process_iter()
        return [process for process in processes if self.seconds in " ".join(_command(process))]


@pytest.fixture
def sleepers() -> Iterator[Sleepers]:
    """The sleepers of a test, which leaves none of them, even if it fails."""
    sleepers = Sleepers()
    yield sleepers
    for process in sleepers.alive():
        process.kill()


def _command(process: psutil.Process) -> list[str]:
    try:
        return [] if process.status() == psutil.STATUS_ZOMBIE else process.cmdline()
    except psutil.Error:
        return []


def shell(script: str, sleepers: Sleepers, name: str = "shell") -> dict[str, Any]:
    command = ["sh", "-c", script.replace("SLEEP", sleepers.command)]
    return {"name": name, "use": "command", "command": command}


def programs(*entries: dict[str, Any], count: int = 1) -> Config:
    names = [f"instance-{number}" for number in range(count)]
    return configured(*entries, instances={"suite": "files", "names": names})


@LINUX
def test_what_a_program_leaves_behind_is_gone_when_its_run_ends(sleepers: Sleepers):
    config = programs(*(shell(script, sleepers, name) for name, script in GETS_AWAY.items()))
    with Pool(config.instances, config.setting, 1, GENEROUS) as workers:
        for task in tasks(config):
            (outcome,) = workers.run([task])
            assert outcome.status in (Status.ENDED, Status.CRASHED, Status.BAD_OUTPUT)
            assert sleepers.alive() == [], task.algorithm.name  # before the pool is left


def test_output_is_read_until_the_program_ends_not_until_its_children_do(sleepers: Sleepers):
    config = programs(shell("SLEEP & echo 1 5; echo 7 3; printf '9 2'", sleepers))
    outcome = outcome_of(run(config), "shell")
    assert outcome.status is Status.ENDED
    assert outcome.values.tolist() == [5, 3, 2]
    assert outcome.seconds < float(sleepers.command.split()[1])


@LINUX
@pytest.mark.parametrize(
    ("script", "status"),
    [("setsid SLEEP & SLEEP", Status.TIMEOUT), ("setsid SLEEP & kill -9 $PPID; SLEEP", None)],
    ids=["a run that is killed at its limit", "a program that kills its worker"],
)
def test_nothing_is_left_of(script: str, status: Status | None, sleepers: Sleepers):
    limits = RunLimits(seconds=1.5, memory=2**32)
    outcome = outcome_of(run(programs(shell(script, sleepers)), limits=limits), "shell")
    assert outcome.status.failed
    assert status in (None, outcome.status)
    assert sleepers.alive() == []


def test_orphans_are_found_by_their_tag_without_a_subreaper(sleepers, monkeypatch, wait_until):
    tag = secrets.token_hex(8)
    monkeypatch.setenv(*next(iter(process_tree.tagged_environment(tag).items())))
    subprocess.run(["sh", "-c", f"(setsid {sleepers.command} &)"], check=True)
    wait_until(sleepers.alive)
    monkeypatch.delenv(process_tree.TAG_VARIABLE)
    assert process_tree.kill_tagged("another") == 0
    assert process_tree.kill_tagged(tag) == 1
    assert sleepers.alive() == []


def test_a_problem_that_lost_its_processes_is_built_again(tmp_path: Path):
    (tmp_path / "mine.py").write_text(
        "import subprocess, sys\n"
        "class Served:\n"
        "    lower, upper = [0.0], [1.0]\n"
        "    def __init__(self):\n"
        "        self.server = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\n"
        "    def __call__(self, x):\n"
        "        assert self.server.poll() is None, 'the server is gone'\n"
        "        return float(x[0])\n"
        "def served(seed):\n"
        "    return Served()\n"
    )
    suite = {"suite": "python", "function": f"{tmp_path}/mine.py:served"}
    entries = (solver("stops", name, after=3) for name in ("first", "second"))
    config = configured(*entries, instances=suite)
    outcomes = run(config, workers=1)
    assert [outcome.status for outcome in outcomes.values()] == [Status.ENDED] * 2


def test_dead_children_of_multiprocessing_are_left_to_it():
    """Otherwise it takes them for alive, and may later signal a process of the same number."""
    script = (
        "import multiprocessing, time\n"
        "from multiprocessing import active_children\n"
        "from polarbear.execution.process_tree import kill_descendants\n"
        "start = multiprocessing.get_context('fork').Process\n"
        "child = start(target=time.sleep, args=(10**6,), daemon=True)\n"
        "child.start()\n"
        "print(kill_descendants(), child.exitcode, active_children())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == "1 -9 []\n", done.stderr


def test_a_process_that_reuses_the_number_of_a_dead_worker_is_not_killed(sleepers: Sleepers):
    config = configured(GOOD)
    with Pool(config.instances, config.setting, 1, GENEROUS) as workers:
        list(workers.run(tasks(config)))
        (worker,) = workers._workers
        worker.process.kill()
        worker.process.wait()  # from now on another process can get its number
        innocent = subprocess.Popen(sleepers.command.split())
        worker.process = SimpleNamespace(
            pid=innocent.pid, poll=lambda: -9, wait=lambda: -9, returncode=-9
        )
        worker.stop()
        workers._workers.clear()
        assert innocent.poll() is None
        innocent.kill()
        assert innocent.wait() == -signal.SIGKILL


@pytest.mark.parametrize("times", [2, 10**6])
def test_a_worker_killed_while_it_starts_is_replaced_unless_none_comes_up(monkeypatch, times):
    start = Pool._start
    killed = []

    def started(self: Pool) -> WorkerProcess:
        worker = start(self)
        if len(killed) < times:
            os.kill(worker.process.pid, signal.SIGKILL)
            killed.append(worker.process.pid)
        return worker

    monkeypatch.setattr(Pool, "_start", started)
    if times > 2:
        with pytest.raises(PolarBearError, match="could not be started: its process died"):
            run(configured(GOOD), workers=1)
    else:
        assert outcome_of(run(configured(GOOD), workers=1), GOOD["name"]).status is Status.BUDGET
        assert len(killed) == 2


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["starting", "running"])
def test_killed_the_hard_way_a_run_leaves_no_process_and_no_folder(
    project: Project, wait_until: Callable[..., None], moment: str, sleepers: Sleepers
):
    temporary = project.folder / "temporary"
    temporary.mkdir()
    entry = shell("(setsid SLEEP &); echo 1 2; SLEEP", sleepers)
    project.configure(algorithms=[entry], instances={"suite": "files", "names": ["a"]})
    process = subprocess.Popen(
        project.command("run", "config.yaml"),
        cwd=project.folder,
        env={**os.environ, "TMPDIR": str(temporary)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until(lambda: list(temporary.iterdir()))
    if moment == "running":
        wait_until(
            lambda: len(sleepers.alive()) >= 3
        )  # two sleepers, and the shell that started them
    family = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    wait_until(lambda: not list(temporary.iterdir()) and not sleepers.alive())
    wait_until(lambda: not any(p.is_running() and p.status() != "zombie" for p in family))


def test_a_temporary_folder_that_cannot_be_made_is_an_error_with_a_remedy(monkeypatch):
    monkeypatch.setattr(process_tree.Path, "mkdir", no_space)
    with pytest.raises(PolarBearError, match="No space left on device; free some space, or let"):
        run(configured(GOOD))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has a disk that is always full")
def test_printing_to_a_full_disk_is_no_failure():
    handle = os.open("/dev/full", os.O_WRONLY)
    stream = log_stream(handle)
    print("x" * 100_000, file=stream, flush=True)
    stream.write("\ud800 and more\n")
    stream.flush()
    os.close(handle)
