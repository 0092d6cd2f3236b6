"""From a round's evidence to what decides it: a posterior, and as many draws as decisions need."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from polarbear import racing as race
from polarbear.config import Config
from polarbear.driver.evidence import Evidence, Tally
from polarbear.driver.judgement import Judgement, relations_of
from polarbear.driver.posteriors import Learned, key_of, learn, learn_among
from polarbear.driver.refining import Tables, refined_pairs, refined_times
from polarbear.inference import ModelOptions
from polarbear.numerics.seeds import derived_seed
from polarbear.problems.base import Instance
from polarbear.racing import State
from polarbear.store import Store

if TYPE_CHECKING:
    from polarbear.inference.empirical.engine import Empirical

FIRST_LOOK = 1000  # draws at least, or one in four of a posterior's
OF_CHAINS = 1.6  # times as many, so that the worst ratings' effective number is not too low
MORE = 4  # times a posterior's draws at most, where an elimination hangs on their number


class Judge:
    """Infers by a configuration; ``first`` gives the first so many instances of a race.

    Most decisions are clear from few draws. So a round takes a part of a posterior's, and more only
    of pairs, or at times, on which something hangs. Nobody is put out by fewer than a posterior's.
    Where draws cannot be added to some pairs or times it takes all of them at once.
    """

    def __init__(
        self, config: Config, store: Store, tally: Tally, first: Callable[[int], list[Instance]]
    ) -> None:
        self._config = config
        self._store = store
        self._tally = tally
        self._first = first

    def evidence(self, state: State, more: int = 0) -> Evidence:
        """What the instances of a state say, and so many more."""
        return self._tally.evidence(self._first(state.instances + more), state.algorithms)

    def judge(self, state: State, evidence: Evidence) -> Judgement:
        """The posterior, and relations that have enough draws for the decisions at hand."""
        options, rules = self._config.inference, self._config.race
        model = None if options.plackett_luce else evidence.empirical(options)
        piecemeal = model is not None or (
            options.splits_by_time and options.engine == "native" and not state.joining
        )
        looks = [MORE * options.draws, options.draws]
        at_first = max(FIRST_LOOK, options.draws // 4) * (OF_CHAINS if model is None else 1)
        if piecemeal and at_first < options.draws:
            looks.append(int(at_first))
        usable = False
        while looks and not usable:
            learned = self._learn(state, evidence, self._with(looks.pop()), model)
            usable = learned.posterior.usable
        if not usable:
            return Judgement(learned, evidence, None, None, learned.posterior.n_draws)
        pointwise, joint = relations_of(learned.posterior, rules)
        judged = Judgement(learned, evidence, pointwise, joint, learned.posterior.n_draws)
        if piecemeal:
            return self._more(state, judged, model)
        if not looks or not race.hanging(state, rules, pointwise, joint).any():
            return judged
        more = self._learn(state, evidence, self._with(looks[0])).posterior
        pointwise, joint = relations_of(more, rules)
        return replace(judged, pointwise=pointwise, joint=joint, draws=more.n_draws)

    def _more(self, state: State, judged: Judgement, model: Empirical | None) -> Judgement:
        """Draws of pairs, or at times, whose decisions hang on them, until none does or they are
        enough."""
        rules, options, known = self._config.race, self._config.inference, judged.learned.posterior
        assert judged.pointwise is not None
        tables: Tables = judged.pointwise, judged.joint
        axis, places = (1, len(state.times)) if model is None else (0, len(state.pairs))
        draws = np.full(places, known.n_draws)
        for k in itertools.count(1):
            settling = race.settling_hangs(state, rules, tables[0]).any(axis=axis)
            elimination = race.elimination_hangs(state, rules, *tables).any(axis=axis)
            going = race.about_to_go(state, rules, *tables)
            last = going.any() if model is None else going
            hanging = (settling | last) & (draws < options.draws)
            hanging |= elimination & (draws < MORE * options.draws)
            if not hanging.any():
                break
            seed = derived_seed(self._config.seed, "race", state.round + 1, "more", k)
            beyond = int(draws[hanging].min()) >= options.draws
            further = options.draws if beyond else options.draws - known.n_draws
            if model is None:
                asked = judged.evidence, self._with(further), seed, rules, hanging, tables[0]
                pointwise, draws = refined_times(*asked, draws)
                tables = pointwise, None
            else:
                further = min(further, model.most_draws)
                tables, draws = refined_pairs(
                    model, known, seed, rules, hanging, tables, draws, further
                )
        return replace(judged, pointwise=tables[0], joint=tables[1], draws=int(draws.max()))

    def among(self, state: State, judged: Judgement) -> Judgement:
        """The same, first places being among those who are still in."""
        field = state.candidates
        learned = learn_among(self._store, judged.evidence, judged.learned, field)
        return replace(judged, learned=learned, field=field)

    def whole(self, judged: Judgement) -> Judgement:
        """The same with all draws of a posterior, where decisions took fewer."""
        if not self._is_part(judged.learned):
            return judged
        options, seed = self._config.inference, judged.learned.posterior.seed
        learned = learn(self._store, judged.evidence, options, seed, judged.field)
        return replace(judged, learned=learned)

    def key_of_whole(self, judged: Judgement) -> str:
        """Names the posterior with all its draws."""
        if not self._is_part(judged.learned):
            return judged.learned.key
        options, seed = self._config.inference, judged.learned.posterior.seed
        return key_of(judged.evidence, options, seed, judged.field)

    def _is_part(self, learned: Learned) -> bool:
        return learned.posterior.options.draws < self._config.inference.draws

    def _with(self, draws: int) -> ModelOptions:
        return self._config.inference.model_copy(update={"draws": draws})

    def _learn(
        self,
        state: State,
        evidence: Evidence,
        options: ModelOptions,
        model: Empirical | None = None,
    ) -> Learned:
        """A round's posterior."""
        seed = derived_seed(self._config.seed, "race", state.round + 1)
        return learn(self._store, evidence, options, seed, state.candidates, model)
