"""The loop of a design: ask, store, judge, and keep the set small.

A generation depends on stored runs, stored proposals and the seed alone. So a design that is killed
anywhere and started again ends with the same generations.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from polarbear.algorithms import Algorithm
from polarbear.api.judging import judge_in, settle
from polarbear.api.listening import Listener
from polarbear.api.posterior import infer
from polarbear.config.configuration import Config
from polarbear.config.design_spaces import Design
from polarbear.driver.loop import Race
from polarbear.driver.reconcile import Answers, take_in
from polarbear.errors import ConfigError, PolarBearError
from polarbear.numerics.seeds import derived_seed
from polarbear.proposers.base import Member, Request, Tried
from polarbear.proposers.proposals import algorithm_of, ask, entry_of, proposer_of, write_code
from polarbear.racing import State
from polarbear.selection.presets import SetFacts
from polarbear.store import StoreOnDisk
from polarbear.store.generations import StoredGeneration, StoredProposal, StoredVerdict
from polarbear.wording import counted, joined, timed

FAILED = "failed"
START = "start"  # in place of a proposer in generation 0


@dataclass(frozen=True)
class DesignEnd:
    """How a design ended: why, and whether a limit was the reason."""

    because: str
    at_limit: bool


class DesignLoop:
    """A design on a store; the caller holds the store's lock."""

    def __init__(self, config: Config, disk: StoreOnDisk, listener: Listener) -> None:
        self._config = config
        self._options = config.design
        self._disk = disk
        self._listener = listener
        self._began = time.monotonic()
        self._proposer = proposer_of(config.design.propose, config.spaces)
        self.algorithms: dict[str, Algorithm] = {
            algorithm.name: algorithm for algorithm in config.algorithms
        }
        self.designs: dict[str, Design] = dict(config.designs)
        self.generations: list[StoredGeneration] = []

    @property
    def members(self) -> tuple[str, ...]:
        """The present set."""
        return self._state.candidates

    @property
    def _state(self) -> State:
        last_round = self._disk.rounds.last()
        assert last_round is not None  # the first generation is a race
        return last_round.state

    def run(self) -> DesignEnd:
        """Search until the set is stable or a limit is reached."""
        for generation in self._disk.generations.all():
            self._remember(generation)
        if not self.generations or not self.generations[0].is_complete:
            self._begin()
        while True:
            end = self._ended()
            if end is not None:
                return end
            end = self._generation()
            if end is not None:
                return end

    def _remember(self, generation: StoredGeneration) -> None:
        """Take over a stored generation."""
        self.generations = [
            *(other for other in self.generations if other.generation != generation.generation),
            generation,
        ]
        for proposal in generation.proposals:
            if proposal.flaw or proposal.name in self._config.designs:
                continue
            write_code(proposal, self._config.folder)
            self.algorithms[proposal.name] = algorithm_of(proposal)
            if proposal.algorithm is not None:
                self.designs[proposal.name] = Design(proposal.algorithm, proposal.values)

    def _begin(self) -> None:
        """Race the algorithms of the configuration, and run the survivors on all problems."""
        configured = [
            StoredProposal(
                name, design.algorithm, dict(design.values), entry_of(self.algorithms[name])
            )
            for name, design in self.designs.items()
        ]
        beginning = StoredGeneration(
            0,
            START,
            proposals=[*configured, *self._first_opponents()],
            spaces={name: space.space.to_plain() for name, space in self._config.spaces.items()},
        )
        self._remember(beginning)
        n_problems = self._options.problems
        limits = self._config.race.limits
        fewer = min(n_problems, limits.instances or n_problems)
        rules = self._config.race.model_copy(
            update={"limits": limits.model_copy(update={"instances": fewer})}
        )
        settings = replace(self._config, race=rules, algorithms=tuple(self.algorithms.values()))
        for note in take_in(settings, self._disk, Answers(), racing=True):
            self._listener.note(note)
        pending = self._disk.rounds.requested()
        if pending is None:
            with self._listener.race(self._disk) as display:
                watchers = [] if display is None else [display]
                on_finding = self._listener.warn if settings.execution.check else None
                Race(settings, self._disk, watchers, on_finding=on_finding).run()
        n_further = n_problems - self._state.instances
        if pending is not None:
            n_further = pending.problems
        if n_further > 0:
            Race(settings, self._disk, more=n_further).run()
        n_algorithms = counted(len(self.algorithms), "algorithm")
        self._note(f"{n_algorithms} to begin with: {self._words_on_set()}")
        self._store(replace(beginning, members=list(self.members), is_complete=True))

    def _first_opponents(self) -> list[StoredProposal]:
        """A configuration that is drawn at random, if there is one algorithm only.

        A race needs two.
        """
        if len(self._config.algorithms) > 1:
            return []
        if not self._config.spaces:
            raise ConfigError(
                "a design begins with two algorithms or more, or with one that has a 'space'; "
                "found one without"
            )
        (name, design_space), *_ = self._config.spaces.items()
        rng = np.random.default_rng(derived_seed(self._config.seed, "design", 0))
        values = design_space.space.draw(rng)
        entry = entry_of(design_space.configured(f"{name} 0.1", values))
        return [StoredProposal(f"{name} 0.1", name, values, entry)]

    def _store(self, generation: StoredGeneration) -> None:
        self._disk.generations.store(generation)
        self._remember(generation)

    def _generation(self) -> DesignEnd | None:
        """One generation; returns how the design has ended if a limit ends it within.

        Each step is stored before the next one begins, so that no step is taken twice.
        """
        generation = self.generations[-1]
        if generation.is_complete:
            generation = ask(self._proposer, self._request(generation.generation + 1))
            self._store(generation)
        if len(generation.verdicts) < len(generation.proposals):
            verdicts = []
            for proposal in generation.proposals:
                limit = self._limit_words()
                if limit is not None:
                    return DesignEnd(f"{limit} reached", at_limit=True)
                verdicts.append(self._verdict(proposal))
            generation = replace(generation, verdicts=verdicts)
        if not generation.members:
            n_surplus = len(self.members) - self._options.members
            dropped = self.facts().least_missed(n_surplus) if n_surplus > 0 else []
            generation = replace(generation, members=list(self.members), dropped=dropped)
            self._store(generation)
        self._drop(generation)
        self._store(replace(generation, members=list(self.members), is_complete=True))
        self._report(self.generations[-1], self.generations[-2].members)
        return None

    def _request(self, number: int) -> Request:
        facts = self.facts()
        return Request(
            generation=number,
            candidates=self._options.candidates,
            seed=derived_seed(self._config.seed, "design", number),
            axis=self._config.budget.axis,
            times=tuple(facts.times.tolist()),
            members=tuple(
                Member(name, tuple(facts.p_best[:, item].tolist()), self.designs.get(name))
                for item, name in enumerate(facts.members)
            ),
            tried=tuple(self.tried()),
            spaces=self._config.spaces,
            folder=self._config.folder,
        )

    def tried(self) -> list[Tried]:
        """All proposals that have a verdict, in their order."""
        return [
            Tried(generation.generation, proposal, verdict)
            for generation in self.generations
            for proposal, verdict in zip(generation.proposals, generation.verdicts, strict=False)
        ]

    def facts(self) -> SetFacts:
        """P(best) and values of the present set, from the runs of all problems."""
        members = self.members
        if len(members) == 1:
            return SetFacts.of_one(members[0], self._config.budget.times)
        posterior = infer(
            self._disk,
            None,
            algorithms=members,
            seed=self._config.seed,
            tie_tolerance=self._config.race.tie_tolerance,
            grid=None,
            until=None,
            keep=False,
            listener=None,
        )
        return SetFacts.of(posterior)

    def _verdict(self, proposal: StoredProposal) -> StoredVerdict:
        """The verdict on a proposal; one that cannot be judged has failed."""
        if proposal.flaw:
            return StoredVerdict(proposal.name, FAILED, 0.0, proposal.flaw, 0, 0)
        newcomer = self.algorithms[proposal.name]
        in_race = [self.algorithms[name] for name in self._state.algorithms]
        others = [algorithm for algorithm in in_race if algorithm.name != proposal.name]
        settings = replace(self._config, algorithms=(*others, newcomer))
        try:
            judgement = judge_in(self._disk, settings, proposal.name, None, self._listener)
            settle(self._disk, settings, judgement)
        except PolarBearError as error:
            self._listener.warn(f"'{proposal.name}' could not be judged: {error}")
            raise
        return StoredVerdict(
            name=proposal.name,
            verdict=str(judgement.verdict),
            score=judgement.score,
            text=judgement.text,
            problems=judgement.cost.problems,
            evaluations=judgement.cost.evaluations,
        )

    def _drop(self, generation: StoredGeneration) -> None:
        """Take members out of the set; another race on the same problems decides about the rest."""
        if not generation.dropped:
            return
        kept = [
            self.algorithms[name] for name in generation.members if name not in generation.dropped
        ]
        limits = self._config.race.limits.model_copy(update={"instances": self._options.problems})
        rules = self._config.race.model_copy(update={"limits": limits})
        settings = replace(self._config, algorithms=tuple(kept), race=rules)
        last_round = self._disk.rounds.last()
        names_in_race = () if last_round is None else last_round.state.algorithms
        is_in_race = any(name in names_in_race for name in generation.dropped)
        take_in(settings, self._disk, Answers(redecide=is_in_race), racing=True)
        Race(settings, self._disk).run()

    def _ended(self) -> DesignEnd | None:
        """How the design has ended, if it has."""
        if not self.generations[-1].is_complete:
            return None
        n_unchanged = 0
        for before, after in zip(self.generations[-2::-1], self.generations[:0:-1], strict=True):
            if set(before.members) != set(after.members):
                break
            n_unchanged += 1
        if n_unchanged >= self._options.stable:
            words = counted(n_unchanged, "generation")
            return DesignEnd(f"{words} did not change the set", at_limit=False)
        limit = self._options.generations
        if limit is not None and self.generations[-1].generation >= limit:
            return DesignEnd(f"the limit of {counted(limit, 'generation')} is reached", True)
        words_on_limit = self._limit_words()
        return None if words_on_limit is None else DesignEnd(f"{words_on_limit} reached", True)

    def _limit_words(self) -> str | None:
        """The limit of runs or time that is reached, in words."""
        limits = self._config.race.limits
        runs = self._disk.every_run()
        if limits.evaluations is not None:
            evaluations = int(runs.select(pl.col("evaluations").sum()).item())
            if evaluations >= limits.evaluations:
                return f"the limit of {counted(limits.evaluations, 'evaluation')} is"
        if limits.spent is not None and runs.select(pl.col("reached").sum()).item() >= limits.spent:
            return f"the limit of {timed(limits.spent, self._config.budget.axis)} is"
        hours = (time.monotonic() - self._began) / 3600
        if limits.hours is not None and hours >= limits.hours:
            return f"the limit of {limits.hours:g} hours is"
        return None

    def _report(self, generation: StoredGeneration, members_before: list[str]) -> None:
        """Say what a generation has brought."""
        if generation.failure:
            self._listener.warn(
                f"generation {generation.generation}: the proposer '{generation.proposer}' failed: "
                f"{generation.failure}"
            )
            return
        counts = verdict_counts(generation)
        parts = [f"{count} {verdict}" for verdict, count in counts.items()]
        changed = set(generation.members) != set(members_before)
        change = self._words_on_set() if changed else "the set has not changed"
        self._note(
            f"generation {generation.generation}: {counted(len(generation.proposals), 'candidate')}"
            f" ({', '.join(parts)}); {change}"
        )

    def _words_on_set(self) -> str:
        return f"the set is {joined(list(self.members))}"

    def _note(self, text: str) -> None:
        self._listener.note(text)


def verdict_counts(generation: StoredGeneration) -> Mapping[str, int]:
    """How many proposals of a generation have each verdict."""
    counts: dict[str, int] = {}
    for verdict in generation.verdicts:
        counts[verdict.verdict] = counts.get(verdict.verdict, 0) + 1
    return counts
