"""The posterior that a choice uses, and the algorithms that compete by it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from polarbear.errors import SelectionError
from polarbear.facts.evidence import cached_posterior, evidence_of
from polarbear.facts.undominated import that_fits
from polarbear.facts.undominated import undominated as candidates_by
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.relations import pointwise
from polarbear.racing.rules import Rules
from polarbear.selection.preference import Context
from polarbear.settings.decision_levels import DEFAULT_ALPHA, checked_level
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, short, visible


@dataclass(frozen=True)
class Basis:
    """The posterior that a choice is based on, its source, and its limits in words.

    ``pareto_set`` is the algorithms that a race has left, and ``rules`` are those of the race; both
    are None without a race. The properties
    ``algorithms``, ``times``, ``axis``, ``instances`` and ``key`` are those of the posterior.
    """

    posterior: Posterior
    source: Literal["race", "infer"]
    pareto_set: tuple[str, ...] | None
    notes: tuple[str, ...]
    rules: Rules | None = None

    @property
    def algorithms(self) -> tuple[str, ...]:
        return self.posterior.algorithms

    @property
    def times(self) -> np.ndarray:
        return self.posterior.times

    @property
    def axis(self) -> str:
        return self.posterior.axis

    @property
    def instances(self) -> int:
        return self.posterior.instances

    @property
    def key(self) -> str:
        return self.posterior.key

    @property
    def effective_draws(self) -> float:
        """The effective sample size, at worst."""
        diagnostics = self.posterior.diagnostics
        smallest = min(diagnostics.ess_bulk, diagnostics.ess_tail, self.posterior.draws)
        return float(max(1.0, smallest))

    def context(self, folder: str = ".", seed: int = 0) -> Context:
        """The grid for a preference whose files are in a folder."""
        posterior = self.posterior
        return Context(posterior.times, posterior.axis, folder, seed, posterior.joint)

    @property
    def firsts_among_candidates(self) -> bool:
        """Whether first places are counted among the candidates of a race."""
        return self.source == "race" and not self.posterior.options.plackett_luce


@dataclass(frozen=True)
class Contest:
    """The algorithms that compete, those left out, and the reason in words."""

    candidates: tuple[int, ...]
    left_out: tuple[int, ...]
    reason: str


def find_basis(store: StoreOnDisk, model: str | None = None, key: str | None = None) -> Basis:
    """The posterior for a choice: the race's; without a race, the default model's.

    ``model`` or ``key`` select another one in the store; one that passed its checks is preferred to
    one that failed them, then that of the race, then the newest. Without a race the default model's
    posterior is inferred from the stored runs if it is not in the store.
    """
    keys = _stored_keys(store)
    key_of_race = _key_of_race(store)
    is_default_model = model is None or model == ModelOptions().model
    if key is None and is_default_model and key_of_race not in keys:
        return _inferred_basis(store)
    if key is not None:
        chosen_keys = [stored_key for stored_key in keys if stored_key.startswith(key)]
        if len(chosen_keys) != 1:
            raise _not_one_posterior(store, keys, chosen_keys, model, key)
        return _stored_basis(store, chosen_keys[0])
    model = model or _model_of(store, keys[0])
    preferred_key = _preferred_key(store, keys, model)
    if preferred_key is None:
        raise _not_one_posterior(store, keys, [], model, key)
    basis = _stored_basis(store, preferred_key)
    keys_before = keys[: keys.index(preferred_key)]
    if not basis.posterior.usable or model not in [_model_of(store, key) for key in keys_before]:
        return basis
    note = f"a newer posterior of {model} failed its checks: this is the newest that passed them"
    return replace(basis, notes=(*basis.notes, note))


def _key_of_race(store: StoreOnDisk) -> str | None:
    """The key of the posterior of the race; None without a race."""
    last_round = store.rounds.last()
    return None if last_round is None else last_round.posterior


def _stored_keys(store: StoreOnDisk) -> list[str]:
    """The keys of the stored posteriors: first that of the race, then from the newest on."""
    key_of_race = _key_of_race(store)
    newest_first = store.posteriors.stored()[::-1]
    return sorted(newest_first, key=lambda key: key != key_of_race)


def _preferred_key(store: StoreOnDisk, keys: list[str], model: str) -> str | None:
    """The first of the posteriors of a model that passed its checks, else the first one."""
    first_key = None
    for key in keys:
        metadata = store.posteriors.metadata(key)
        if metadata.options["model"] == model:
            if metadata.diagnostics.passed:
                return key
            first_key = first_key or key
    return first_key


def _model_of(store: StoreOnDisk, key: str) -> str:
    """The name of the model of a stored posterior."""
    return str(store.posteriors.metadata(key).options["model"])


def _not_one_posterior(
    store: StoreOnDisk,
    keys: list[str],
    chosen_keys: list[str],
    model: str | None,
    key: str | None,
) -> SelectionError:
    """The error where no posterior, or more than one, has the requested model or key."""
    number = "more than one" if chosen_keys else "no"
    stored = ", ".join(f"{other} ({_model_of(store, other)})" for other in keys) or "none"
    if key is None:
        request = f"of the model '{model}'"
        hint = f"; `polarbear infer {store.path} --model {model}` makes one"
    else:
        request = f"'{key}'"
        hint = ""
    return SelectionError(f"{store.path} has {number} posterior {request}; it has {stored}{hint}")


def _inferred_basis(store: StoreOnDisk) -> Basis:
    """The posterior of the default model."""
    if not store.count_compared_instances():
        raise SelectionError(f"{store.path} has no runs to compare; `polarbear race` makes them")
    seed = store.settings.seed
    evidence = that_fits(evidence_of(store), ModelOptions())
    posterior = cached_posterior(store, evidence, ModelOptions(), seed)
    return Basis(
        posterior=posterior,
        source="infer",
        pareto_set=pareto_set_of(store, posterior),
        rules=rules_of_race(store),
        notes=_notes_on_fit(posterior),
    )


def _stored_basis(store: StoreOnDisk, key: str) -> Basis:
    """A posterior in the store."""
    posterior = store.posteriors.read(key, single_precision=True)
    if posterior is None:
        raise SelectionError(
            f"the race in {store.path} has just replaced the posterior; run the command again"
        )
    for name in posterior.algorithms:
        if name not in store.settings.algorithms:
            raise SelectionError(
                f"the posterior {key} in {store.path} is about '{visible(name)}', which is "
                "no algorithm of the store"
            )
    source: Literal["race", "infer"] = "race" if key == _key_of_race(store) else "infer"
    return Basis(
        posterior=posterior,
        source=source,
        pareto_set=pareto_set_of(store, posterior),
        rules=rules_of_race(store),
        notes=(*_notes_on_fit(posterior), *_notes_on_missing_data(store, posterior, source)),
    )


def pareto_set_of(store: StoreOnDisk, posterior: Posterior) -> tuple[str, ...] | None:
    """The algorithms of a posterior that the race has not eliminated; None without a race."""
    last_round = store.rounds.last()
    if last_round is None:
        return None
    eliminated = {*last_round.state.algorithms} - {*last_round.state.candidates}
    return tuple(name for name in posterior.algorithms if name not in eliminated) or None


def rules_of_race(store: StoreOnDisk) -> Rules | None:
    """The rules of the race in a store; None without a race."""
    last_round = store.rounds.last()
    return None if last_round is None else last_round.settings.rules


def _notes_on_fit(posterior: Posterior) -> tuple[str, ...]:
    """A note on a model that does not fit its rankings."""
    fit = posterior.fit
    return () if fit is None or fit.words is None else (fit.words,)


def _notes_on_missing_data(
    store: StoreOnDisk, posterior: Posterior, source: Literal["race", "infer"]
) -> tuple[str, ...]:
    """Notes on data in the store that the posterior does not include."""
    command = "polarbear race" if source == "race" else "polarbear infer"
    remedy = f"`{command}` includes it"
    notes = []
    missing = [name for name in store.settings.algorithms if name not in posterior.algorithms]
    if missing:
        notes.append(f"the posterior does not include {', '.join(missing)}: {remedy}")
    # Where several instances belong to one problem, their number cannot be compared.
    if not store.problems():
        n_compared = store.count_compared_instances()
        if n_compared > posterior.instances:
            notes.append(
                f"the posterior uses {posterior.instances} of the store's "
                f"{counted(n_compared, 'problem')}: {remedy}"
            )
    if source == "infer" and store.posteriors.runs_changed_since(posterior.key):
        notes.append(f"runs were set aside or restored since the posterior was inferred: {remedy}")
    grid_of_store = store.settings.budget.times
    if grid_of_store.tolist() != posterior.times.tolist():
        notes.append(f"the store's grid has changed since: {remedy}")
    return tuple(notes)


def contest(
    basis: Basis, among: Sequence[str] | None = None, alpha: float = DEFAULT_ALPHA
) -> Contest:
    """The algorithms that compete: those named, the race's Pareto set, or those not dominated."""
    names = basis.posterior.algorithms
    indices = range(len(names))
    if among is not None:
        for name in among:
            if name not in names:
                raise SelectionError(f"{unknown('algorithm', name, names)} (in this posterior)")
        candidates = [i for i in indices if names[i] in among]
        reason = "not named by --algorithms"
    elif basis.pareto_set is not None:
        candidates = [i for i in indices if names[i] in basis.pareto_set]
        reason = "eliminated by the race"
    else:
        candidates = undominated(basis.posterior, alpha)
        reason = f"dominated: another one is better at each time, P >= {short(alpha)}"
    left_out = tuple(i for i in indices if i not in candidates)
    return Contest(tuple(candidates), left_out, reason)


def undominated(posterior: Posterior, alpha: float = DEFAULT_ALPHA) -> list[int]:
    """Algorithms that no other one beats at each time with probability alpha."""
    try:
        checked_level(alpha)
    except ValueError as error:
        raise SelectionError(str(error)) from None
    dominates = pointwise(posterior).dominance.min(axis=0) >= alpha
    return candidates_by(dominates, posterior.shared)
