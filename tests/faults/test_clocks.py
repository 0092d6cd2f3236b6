"""A clock that is wrong by centuries neither damages a store nor ends a command."""

import time
from datetime import UTC, datetime, tzinfo
from pathlib import Path

import pytest

import polarbear as pb
from polarbear.store import StoreOnDisk, moments
from tests.support import Project

YEARS = [1890, 4000]
SECONDS_PER_YEAR = 365.25 * 86400
# A worker imports this module before anything else.
SITE_CUSTOMIZE = """
import time
time.time = lambda: {seconds} + time.monotonic()
"""


def seconds_of(year: int) -> float:
    """The time of a clock that shows a year."""
    return (year - 1970) * SECONDS_PER_YEAR


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch):
    """A function that sets the clock of this process to a year."""

    def set_to(year: int) -> None:
        class Clock(datetime):
            @classmethod
            def now(cls, tz: tzinfo | None = None) -> datetime:
                return datetime(year, 6, 1, tzinfo=tz)

        monkeypatch.setattr(time, "time", lambda: seconds_of(year) + time.monotonic())
        monkeypatch.setattr(moments, "datetime", Clock)

    return set_to


@pytest.mark.slow
@pytest.mark.parametrize("year", YEARS)
def test_commands_work_whatever_the_clock_shows(project: Project, set_clock, year: int):
    project.configure(race={"limits": {"rounds": 2}})
    set_clock(year)
    project.done("check", "config.yaml")
    project.race("config.yaml", "--page", "page.html")
    project.done("run", "config.yaml", "--instances", 12)
    for command in ("status", "select", "report", "infer", "verify", "repair"):
        project.done(command, "config")
    project.done("export", "config", "--format", "csv", "--to", "exported")
    project.done("forget", "config", "--algorithm", "random")
    project.race("config.yaml")
    project.done("verify", "config")


def test_runs_are_added_when_the_clock_jumps(project: Project, set_clock):
    project.configure()
    for count, year in enumerate((2026, 4000, 1890), 1):
        set_clock(year)
        project.done("run", "config.yaml", "--instances", count)
        project.done("verify", "config")
    started = StoreOnDisk.open(project.store).runs()["started"]
    assert started.min() == datetime(1970, 1, 1, tzinfo=UTC)
    assert started.max().year == 4000


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "dask"])
@pytest.mark.parametrize("year", YEARS)
def test_a_worker_may_have_such_a_clock(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, year: int
):
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE_CUSTOMIZE.format(seconds=seconds_of(year)))
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=":")
    project.configure(execution={"workers": 2, "engine": engine})
    with pb.use_executor(None):
        project.done("run", "config.yaml")
    runs = StoreOnDisk.open(project.store).runs()
    assert len(runs) == 6
    assert set(runs["started"].dt.year()) == {max(year, 1970)}
    project.done("verify", "config")
