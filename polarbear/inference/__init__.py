"""Temporal Plackett-Luce posteriors: choice sets in, draws of theta and their diagnostics out.

    options = ModelOptions(model="gp")
    posterior = infer(choice_sets, unit_times, options, seed=1, positions=positions)

Engines are imported when they are used.

Uses `rankings` and `numerics`; knows nothing of runs or stores.
"""

from polarbear.inference.dispatch import infer
from polarbear.inference.model_options import ModelOptions
from polarbear.inference.posterior_draws import Diagnostics, Posterior

__all__ = ["Diagnostics", "ModelOptions", "Posterior", "infer"]
