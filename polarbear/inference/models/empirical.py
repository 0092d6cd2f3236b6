"""The default model: duels and first places of exchangeable problems, without ratings."""

from __future__ import annotations

from polarbear.inference.models.base import AnyModel


class Empirical(AnyModel):
    """A Bayesian bootstrap over problems, without Plackett-Luce."""

    plackett_luce = False
    temporal = False
    joint = True
    hyperparameters = ("concentration",)
