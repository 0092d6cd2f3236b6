"""Ctrl-C in commands: each of them ends with exit code 130 and one line."""

import pytest

from polarbear.api.live_page import Watch
from polarbear.store import fs
from tests.cli.program import commands
from tests.support import Project

COMMANDS_ON_STORES = {
    "race": ["config.yaml"],
    "run": ["config.yaml"],
    "infer": ["config"],
    "select": ["config"],
    "report": ["config"],
    "compare": ["config"],
    "status": ["config"],
    "show": ["config", "--pair", "A,B"],
    "watch": ["config"],
    "import": ["runs.csv", "--store", "imported"],
    "export": ["config", "--format", "csv", "--to", "exported"],
    "merge": ["config", "other", "--into", "merged"],
    "rename": ["config", "A", "D"],
    "forget": ["config", "--algorithm", "A"],
    "verify": ["config"],
    "repair": ["config"],
}
# A gate writes into a store of its own, and the others need no store.
OTHERS = {"check", "gate", "init", "schema", "doctor", "stan"}


def test_every_command_is_either_interrupted_here_or_uses_no_given_store():
    assert set(commands()) == {*COMMANDS_ON_STORES, *OTHERS}


@pytest.mark.parametrize("name", COMMANDS_ON_STORES)
def test_an_interrupted_command_ends_with_130(
    collected: Project, name: str, monkeypatch: pytest.MonkeyPatch
):
    (collected.folder / "runs.csv").write_text("algorithm,instance,t,y\na,1,1,2\na,1,2,1\n")

    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    if name == "watch":
        monkeypatch.setattr(Watch, "serve_forever", interrupt)
    elif name == "import":
        monkeypatch.setattr(fs, "create", interrupt)
    else:
        monkeypatch.setattr(fs, "read", interrupt)
    try:
        exit_code = collected(name, *COMMANDS_ON_STORES[name]).returncode
    except KeyboardInterrupt:  # which `polarbear.__main__` makes an exit code
        exit_code = 130
    assert exit_code == 130
