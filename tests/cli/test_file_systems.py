"""Commands on file systems that lack something."""

import errno
import fcntl
import os

import pytest

from tests.support import Project


@pytest.fixture(params=[errno.ENOLCK, errno.ENOSYS])
def no_locks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without locks."""

    def refuse(handle: int, operation: int) -> None:
        raise OSError(request.param, os.strerror(request.param))

    monkeypatch.setattr(fcntl, "flock", refuse)


@pytest.mark.usefixtures("no_locks")
def test_without_locks_reading_works_and_writing_says_what_to_do(collected: Project):
    for command in (["status"], ["select"], ["verify"], ["show", "--pair", "A,B"]):
        collected.done(command[0], "config", *command[1:])
    kept = collected.done("infer", "config", "--model", "dirichlet")
    assert "the file system of config has no locks" in kept.stderr
    collected.done("report", "config", "--html", "page.html")
    collected.done("export", "config", "--format", "csv", "--to", "tables")
    for command in (["race", "config.yaml"], ["repair", "config"], ["rename", "config", "A", "D"]):
        refusal = collected.refused(*command)
        assert "the file system of config has no locks" in refusal
        assert "with --store" in refusal
