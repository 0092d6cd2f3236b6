"""Configurations that a sampler of Optuna proposes, from the scores of earlier ones."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any, Literal

from pydantic import Field

from polarbear.errors import MissingExtraError
from polarbear.proposers.base import (
    MAX_REPEATED_DRAWS,
    Proposed,
    Proposer,
    Request,
    algorithms_in_turn,
    rng_of,
)
from polarbear.spaces import Parameter, Space, Value


class Optuna(Proposer):
    """Configurations that a sampler of Optuna proposes, which learns from earlier scores."""

    sampler: Literal["tpe", "random", "qmc"] = Field("tpe", description="the sampler of Optuna")

    def propose(self, request: Request) -> list[Proposed]:
        optuna = _optuna()
        studies = {name: self._study(optuna, request, name) for name in request.spaces}
        proposals: list[Proposed] = []
        for name in algorithms_in_turn(request):
            space = request.spaces[name].space
            for _ in range(MAX_REPEATED_DRAWS):
                trial = studies[name].ask()
                values = space.draw_any(rng_of(request), partial(_suggested, trial))
                is_allowed = not space.forbidden_by(values)
                if is_allowed and request.is_new(name, values, proposals):
                    proposals.append(Proposed(name, values))
                    break
                studies[name].tell(trial, state=optuna.trial.TrialState.FAIL)
        return proposals

    def _study(self, optuna: ModuleType, request: Request, name: str) -> Any:
        """A study of the scores of all configurations of one algorithm that were judged."""
        samplers = optuna.samplers
        seed = request.seed % 2**32
        sampler = {
            "tpe": lambda: samplers.TPESampler(seed=seed, constant_liar=True),
            "random": lambda: samplers.RandomSampler(seed=seed),
            "qmc": lambda: samplers.QMCSampler(seed=seed),
        }[self.sampler]()
        study = optuna.create_study(direction="maximize", sampler=sampler)
        space = request.spaces[name].space
        for tried in request.tried:
            if tried.proposal.algorithm == name and not tried.proposal.flaw:
                study.add_trial(
                    _finished(optuna, space, tried.proposal.values, tried.verdict.score)
                )
        return study


def _optuna() -> ModuleType:
    try:
        import optuna
    except ImportError:
        raise MissingExtraError("the proposer optuna", "optuna", "design") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna


def _finished(optuna: ModuleType, space: Space, values: dict[str, Any], score: float) -> Any:
    distributions = {name: _distribution(optuna, space.by_name[name]) for name in values}
    return optuna.trial.create_trial(params=values, distributions=distributions, value=score)


def _distribution(optuna: ModuleType, parameter: Parameter) -> Any:
    kinds = optuna.distributions
    if not parameter.is_numeric:
        return kinds.CategoricalDistribution(parameter.values)
    if parameter.kind == "integer":
        return kinds.IntDistribution(int(parameter.low), int(parameter.high), log=parameter.is_log)
    return kinds.FloatDistribution(parameter.low, parameter.high, log=parameter.is_log)


def _suggested(trial: Any, parameter: Parameter) -> Value:
    """The value that a trial of Optuna suggests; it is not rounded, since Optuna remembers it."""
    if not parameter.is_numeric:
        category: Value = trial.suggest_categorical(parameter.name, parameter.values)
        return category
    if parameter.kind == "integer":
        low = int(parameter.low)
        integer: int = trial.suggest_int(
            parameter.name, low, int(parameter.high), log=parameter.is_log
        )
        return integer
    number: float = trial.suggest_float(
        parameter.name, parameter.low, parameter.high, log=parameter.is_log
    )
    return number
