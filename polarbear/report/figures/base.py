"""What a figure is: its data apart from its drawing, and words for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from polarbear.report.drawing.style import Style
from polarbear.report.material import Material
from polarbear.select import Basis
from polarbear.wording import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

NOTHING_INFERRED = "nothing has been inferred yet: `polarbear race` or `polarbear infer` does that"
NO_RACE = "no race was run in this store"


@dataclass(frozen=True)
class Figure:
    """One figure; a new one is a file like its neighbours and a line in the registry.

    ``missing`` says in plain words why a store has nothing to draw, and gives None where it has.
    ``data`` is in long form and can be written as CSV as it is. ``draw`` sees nothing of the
    posterior: only these data, and of the material names, their order and the grid. It sets the
    height, which may depend on the data.
    """

    name: str
    title: str
    caption: Callable[[Material], str]
    missing: Callable[[Material], str | None]
    data: Callable[[Material], pl.DataFrame]
    draw: Callable[[Canvas, pl.DataFrame, Material, Style], None]


def draws_now(material: Material) -> Basis | None:
    """The posterior's draws, if there are any of the moment the material looks at.

    A race keeps only the draws of its last round, so a look back has none.
    """
    basis = material.basis
    if basis is None:
        return None
    if basis.source == "race" and material.rounds[-1].record["posterior"] != basis.key:
        return None
    if basis.source == "infer" and material.rounds and _looks_back(material):
        return None
    return basis


def lacks_draws(material: Material) -> str | None:
    """Why there is nothing to draw for a figure that is made of draws."""
    if material.basis is None:
        return NOTHING_INFERRED
    if draws_now(material) is None:
        return f"draws are kept of the last round only, not of round {material.rounds[-1].number}"
    return None


def lacks_beliefs(material: Material) -> str | None:
    return NOTHING_INFERRED if material.believed is None else None


def lacks_race(material: Material) -> str | None:
    return None if material.rounds else NO_RACE


def still_in(material: Material) -> tuple[str, ...]:
    """Who may be chosen, at the moment the material looks at."""
    if material.rounds:
        state = material.rounds[-1].state
        return tuple(
            name
            for name in material.algorithms
            if name in state.candidates or name not in state.algorithms
        )
    return material.candidates


def moment(material: Material) -> str:
    """When this was believed, in words."""
    if material.rounds:
        last = material.rounds[-1]
        return f"after round {last.number}, {counted(last.state.instances, 'instance')}"
    if material.basis is not None and material.basis.instances is not None:
        return f"inferred from {counted(material.basis.instances, 'instance')}"
    return "as inferred"


def _looks_back(material: Material) -> bool:
    return material.rounds[-1].number != material.store.round_numbers()[-1]
