"""The axis cpu-seconds: what all processes of a run use of the processor."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

import polarbear as pb
from polarbear.execution.outcome import Status
from polarbear.numerics.processor_time import ProcessorClock, seconds_below
from tests.algorithms.test_command import Bench
from tests.support import Project

BURN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_the_clock_counts_work_and_no_sleep():
    clock = ProcessorClock(includes_this_process=True)
    begun = clock.now()
    time.sleep(0.3)
    assert clock.now() - begun < 0.1
    burn(0.2)
    assert 0.2 <= clock.now() - begun < 0.3


def test_the_clock_counts_processes_below_while_they_run_and_after_their_end():
    begun = seconds_below()
    script = (
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {BURN.format(0.3)!r}])\n"
    )
    child = subprocess.Popen([sys.executable, "-c", script + "time = input()"], stdin=-1)
    try:
        while seconds_below() - begun < 0.3:
            time.sleep(0.01)
            assert child.poll() is None
    finally:
        child.communicate(b"end\n")
    assert seconds_below() - begun >= 0.29


def test_a_program_is_charged_for_its_work_and_that_of_its_children(bench: Bench):
    body = f"import subprocess\nsubprocess.run([sys.executable, '-c', {BURN.format(0.3)!r}])\n"
    body += "time.sleep(0.5)\nprint(5, flush=True)\ntime.sleep(0.5)\nprint(4)"
    outcome = bench.run(bench.script(body), "cpu-seconds", 20.0, time="measured")
    assert outcome.status is Status.ENDED
    assert outcome.values.tolist() == [5, 4]
    first, second = outcome.times
    assert first >= 0.28
    assert second - first < 0.25  # of 0.5 s of sleep


def test_a_program_is_stopped_when_its_children_have_used_its_budget(bench: Bench):
    body = "import subprocess\nprint(3, flush=True)\n"
    body += f"subprocess.run([sys.executable, '-c', {BURN.format(1000)!r}])"
    outcome = bench.run(bench.script(body), "cpu-seconds", 0.6, time="measured")
    assert outcome.status is Status.BUDGET
    assert outcome.values.tolist() == [3]


def test_a_solvers_log_counts_from_what_the_solver_has_used(bench: Bench):
    body = "time.sleep(0.5)\nprint('o 5\\ns OPTIMUM FOUND')"
    outcome = bench.run(bench.script(body), "cpu-seconds", 20.0, read="o-lines")
    assert outcome.status is Status.PROVEN
    assert outcome.times[0] <= outcome.reached < 0.4  # the proof is a line of its own


def test_an_algorithm_in_python_is_charged_for_its_work_only(project: Project):
    (project.folder / "slow.py").write_text(
        "import time\n"
        "def burn(seconds):\n"
        "    end = time.process_time() + seconds\n"
        "    while time.process_time() < end: pass\n"
        "def run(problem, seed):\n"
        "    for k in range(1000):\n"
        "        time.sleep(0.02)\n"
        "        burn(0.02)\n"
        "        problem(problem.lower + (problem.upper - problem.lower) / (k + 2))\n"
    )
    (project.folder / "cpu.yaml").write_text(
        "algorithms:\n"
        "  - {name: slow, use: python, function: 'slow.py:run'}\n"
        "  - {name: random, use: random-search}\n"
        "instances: {suite: classic, count: 1}\n"
        "budget: {axis: cpu-seconds, grid: [0.1, 0.2]}\n"
        "execution: {workers: 1}\n"
    )
    project.done("run", "cpu.yaml", "--store", "cpu")
    store = pb.open(project.folder / "cpu")
    assert store.axis == "cpu-seconds"
    frame = store.trajectories(["slow"])
    assert frame["run_status"].unique().to_list() == ["budget"]
    assert frame["t"][0] >= 0.02
    assert frame["t"].max() == 0.2
    runs = project.json("status", "cpu")["algorithms"]
    (slow,) = [run for run in runs if run["name"] == "slow"] if "name" in runs[0] else [runs[0]]
    # 0.02 s of the processor each; sleep is not charged.
    assert slow["evaluations"] >= 7
