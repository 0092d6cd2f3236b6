"""Whatever a run says is stored and printed: no message can end a race."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import polarbear as pb
from polarbear.execution.outcome import Status
from polarbear.store import StoreOnDisk
from tests.support import Project

SPEAKERS = Path(__file__).parent / "speakers.py"
MESSAGES = {
    "foreign": "ValueError: cannot parse caf\\udce9.tsp",
    "unreadable": "Unreadable: (its text cannot be read: __str__ raised RuntimeError)",
    "bare": "Bare: the end",
    "interrupt": "KeyboardInterrupt: stop",
    "unnamed": "Unnamed: who",
    "control": "RuntimeError: a\0b\x1b[31m",
    "subclass": "RuntimeError: spoken",
    "long": "RuntimeError: yyy",
    "prints": "RuntimeError: printed",
}


def configuration(**changes: Any) -> dict[str, Any]:
    return {
        "algorithms": [
            {"name": name, "use": "python", "function": f"speakers.py:{name}"} for name in MESSAGES
        ],
        "instances": {"suite": "classic", "count": 2, "dimensions": {"from": 2, "to": 2}},
        "budget": {"grid": [10]},
        "execution": {"workers": 2, "check": False},
        **changes,
    }


@pytest.fixture(scope="module", params=["local", pytest.param("dask", marks=pytest.mark.slow)])
def messages(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[str]]:
    """The stored messages of each algorithm, from a folder whose name is not UTF-8."""
    folder = tmp_path_factory.mktemp("messages") / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    shutil.copy(SPEAKERS, folder)
    project = Project(folder)
    execution = {"engine": request.param, "workers": 2, "check": False}
    project.configure(**configuration(execution=execution))
    with pb.use_executor(None):
        project.done("run", "config.yaml")
    runs = StoreOnDisk.open(project.store).runs()
    assert set(runs["status"]) == {Status.CRASHED.value}
    return {name: runs.filter(algorithm=name)["message"].to_list() for name in MESSAGES}


@pytest.mark.parametrize("name", MESSAGES)
def test_last_words_are_stored_and_quoted(name: str, messages: dict[str, list[str]]):
    assert len(messages[name]) == 2
    for message in messages[name]:
        assert message.startswith(MESSAGES[name])
        assert len(message) <= 2000
        if name == "prints":
            assert message.endswith("\\udce9")


def test_an_interrupt_of_the_calling_process_is_not_a_crash(tmp_path: Path):
    shutil.copy(SPEAKERS, tmp_path)
    project = Project(tmp_path)
    entry = {"name": "interrupt", "use": "python", "function": "speakers.py:interrupt"}
    config = project.configure(**configuration(algorithms=[entry]))
    with pb.use_executor(pb.InProcess), pytest.raises(KeyboardInterrupt):
        pb.run(config, project.store)
