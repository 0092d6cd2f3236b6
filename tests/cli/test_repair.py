"""`polarbear verify` and `polarbear repair`, from the command line."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from tests.faults.races import CONFIG, raced
from tests.support import Project

ALL_THAT_OPEN_A_STORE = {
    "status": ["STORE"],
    "report": ["STORE"],
    "select": ["STORE", "--preference", "at 30"],
    "infer": ["STORE", "--model", "dirichlet"],
    "compare": ["STORE"],
    "export": ["STORE", "--format", "csv", "--to", "runs.csv"],
    "forget": ["STORE", "--algorithm", "bad"],
    "rename": ["STORE", "bad", "worse"],
    "merge": ["STORE", "other", "--into", "merged"],
    "race": ["config.yaml", "--store", "STORE"],
    "run": ["config.yaml", "--store", "STORE"],
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "store"
    raced(folder)
    return folder


@pytest.fixture
def store(project: Project, template: Path) -> Path:
    return Path(shutil.copytree(template, project.folder / "store"))


def write_config(project: Project) -> None:
    """The configuration of the store, as a file."""
    plain = json.loads(json.dumps(CONFIG.plain()))
    entries = [{"name": name, **entry} for name, entry in plain["algorithms"].items()]
    config = yaml.safe_dump({**plain, "algorithms": entries})
    (project.folder / "config.yaml").write_text(config)


def test_a_sound_store_is_said_to_be_sound(project: Project, store: Path):
    done = project.done("verify", store)
    assert "store is sound: " in done.stdout
    facts = project.json("verify", store)
    assert facts["sound"]
    assert list(facts) == ["store", "sound", "files", "damaged", "replay_from"]
    assert "nothing to repair" in project("repair", store).stdout


def test_damage_is_named_with_exit_code_1_and_repaired(project: Project, store: Path):
    ratings = next((store / "rounds").glob("ratings-0003-*.parquet"))
    ratings.unlink()
    damaged = store / "rounds" / "round-0002.json"
    damaged.write_bytes(damaged.read_bytes().replace(b'"untrusted": 0', b'"untrusted": 1'))
    done = project("verify", store)
    assert done.returncode == 1
    assert "rounds/round-0002.json: its content does not match its checksum" in done.stdout
    assert "`polarbear repair " in done.stdout
    told = project("verify", store, "--json")
    assert told.returncode == 1
    facts = json.loads(told.stdout)
    assert [(damage["file"], damage["why"]) for damage in facts["damaged"]] == [
        ("rounds/round-0002.json", "its content does not match its checksum"),
        (f"rounds/{ratings.name}", "it is not there"),
    ]
    assert facts["replay_from"] == 2
    repaired = project.json("repair", store)
    assert list(repaired) == [
        *("store", "moved", "missing", "listed", "restored"),
        *("rounds_kept", "rounds_to_replay", "runs_lost", "next"),
    ]
    assert repaired["missing"] == [f"rounds/{ratings.name}"]
    assert (repaired["rounds_kept"], repaired["rounds_to_replay"]) == (1, 3)
    project.done("verify", store)


def test_a_file_that_is_missing_is_reported_by_repair_as_by_verify(project: Project, store: Path):
    part = next((store / "runs").glob("part-*.parquet"))
    part.unlink()
    assert f"runs/{part.name}: it is not there" in project("verify", store).stdout
    shown = project.done("repair", store).stdout
    assert "1 file missing, no longer listed:" in shown
    assert f"runs/{part.name}" in shown
    assert "to be run again" in shown
    assert "nothing to repair" in project.done("repair", store).stdout


def test_a_store_whose_line_ends_git_would_change_says_so_and_is_restored(
    project: Project, store: Path
):
    assert (store / ".gitattributes").read_text() == "* -text\n"
    before = {path: path.read_bytes() for path in store.rglob("*.json")}
    for path, data in before.items():
        path.write_bytes(data.replace(b"\n", b"\r\n"))
    shown = project("verify", store).stdout
    assert "polarbear.json: its line ends were changed, for example by git" in shown
    assert "rounds/round-0002.json: its line ends were changed" in shown
    assert "its line ends were changed" in project.refused("status", store)
    assert f"line ends restored in {len(before)} files:" in project.done("repair", store).stdout
    assert {path: path.read_bytes() for path in store.rglob("*.json")} == before
    project.done("verify", store)


def test_a_store_without_attributes_for_git_is_sound_and_written(project: Project, store: Path):
    (store / ".gitattributes").unlink()
    assert project.json("verify", store)["sound"]
    project.done("forget", store, "--algorithm", "bad")
    assert project.json("verify", store)["sound"]
    assert "nothing to repair" in project.done("repair", store).stdout


@pytest.mark.parametrize(
    ("command", "lost", "content"),
    [
        *((name, "rounds/ratings-0004-*.parquet", b"PAR1") for name in ("status", "report")),
        *((name, "rounds/ratings-0004-*.parquet", None) for name in ("status", "report", "race")),
        *((name, "rounds/round-0004.json", b"PAR1") for name in ("status", "report")),
        *((name, "polarbear.json", b"PAR1") for name in ALL_THAT_OPEN_A_STORE),
        *((name, "trajectories/part-*", b"PAR1") for name in ("export", "infer", "merge")),
        *((name, "runs/part-*", b"PAR1") for name in ("race", "run", "forget", "rename")),
    ],
)
def test_every_command_that_meets_damage_names_repair(project, store, command, lost, content):
    (file, *_) = store.glob(lost)
    write_config(project)
    shutil.copytree(store, project.folder / "other")
    file.unlink() if content is None else file.write_bytes(content)
    arguments = [store if word == "STORE" else word for word in ALL_THAT_OPEN_A_STORE[command]]
    refusal = project.refused(command, *arguments)
    assert refusal.startswith("polarbear: ")
    assert f"{file.name} is damaged" in refusal
    assert "`polarbear repair " in refusal


def test_a_folder_that_is_no_store_is_refused_and_unchanged(project: Project):
    (project.folder / "runs").mkdir()
    (project.folder / "runs" / "mine.json").write_text("{}")
    for command in ("verify", "repair", "status", "report"):
        for folder, words in ((".", "is not a PolarBear store"), ("none", "does not exist")):
            assert words in project.refused(command, folder)
    assert [path.name for path in project.folder.rglob("*")] == ["runs", "mine.json"]
