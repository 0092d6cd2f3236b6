"""Helpers for the tests of the Stan engine, which have the marker `stan`."""

import os
from pathlib import Path

import pytest

from polarbear.inference.stan import cmdstan


def skip_without_polarbears_driver() -> None:
    """Skip a test of PolarBear's driver of Stan programs where CmdStan has its own driver."""
    local = cmdstan.find().path / "make" / "local"
    if not (local.exists() and "recipe" in local.read_text()):
        pytest.skip(f"CmdStan has its own driver (for PolarBear's: {cmdstan.INSTALL} --way wheels)")


def without_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevent pip from reaching any index."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_RETRIES", "0")


def pretend_build_tools(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a compiler and `make` on the PATH, for tests that end before either is called."""
    folder.mkdir()
    for name in ("g++", "make"):
        tool = folder / name
        tool.write_text("#!/bin/sh\nexit 1\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("MAKE", raising=False)
