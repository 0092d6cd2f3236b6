"""The moment before the command line is loaded."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from polarbear.__main__ import main
from polarbear.settings import environment, foreign


@pytest.fixture(autouse=True)
def environment_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in environment.FOR_COMMANDS:
        monkeypatch.setenv(variable, "as it was")


@pytest.fixture(autouse=True)
def garbage_collected_as_before() -> Iterator[None]:
    threshold = gc.get_threshold()
    gc.unfreeze()
    yield
    gc.unfreeze()
    gc.set_threshold(*threshold)


class Interrupted(ModuleType):
    """A module that the user does not wait for."""

    def __getattr__(self, name: str) -> None:
        raise KeyboardInterrupt


def test_an_interrupt_while_the_command_line_is_loaded_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setitem(sys.modules, "polarbear.cli", Interrupted("polarbear.cli"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "polarbear: interrupted\n"


def test_too_little_memory_for_the_command_line_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    class Large(ModuleType):
        def __getattr__(self, name: str) -> None:
            raise MemoryError

    monkeypatch.setitem(sys.modules, "polarbear.cli", Large("polarbear.cli"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err.startswith("polarbear: there is not enough memory")


class Done(ModuleType):
    """A command that is over."""

    def main(self) -> None:
        sys.exit(3)


def test_garbage_is_not_looked_for_after_a_command_unless_code_of_others_was_loaded(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(sys.modules, "polarbear.cli", Done("polarbear.cli"))
    monkeypatch.setattr(foreign, "_loaded", ["mine:function"])
    with pytest.raises(SystemExit, match="3"):
        main()
    assert gc.get_freeze_count() == 0
    monkeypatch.setattr(foreign, "_loaded", [])
    with pytest.raises(SystemExit, match="3"):
        main()
    assert gc.get_freeze_count() > 0
