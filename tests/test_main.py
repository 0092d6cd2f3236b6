"""Errors while the command line is imported have a message without a traceback."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from polarbear.__main__ import main


@pytest.fixture
def handler_is_restored() -> Iterator[None]:
    handler = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, handler)


@pytest.mark.usefixtures("handler_is_restored")
@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt, 130, "polarbear: interrupted\n"),
        (MemoryError, 1, "polarbear: there is not enough memory; what was stored is intact\n"),
    ],
)
def test_an_error_while_the_command_line_is_imported_is_one_line(
    error: type[BaseException],
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    class Raising(ModuleType):
        def __getattr__(self, name: str) -> None:
            raise error

    monkeypatch.setitem(sys.modules, "polarbear.cli", Raising("polarbear.cli"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    "import_of_typer",
    [
        'exec("raise KeyboardInterrupt")',
        "import atexit, os, signal\n"
        "atexit.register(os.kill, os.getpid(), signal.SIGINT)\n"
        "raise KeyboardInterrupt",
    ],
    ids=["in text that is executed", "twice"],
)
def test_an_interrupt_at_any_moment_ends_with_130_and_one_line(
    tmp_path: Path, import_of_typer: str
):
    (tmp_path / "typer.py").write_text(import_of_typer)
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-m", "polarbear", "doctor"],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 130
    assert done.stderr == "polarbear: interrupted\n"


def test_a_clock_that_python_cannot_read_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def overflow() -> float:
        raise OverflowError("timestamp too large to convert to C _PyTime_t")

    monkeypatch.setattr(time, "time", overflow)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == (
        "polarbear: the clock of this machine cannot be read: set its date\n"
    )
