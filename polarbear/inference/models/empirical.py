"""No ratings at all: duels and first places as they came out, instances being exchangeable."""

from __future__ import annotations

from polarbear.inference.models.base import AnyModel


class Empirical(AnyModel):
    """Duels as they came out: a Bayesian bootstrap over instances, without Plackett-Luce."""

    plackett_luce = False
    temporal = False
    joint = True
    hyperparameters = ("concentration",)
