"""The rooms inside inference: imports point one way, and the reference stands for itself."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import polarbear.inference
import polarbear.inference.native.independent.mode
import polarbear.inference.native.independent.sampling
import polarbear.inference.native.temporal.mode
import polarbear.inference.native.temporal.sampling
from polarbear.inference.native import independent, temporal

ROOT = Path(polarbear.inference.__file__).parent
# Earlier ones know nothing of later ones; those on one line know nothing of each other.
ORDER = [
    {"models", "loops", "named_fit"},
    {"options", "chains", "diagnostics", "fit", "interpolated"},
    {"base"},
    {"native", "newcomer", "stan", "empirical"},
    {"dependence", "simulate", "checks", "relations"},
    {"beliefs"},
    {"dispatch"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def sources() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path != ROOT / "__init__.py"]


def without_types(tree: ast.Module) -> list[ast.AST]:
    """All of a module but what it imports for its annotations alone."""
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    return list(ast.walk(tree))


def imported_rooms(path: Path) -> set[str]:
    found = set()
    for node in without_types(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            parts = node.module.split(".")
            if parts[:2] == ["polarbear", "inference"]:
                found |= {parts[2]} if len(parts) > 2 else {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_of_inference_imports_only_earlier_ones(path: Path):
    """So the two engines share models, options and diagnostics, and neither uses the other."""
    here = room_of(path)
    for other in imported_rooms(path) - {here}:
        assert LEVEL[other] < LEVEL[here], f"{here} imports {other}"


def test_temporal_and_independent_models_are_approximated_through_the_same_functions():
    one, other = temporal.sampling.draw_approximation, independent.sampling.draw_approximation
    assert inspect.signature(one) == inspect.signature(other)
    for name in ("latent", "x", "log_marginal"):
        assert name in temporal.mode.Mode.__annotations__
        assert name in independent.mode.Mode.__annotations__
    one, other = temporal.mode.find_mode, independent.mode.find_mode
    assert list(inspect.signature(one).parameters) == list(inspect.signature(other).parameters)
