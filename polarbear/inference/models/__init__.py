"""Priors over ratings in time; a new one is a file here and a line in this registry.

Uses `inference.options`; no engine.
"""

from __future__ import annotations

from polarbear.inference.models.base import Latent, Model
from polarbear.inference.models.bspline import BSpline
from polarbear.inference.models.dirichlet import Dirichlet
from polarbear.inference.models.gp import GaussianProcess
from polarbear.inference.models.hierarchical import Hierarchical
from polarbear.inference.models.hsgp import HilbertSpaceGP
from polarbear.inference.models.random_walk import RandomWalk
from polarbear.inference.models.sparse_gp import SparseGP

MODELS: dict[str, type[Model]] = {
    model.name: model
    for model in (
        Dirichlet,
        Hierarchical,
        GaussianProcess,
        SparseGP,
        HilbertSpaceGP,
        RandomWalk,
        BSpline,
    )
}

__all__ = ["MODELS", "Latent", "Model"]
