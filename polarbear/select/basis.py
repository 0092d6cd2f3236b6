"""What a choice rests on: a posterior kept in the store, and who may be chosen by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from polarbear.errors import SelectionError
from polarbear.inference import Posterior
from polarbear.select.candidates import ALPHA, undominated
from polarbear.settings.grid import Budget
from polarbear.settings.options import unknown
from polarbear.store import Store
from polarbear.store.records import KeptPosterior, kept_posterior, posterior_from_table
from polarbear.wording import counted, short

ROUNDING = 0.01  # of shares that sum to one


@dataclass(frozen=True)
class Basis:
    """A posterior with the names of what it is about, and where it came from.

    ``pareto_set`` is what a race has left; without a race there is none.
    """

    posterior: Posterior
    key: str
    source: Literal["race", "infer"]
    algorithms: tuple[str, ...]
    times: np.ndarray
    axis: str
    instances: int | None
    pareto_set: tuple[str, ...] | None
    notes: tuple[str, ...]

    @property
    def effective_draws(self) -> float:
        """How many independent draws these are worth, at worst."""
        judged = self.posterior.diagnostics
        return float(max(1.0, min(judged.ess_bulk, judged.ess_tail, self.posterior.n_draws)))

    @property
    def counts_those_in(self) -> bool:
        """Whether firsts are counted among those still in, and of one who is out with itself.

        Then the shares of all do not sum to one.
        """
        sums = self.posterior.theta[:, 0].mean(axis=0).sum()
        return bool(abs(sums - 1) > ROUNDING)


@dataclass(frozen=True)
class Contest:
    """Who competes, who was left out, and why, in words."""

    candidates: tuple[int, ...]
    left_out: tuple[int, ...]
    reason: str


def find_basis(store: Store, model: str | None = None, key: str | None = None) -> Basis:
    """The posterior a choice should rest on: the race's, otherwise the one kept last.

    ``model`` or ``key`` ask for another one.
    """
    keys, race = store.newest_posteriors(), store.last_round()
    if not keys:
        raise SelectionError(
            f"{store.path} holds no posterior yet; `polarbear infer {store.path}` makes one"
        )
    raced = race.posterior if race is not None else None
    if key is not None:
        chosen = _by_key(store, keys, key)
    elif model is not None:
        chosen = _by_model(store, keys, model, raced)
    else:
        chosen = raced if raced in keys else keys[0]
    kept = store.posterior(chosen)
    if kept is None:
        raise SelectionError(
            f"the race in {store.path} has just put another posterior in the place of the one that "
            "was to be read; give the same command again"
        )
    about = kept_posterior(kept[1])
    posterior = posterior_from_table(*kept, as_kept=True)
    names = about.algorithms
    pareto_set = None
    if race is not None:
        remaining = set(race.state.candidates)
        entered = set(race.state.algorithms)
        # Whoever never raced was not eliminated either.
        pareto_set = tuple(n for n in names if n in remaining or n not in entered)
    return Basis(
        posterior=posterior,
        key=chosen,
        source="race" if chosen == raced else "infer",
        algorithms=names,
        times=np.array(about.times),
        axis=store.config["budget"]["axis"],
        instances=about.instances,
        pareto_set=pareto_set or None,
        notes=_what_it_does_not_know(store, chosen, about, chosen == raced),
    )


def contest(basis: Basis, among: Sequence[str] | None = None, alpha: float = ALPHA) -> Contest:
    """Who competes: those named; or the race's Pareto set; or those not confidently dominated."""
    names = basis.algorithms
    everyone = range(len(names))
    if among is not None:
        for name in among:
            if name not in names:
                raise SelectionError(f"{unknown('algorithm', name, names)} (in this posterior)")
        chosen = [i for i in everyone if names[i] in among]
        reason = "not among those asked for"
    elif basis.pareto_set is not None:
        chosen = [i for i in everyone if names[i] in basis.pareto_set]
        reason = "eliminated by the race"
    else:
        chosen = undominated(basis.posterior, alpha)
        reason = f"dominated at each time, with probability {short(alpha)} or more"
    left_out = tuple(i for i in everyone if i not in chosen)
    return Contest(tuple(chosen), left_out, reason)


def _by_key(store: Store, keys: list[str], wanted: str) -> str:
    found = [key for key in keys if key.startswith(wanted)]
    if len(found) != 1:
        held = ", ".join(f"{key} ({_model(store, key)})" for key in keys)
        what = "has no posterior" if not found else "has more than one posterior"
        raise SelectionError(f"{store.path} {what} '{wanted}'; it has {held}")
    return found[0]


def _by_model(store: Store, keys: list[str], wanted: str, raced: str | None) -> str:
    models = {key: _model(store, key) for key in keys}
    if raced is not None and models.get(raced) == wanted:
        return raced
    for key, model in models.items():
        if model == wanted:
            return key
    held = ", ".join(sorted(set(models.values())))
    raise SelectionError(
        f"{store.path} holds no posterior of the model '{wanted}', only of: {held}; "
        f"`polarbear infer {store.path} --model {wanted}` makes one"
    )


def _model(store: Store, key: str) -> str:
    return kept_posterior(store.posterior_facts(key)).model


def _what_it_does_not_know(
    store: Store, key: str, about: KeptPosterior, raced: bool
) -> tuple[str, ...]:
    """What has come into the store since, or was left out of the posterior."""
    remedy = "`polarbear race` takes it in" if raced else "`polarbear infer` takes it in"
    notes = []
    missing = [name for name in store.config["algorithms"] if name not in about.algorithms]
    if missing:
        notes.append(f"the posterior does not know {', '.join(missing)}: {remedy}")
    now, known = store.count_compared_instances(), about.instances
    if known is not None and now > known:
        notes.append(
            f"the posterior knows {known} of the store's {counted(now, 'instance')}: {remedy}"
        )
    if not raced and store.runs_changed_since(key):
        notes.append(f"runs were set aside, or taken back, since the posterior was kept: {remedy}")
    times = Budget.model_validate(store.config["budget"]).times
    if times.tolist() != list(about.times):
        notes.append(f"the store's grid has changed since: {remedy}")
    return tuple(notes)
