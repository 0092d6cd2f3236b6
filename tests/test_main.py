"""The moment before the command line is loaded."""

import sys
from types import ModuleType

import pytest

from polarbear.__main__ import main


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
