"""`polarbear verify` and `polarbear repair`, as users meet them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faults.races import raced
from tests.support import Project


@pytest.fixture
def store(project: Project) -> Path:
    raced(project.folder / "store")
    return project.folder / "store"


def test_a_sound_store_is_said_to_be_sound(project: Project, store: Path):
    done = project("verify", store)
    assert done.returncode == 0
    assert "store is sound: " in done.stdout
    facts = project.json("verify", store)
    assert facts["sound"]
    assert list(facts) == [
        *("store", "sound", "files", "without_checksum", "damaged", "replay_from"),
    ]
    assert "nothing to repair" in project("repair", store).stdout


def test_damage_is_named_with_exit_code_1_and_repaired(project: Project, store: Path):
    (store / "rounds" / "ratings-0003.parquet").unlink()
    damaged = store / "rounds" / "round-0002.json"
    damaged.write_bytes(damaged.read_bytes().replace(b'"untrusted": 0', b'"untrusted": 1'))
    done = project("verify", store)
    assert done.returncode == 1
    assert "rounds/round-0002.json: its checksum is wrong" in done.stdout
    assert "`polarbear repair " in done.stdout
    told = project("verify", store, "--json")
    assert told.returncode == 1
    facts = json.loads(told.stdout)
    assert {"file": "rounds/round-0002.json", "why": "its checksum is wrong"} in facts["damaged"]
    assert {"file": "rounds/ratings-0003.parquet", "why": "it is not there"} in facts["damaged"]
    assert facts["replay_from"] == 2
    repaired = project.json("repair", store)
    assert list(repaired) == [
        *("store", "moved", "rounds_kept", "rounds_to_replay", "runs_lost", "next"),
    ]
    assert (repaired["rounds_kept"], repaired["rounds_to_replay"]) == (1, 3)
    assert project("verify", store).returncode == 0


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        *((name, "rounds/ratings-0004.parquet") for name in ("status", "report")),
        *((name, "rounds/round-0004.json") for name in ("status", "report")),
        *((name, "polarbear.json") for name in ("status", "report", "select", "infer")),
    ],
)
def test_every_command_that_meets_damage_names_repair(
    project: Project, store: Path, command: str, lost: str
):
    (store / lost).write_bytes(b"PAR1")
    more = ("--preference", "at 30") if command == "select" else ()
    done = project(command, store, *more)
    assert done.returncode == 1
    assert done.stderr.startswith("polarbear: ")
    assert f"{Path(lost).name} is damaged" in done.stderr
    assert "`polarbear repair " in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_no_store_is_refused(project: Project):
    for command in ("verify", "repair"):
        done = project(command, project.folder)
        assert done.returncode == 1
        assert "is not a PolarBear store" in done.stderr
