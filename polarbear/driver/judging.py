"""From a round's evidence to what decides it: a posterior, and as many draws as decisions need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from polarbear import racing as race
from polarbear.config import Config
from polarbear.driver.evidence import Evidence, Tally
from polarbear.driver.judgement import Judgement, refined, relations_of
from polarbear.driver.posteriors import Learned, learn, learn_newcomer
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
        if options.splits_by_time and not state.joining:
            seed = derived_seed(self._config.seed, "race", state.round + 1, "more")
            further = options.model_copy(update={"draws": more.draws - options.draws})
            before = learned.posterior.n_draws
            pointwise = refined(evidence, further, seed, rules, hanging, pointwise, before)
        else:
            pointwise, joint = relations_of(self._learn(state, evidence, more).posterior, rules)
        return Judgement(learned, evidence, pointwise, joint, more.draws)

    def among(self, state: State, judged: Judgement) -> Judgement:
        """The same, first places being among those who are still in."""
        options = judged.learned.posterior.options
        if options.plackett_luce:
            return judged
        seed = judged.learned.posterior.seed
        before = judged.learned
        learned = learn(self._store, judged.evidence, options, seed, state.candidates, before)
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
