"""Two commands at once on a folder that is not there yet."""

from __future__ import annotations

import pytest

from polarbear.store import Store
from tests.support import Project


@pytest.mark.slow
def test_two_races_started_together_on_a_new_folder_do_not_take_it_for_something_else(
    project: Project,
):
    project.configure(race={"limits": {"rounds": 1}}, inference={"draws": 400})
    started = [project.start("race", "config.yaml", "--workers", "1") for _ in range(2)]
    ends = [(process.communicate()[1], process.returncode) for process in started]
    assert [code for _, code in ends if code in (0, 3)]  # settled, or at the limit of one round
    for words, code in ends:
        assert code in (0, 3) or "is being written by process" in words
    assert Store.open(project.store).rounds.numbers() == [1]


def test_a_folder_that_a_killed_command_began_is_taken_over(project: Project):
    project.configure()
    project.store.mkdir()
    (project.store / "runs").mkdir()
    (project.store / "lock").write_text("")
    (project.store / ".writing-1a2b3c4d").write_text('{"form')
    done = project("run", "config.yaml", "--instances", "1")
    assert done.returncode == 0, done.stderr
    assert not (project.store / ".writing-1a2b3c4d").exists()
