"""The posterior that a choice uses, and the algorithms that compete by it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from polarbear.errors import SelectionError
from polarbear.facts.evidence import CachedPosterior, cached_posterior, evidence_of
from polarbear.inference import ModelOptions, Posterior
from polarbear.inference.fit import named
from polarbear.inference.relations import pointwise
from polarbear.racing.decide import reached
from polarbear.selection.preference import Context
from polarbear.settings.options import unknown
from polarbear.store import StoreOnDisk
from polarbear.wording import counted, short, visible

ALPHA = 0.99  # with which an algorithm is dominated, where no race was run


@dataclass(frozen=True)
class Basis(CachedPosterior):
    """A posterior, and its source.

    ``pareto_set`` is the algorithms that a race has left, None without a race.
    """

    source: Literal["race", "infer"]
    axis: str
    pareto_set: tuple[str, ...] | None
    notes: tuple[str, ...]

    @property
    def effective_draws(self) -> float:
        """The effective sample size, at worst."""
        judged = self.posterior.diagnostics
        return float(max(1.0, min(judged.ess_bulk, judged.ess_tail, self.posterior.n_draws)))

    def context(self, folder: str = ".", seed: int = 0) -> Context:
        """The grid for a preference whose files are in a folder."""
        return Context(self.times, self.axis, folder, seed, self.posterior.joint)

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

    ``model`` or ``key`` select another one in the store. Without a race the default model's
    posterior is inferred from the stored runs if it is not in the store.
    """
    race, posteriors = store.rounds.last(), store.posteriors
    raced = race.posterior if race is not None else None
    keys = posteriors.stored()[::-1]
    keys.sort(key=lambda one: one != raced)  # the race's first

    def model_of(one: str) -> str:
        return str(posteriors.facts(one).options["model"])

    if key is None and model in (None, ModelOptions().model) and raced not in keys:
        if not store.count_compared_instances():
            raise SelectionError(
                f"{store.path} has no runs to compare; `polarbear race` makes them"
            )
        inferred = cached_posterior(store, evidence_of(store), ModelOptions(), store.settings.seed)
        return _basis(store, inferred, raced=False, notes=())
    if key is not None:
        chosen = [one for one in keys if one.startswith(key)]
    else:
        chosen = [one for one in keys if model is None or model_of(one) == model][:1]
    if len(chosen) != 1:
        stored = ", ".join(f"{one} ({model_of(one)})" for one in keys) or "none"
        wanted = f"of the model '{model}'" if key is None else f"'{key}'"
        hint = f"; `polarbear infer {store.path} --model {model}` makes one" if key is None else ""
        number = "more than one" if chosen else "no"
        raise SelectionError(f"{store.path} has {number} posterior {wanted}; it has {stored}{hint}")
    kept = posteriors.read(chosen[0], as_kept=True)
    if kept is None:
        raise SelectionError(
            f"the race in {store.path} has just replaced the posterior; run the command again"
        )
    posterior, facts = kept
    names, times = tuple(facts.algorithms), np.array(facts.times)
    for name in names:
        if name not in store.settings.algorithms:
            raise SelectionError(
                f"the posterior {chosen[0]} in {store.path} is about '{visible(name)}', which is "
                "no algorithm of the store"
            )
    found = CachedPosterior(posterior, names, times, facts.instances, chosen[0], from_store=True)
    is_raced = chosen[0] == raced
    return _basis(store, found, is_raced, _limits(store, found, is_raced))


def _basis(
    store: StoreOnDisk, found: CachedPosterior, raced: bool, notes: tuple[str, ...]
) -> Basis:
    names, race = found.algorithms, store.rounds.last()
    pareto_set = None
    if race is not None:
        remaining, entered = set(race.state.candidates), set(race.state.algorithms)
        # an algorithm that never raced was not eliminated
        pareto_set = tuple(n for n in names if n in remaining or n not in entered)
    fit = named(found.posterior.fit, names, found.times)
    if fit is not None and fit.words:
        notes = (fit.words, *notes)
    return Basis(
        **vars(found),
        source="race" if raced else "infer",
        axis=store.settings.budget.axis,
        pareto_set=pareto_set or None,
        notes=notes,
    )


def contest(basis: Basis, among: Sequence[str] | None = None, alpha: float = ALPHA) -> Contest:
    """The algorithms that compete: those named, the race's Pareto set, or those not dominated."""
    names = basis.algorithms
    all_items = range(len(names))
    if among is not None:
        for name in among:
            if name not in names:
                raise SelectionError(f"{unknown('algorithm', name, names)} (in this posterior)")
        chosen = [i for i in all_items if names[i] in among]
        reason = "not named by --algorithms"
    elif basis.pareto_set is not None:
        chosen = [i for i in all_items if names[i] in basis.pareto_set]
        reason = "eliminated by the race"
    else:
        chosen = undominated(basis.posterior, alpha)
        reason = f"dominated: another one is better at each time, P >= {short(alpha)}"
    left_out = tuple(i for i in all_items if i not in chosen)
    return Contest(tuple(chosen), left_out, reason)


def undominated(posterior: Posterior, alpha: float = ALPHA) -> list[int]:
    """Algorithms that no other one beats at each time with probability alpha.

    An algorithm is not left out because of a cycle of dominances.
    """
    if not 0.5 < alpha <= 1:
        raise SelectionError(f"the decision threshold alpha must lie in (0.5, 1], found {alpha:g}")
    above = pointwise(posterior).dominance.min(axis=0) >= alpha
    above &= ~reached(above).T
    return [int(i) for i in np.flatnonzero(~above.any(axis=0))]


def _limits(store: StoreOnDisk, found: CachedPosterior, raced: bool) -> tuple[str, ...]:
    """Notes on data in the store that the posterior does not include."""
    remedy = "`polarbear race` includes it" if raced else "`polarbear infer` includes it"
    notes = []
    missing = [name for name in store.settings.algorithms if name not in found.algorithms]
    if missing:
        notes.append(f"the posterior does not include {', '.join(missing)}: {remedy}")
    problems = store.problems()
    now = store.count_compared_instances()
    if not problems and now > found.instances:
        notes.append(
            f"the posterior uses {found.instances} of the store's {counted(now, 'problem')}: "
            f"{remedy}"
        )
    if not raced and store.posteriors.runs_changed_since(found.key):
        notes.append(f"runs were set aside or restored since the posterior was inferred: {remedy}")
    times = store.settings.budget.times
    if times.tolist() != found.times.tolist():
        notes.append(f"the store's grid has changed since: {remedy}")
    return tuple(notes)
