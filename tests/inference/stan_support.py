"""What tests of the stan engine share: they need CmdStan, and say how to get it."""

from __future__ import annotations

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
