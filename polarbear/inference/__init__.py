"""Temporal Plackett-Luce posteriors: choice sets in, draws of theta and their diagnostics out.

    options = ModelOptions(model="gp")
    posterior = infer(choice_sets, unit_times, options, seed=1, positions=positions)

Heavy imports wait until they are asked for.

Uses `rankings` and `numerics`; knows nothing of runs or stores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.settings.lazily import lazily

if TYPE_CHECKING:
    from polarbear.inference.base import Diagnostics, Posterior
    from polarbear.inference.dispatch import infer
    from polarbear.inference.newcomer.extend import extend
    from polarbear.inference.options import ModelOptions

__all__ = ["Diagnostics", "ModelOptions", "Posterior", "extend", "infer"]

__getattr__ = lazily(
    __name__,
    {
        "Diagnostics": "base",
        "ModelOptions": "options",
        "Posterior": "base",
        "extend": "newcomer.extend",
        "infer": "dispatch",
    },
)
