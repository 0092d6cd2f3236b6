"""The keywords that functions pass on to a group of options, with their types.

The defaults are those of the group, which checks the values.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict


class ModelKeywords(TypedDict, total=False):
    """The options of a configuration's inference, apart from the name of the model."""

    engine: str
    method: str
    draws: int
    chains: int
    dependence: str
    kernel: str
    concentration: float
    alpha: float
    kappa: Mapping[str, float | None]
    sigma: Mapping[str, float]
    lengthscale: Mapping[str, float]
    initial_scale: float
    inducing_points: int
    basis_functions: int | None
    boundary: float | None
    spline_functions: int | None
    spline_degree: int
    options: Mapping[str, Any]  # options of a model that another package brings


class ComparisonKeywords(TypedDict, total=False):
    """The options of the classical comparison."""

    targets: str | Mapping[str, float]
    optimum: float | None
    scale: str
    bootstrap: int
    seed: int
    ert: str | Sequence[float] | None
    per_dimension: bool


class FigureKeywords(TypedDict, total=False):
    """The folders that figures are written into, and their style."""

    png: str | Path | None
    pdf: str | Path | None
    svg: str | Path | None
    csv: str | Path | None
    theme: str
    width: str | float
    font: str
    font_size: float
    time_axis: str
    dpi: int
