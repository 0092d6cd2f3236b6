"""Proposers of new configurations and programs, by the name a configuration gives them.

A new proposer is a file and a line here. Other packages add theirs by an entry point in the group
polarbear.proposers.

Uses `config`, `selection`, `settings`, `spaces` and `store`; runs no algorithm.
"""

from polarbear.proposers.base import Proposer
from polarbear.settings.registry import Registry

PROPOSERS: Registry[type[Proposer]] = Registry(
    "proposer",
    "polarbear.proposers",
    "polarbear.proposers.base:Proposer",
    {
        "elites": "polarbear.proposers.elites:Elites",
        "uniform": "polarbear.proposers.uniform:Uniform",
        "optuna": "polarbear.proposers.optuna_sampler:Optuna",
        "command": "polarbear.proposers.user_proposers:Command",
        "python": "polarbear.proposers.user_proposers:Python",
        "replay": "polarbear.proposers.replay:Replay",
    },
)

__all__ = ["PROPOSERS", "Proposer"]
