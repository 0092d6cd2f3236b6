"""What a figure is: its data apart from its drawing, and words for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from polarbear.report.drawing.style import Style
from polarbear.report.material import Material
from polarbear.report.moment import draws_now, other_model
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


def lacks_draws(material: Material) -> str | None:
    """Why there is nothing to draw for a figure that is made of draws."""
    if material.basis is None and material.rounds:
        last = material.rounds[-1].number
        return f"draws of round {last} are not kept yet: `polarbear race` keeps them when it ends"
    if material.basis is None:
        return NOTHING_INFERRED
    if draws_now(material) is None:
        return f"draws are kept of the last round only, not of round {material.rounds[-1].number}"
    return None


def lacks_beliefs(material: Material) -> str | None:
    return NOTHING_INFERRED if material.believed is None else None


def lacks_race(material: Material) -> str | None:
    return None if material.rounds else NO_RACE


def moment(material: Material) -> str:
    """When this was believed, in words."""
    if material.rounds:
        last = material.rounds[-1]
        return f"after round {last.number}, {counted(last.state.instances, 'instance')}"
    return _inferred(material)


def moment_of_draws(material: Material) -> str:
    """What the draws are of, in words: the last round, or another model than the race's."""
    model = other_model(material)
    return moment(material) if model is None else f"by the {model} model, {_inferred(material)}"


def _inferred(material: Material) -> str:
    if material.basis is not None and material.basis.instances is not None:
        return f"inferred from {counted(material.basis.instances, 'instance')}"
    return "as inferred"
