"""The moment before the command line is loaded."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from polarbear.__main__ import main


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
