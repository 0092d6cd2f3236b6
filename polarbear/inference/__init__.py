"""Temporal Plackett-Luce posteriors: choice sets in, draws of theta and their diagnostics out.

    options = ModelOptions(model="gp")
    posterior = infer(choice_sets, unit_times, options, seed=1, positions=positions)

Engines are imported when they are used.

Uses `rankings` and `numerics`; knows nothing of runs or stores.
"""

from __future__ import annotations

from polarbear.inference.base import Diagnostics, Posterior
from polarbear.inference.dispatch import infer
from polarbear.inference.options import ModelOptions

__all__ = ["Diagnostics", "ModelOptions", "Posterior", "infer"]
