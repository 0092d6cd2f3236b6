"""From a round's evidence to what decides it: a posterior, and as many draws as decisions need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from polarbear import racing as race
from polarbear.config import Config
from polarbear.driver.evidence import Evidence, Tally
from polarbear.driver.judgement import Judgement, relations_of
from polarbear.driver.posteriors import Learned, learn, learn_among, learn_newcomer
from polarbear.driver.refining import Tables, refined_pairs, refined_times
from polarbear.inference import ModelOptions
from polarbear.numerics.seeds import derived_seed
from polarbear.problems.base import Instance
from polarbear.racing import State
from polarbear.store import Store

MORE = 4  # times as many draws where a decision hangs on their number


class Judge:
    """Infers by a configuration; ``first`` gives the first so many instances of a race."""

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
        more = options.model_copy(update={"draws": MORE * options.draws})
        learned = self._learn(state, evidence, options)
        if not learned.posterior.usable:
            options, learned = more, self._learn(state, evidence, more)
            if not learned.posterior.usable:
                return Judgement(learned, evidence, None, None, options.draws)
        pointwise, joint = relations_of(learned.posterior, rules)
        hanging = race.hanging(state, rules, pointwise, joint)
        if not hanging.any() or options is more:
            return Judgement(learned, evidence, pointwise, joint, options.draws)
        if not options.plackett_luce:
            return self._more_of_pairs(state, Judgement(learned, evidence, pointwise, joint, 0))
        if options.splits_by_time and not state.joining:
            seed = derived_seed(self._config.seed, "race", state.round + 1, "more")
            further = options.model_copy(update={"draws": more.draws - options.draws})
            before, times = learned.posterior.n_draws, np.asarray(hanging.any(axis=1))
            pointwise = refined_times(evidence, further, seed, rules, times, pointwise, before)
        else:
            pointwise, joint = relations_of(self._learn(state, evidence, more).posterior, rules)
        return Judgement(learned, evidence, pointwise, joint, more.draws)

    def _more_of_pairs(self, state: State, judged: Judgement) -> Judgement:
        """Draws of pairs whose decisions hang on them, until none does or they are enough."""
        rules, posterior = self._config.race, judged.learned.posterior
        model = judged.evidence.empirical(posterior.options)
        assert judged.pointwise is not None
        tables: Tables = judged.pointwise, judged.joint
        draws = np.full(len(state.pairs), posterior.n_draws)
        for k in range(1, MORE):
            hanging = np.asarray(race.hanging(state, rules, *tables).any(axis=0))
            if not hanging.any():
                break
            seed = derived_seed(self._config.seed, "race", state.round + 1, "more", k)
            tables, draws = refined_pairs(model, posterior, seed, rules, hanging, tables, draws)
        return replace(judged, pointwise=tables[0], joint=tables[1], draws=int(draws.max()))

    def among(self, state: State, judged: Judgement) -> Judgement:
        """The same, first places being among those who are still in."""
        learned = learn_among(self._store, judged.evidence, judged.learned, state.candidates)
        return replace(judged, learned=learned)

    def _learn(self, state: State, evidence: Evidence, options: ModelOptions) -> Learned:
        """A round's posterior; while a newcomer catches up, it moves nobody else's."""
        seed = derived_seed(self._config.seed, "race", state.round + 1)
        if not state.joining or not options.plackett_luce:
            return learn(self._store, evidence, options, seed, state.candidates)
        others = self._tally.evidence(
            self._first(len(evidence.grid.instances)), state.algorithms[:-1]
        )
        before = derived_seed(self._config.seed, "race", state.entered)
        believed = learn(self._store, others, options, before)
        return learn_newcomer(self._store, believed, evidence, seed)
