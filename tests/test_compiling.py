"""Compilation: said once, when it happens."""

from __future__ import annotations

from numba import njit

from polarbear.compiling import on_first_compilation


def test_compiling_is_said_once_and_only_when_it_happens():
    twice, thrice = njit(lambda x: 2 * x), njit(lambda x: 3 * x)
    said: list[str] = []
    with on_first_compilation(lambda: said.append("compiling")):
        assert said == []
        assert twice(1) == 2
        assert thrice(1) == 3
        assert said == ["compiling"]
    with on_first_compilation(lambda: said.append("again")):
        assert twice(2) == 4
    assert said == ["compiling"]
