"""Ctrl-C while the coordinator infers, and workers go on beside it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from polarbear.store import StoreOnDisk
from tests.cli.test_race import rounds, synthetic
from tests.support import Project

DECIDES_FOR_EVER = """
import itertools, pathlib, threading
from polarbear.cli import main
from polarbear.driver.loop import Race

decided = Race._decided

def for_ever(self, *arguments):
    if self.state.round == 0:
        return decided(self, *arguments)
    beside = threading.current_thread() is not threading.main_thread()
    pathlib.Path("deciding").write_text("beside" if beside else "alone")
    for _ in itertools.count():
        pass

Race._decided = for_ever
main()
"""


@pytest.mark.slow
@pytest.mark.parametrize("early", [4, 0])
def test_ctrl_c_while_a_round_is_being_decided_does_not_wait_for_the_decision(
    project: Project, wait_until: Callable[..., None], early: int
):
    rules = {"alpha": 0.999, "limits": {"rounds": 3}}  # nothing is begun early in the last
    synthetic(project, execution={"workers": 2, "early": early, "check": False}, race=rules)
    (project.folder / "deciding.py").write_text(DECIDES_FOR_EVER)
    process = subprocess.Popen(
        [sys.executable, "deciding.py", "race", "config.yaml"],
        cwd=project.folder,
        text=True,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deciding = project.folder / "deciding"
    wait_until(lambda: deciding.exists() and deciding.read_text())
    assert deciding.read_text() == ("beside" if early else "alone")
    os.killpg(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode == 130
    assert "interrupted; the same command continues from the last round" in said
    assert "Traceback" not in said
    assert list(rounds(project.store)) == ["round-0001.json"]
    kept = StoreOnDisk.open(project.store)
    assert kept.rounds.last().posterior in kept.posteriors.stored()
    project("race", "config.yaml")
    project("race", "config.yaml", "--store", "whole")
    assert rounds(project.store) == rounds(project.folder / "whole")
