"""What tests of the stan engine share: they need CmdStan, and say how to get it."""

import os

import pytest

from polarbear.errors import PolarBearError
from polarbear.inference.stan import cmdstan


def _missing() -> str:
    try:
        cmdstan.find()
        cmdstan.require_build_tools()
    except PolarBearError as error:
        return str(error)
    return ""


def _from_wheels() -> bool:
    local = cmdstan.find().path / "make" / "local" if not MISSING else None
    return local is not None and local.exists() and "recipe" in local.read_text()


MISSING = _missing()
HINT = "" if cmdstan.INSTALL in MISSING else f" (then: {cmdstan.INSTALL})"
needs_cmdstan = pytest.mark.skipif(bool(MISSING), reason=MISSING + HINT)
needs_driver = pytest.mark.skipif(
    not _from_wheels(), reason=f"CmdStan has its own driver (ours: {cmdstan.INSTALL} --way wheels)"
)


def without_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let pip reach no index."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")
