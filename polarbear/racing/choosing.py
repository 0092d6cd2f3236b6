"""What is open about the choice after a round: for a preference, or at each time of the grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from polarbear.inference import Posterior
from polarbear.inference.strongest_rival import (
    gains_over,
    likeliest_best,
    p_best,
    p_equivalent,
    rival_values,
)
from polarbear.racing.choice_questions import ChoiceQuestion, OpenChoice, OutForPurpose
from polarbear.racing.open_questions import open_questions
from polarbear.racing.pair_evidence import PairEvidence, enough_problems
from polarbear.racing.purpose import Purpose
from polarbear.racing.rules import Rules
from polarbear.racing.state import State
from polarbear.rankings.duels import DuelRecord, ProblemDuels, fewest_shared
from polarbear.wording import joined, short

# The share of the threshold that rivals may cause together which make no further runs.
NEGLIGIBLE_SHARE = 0.5


def unanswered(state: State, purposes: Sequence[Purpose], rules: Rules) -> State:
    """The state with the questions about the choice that a race asks, all of them open."""
    questions = [
        ChoiceQuestion(
            purpose.preference,
            purpose.threshold,
            open=(_open_choice(state, purpose.is_used, state.candidates),),
        )
        for purpose in purposes
    ]
    if not purposes and rules.regret is not None:
        is_used = np.ones(len(state.times), dtype=bool)
        open_choice = _open_choice(state, is_used, state.candidates)
        questions.append(ChoiceQuestion(None, rules.regret, open=(open_choice,)))
    return replace(state, choices=tuple(questions))


def asks_the_same(state: State, purposes: Sequence[Purpose], rules: Rules) -> bool:
    """Whether a state has the questions about the choice that a race asks."""
    expected = unanswered(state, purposes, rules).choices
    return [(question.preference, question.threshold) for question in state.choices] == [
        (question.preference, question.threshold) for question in expected
    ]


def _open_choice(
    state: State,
    is_open: np.ndarray,
    algorithms: Sequence[str],
    regret: float | None = None,
    p_best_of_choice: float | None = None,
) -> OpenChoice:
    """A choice between some algorithms that is open at these times: bool[time]."""
    open_times = np.flatnonzero(is_open)
    return OpenChoice(
        algorithms=tuple(algorithms),
        first=state.times[open_times[0]],
        last=state.times[open_times[-1]],
        regret=regret,
        p_best=p_best_of_choice,
    )


def judged(
    state: State,
    purposes: Sequence[Purpose],
    rules: Rules,
    posterior: Posterior,
    duels: ProblemDuels,
    bet_per_problem: float = 1.0,
) -> State:
    """The state with its questions about the choice judged by a posterior and its duels.

    Bets on the higher value count each problem as ``bet_per_problem`` times its weight.
    """
    if state.is_for_preferences:
        questions = [
            _judged_for(
                state,
                question,
                purpose,
                rules,
                posterior,
                purpose.record(duels).scaled(bet_per_problem),
            )
            for question, purpose in zip(state.choices, purposes, strict=True)
        ]
    else:
        questions = [
            _judged_at_each_time(state, question, rules, posterior, duels.record())
            for question in state.choices
        ]
    return replace(state, choices=tuple(questions))


def answer_words(question: ChoiceQuestion) -> str:
    """Why the choice for a preference is good enough."""
    words = (
        f"the expected regret of {question.choice} for '{question.preference}' is "
        f"{question.expected_regret:.2g}"
    )
    if question.expected_regret is not None and question.expected_regret < question.threshold:
        return f"{words}, below {short(question.threshold)}"
    return f"{words}, and {question.choice} is as good as {joined(question.as_good_as)}"


def without_idle_newcomer(state: State) -> tuple[State, str | None]:
    """End the catching up of a newcomer that no open question is about; also returns its name."""
    name = state.joining
    if name is None or open_questions(state):
        return state, None
    return replace(state, joining=None, caught_up=0), name


def _judged_for(
    state: State,
    question: ChoiceQuestion,
    purpose: Purpose,
    rules: Rules,
    posterior: Posterior,
    record: DuelRecord,
) -> ChoiceQuestion:
    """The choice for a preference: whether it is good enough, and who may still be it."""
    choice = _Choice.of(state, purpose, rules, posterior, record)
    out = _out_for_purpose(state, question, choice, rules, record)
    is_in = np.array([name not in out for name in choice.names])
    _return_those_that_matter(is_in, choice, question.threshold)
    names_in = tuple(np.array(choice.names)[is_in].tolist())
    open_choices: tuple[OpenChoice, ...] = ()
    if choice.is_open(question.threshold):
        p_best_of_choice = float(choice.p_best[choice.item])
        open_choices = (
            _open_choice(state, purpose.is_used, names_in, choice.excess, p_best_of_choice),
        )
    return replace(
        question,
        open=open_choices,
        out=tuple(entry for entry in out.values() if entry.algorithm not in names_in),
        choice=choice.names[choice.item],
        p2bb=float(choice.p_best[choice.item]),
        expected_regret=float(choice.gains.sum()),
        as_good_as=tuple(choice.names[i] for i in np.flatnonzero(choice.is_equivalent)),
    )


@dataclass(frozen=True)
class _Choice:
    """The choice for a preference among the candidates of a race.

    Arrays are over ``names``, of which ``item`` is the index of the choice and ``rival`` that of
    its strongest rival, None without any. ``gains`` split the expected regret of the choice by the
    algorithm that is best, ``p_higher[a, b]`` is the probability that a has the higher value, and
    ``has_enough[a, b]`` says whether a pair has shared as many problems as a recommendation needs.
    """

    names: tuple[str, ...]
    item: int
    rival: int | None
    mean: np.ndarray
    p_best: np.ndarray
    gains: np.ndarray
    p_higher: np.ndarray
    is_equivalent: np.ndarray
    has_enough: np.ndarray

    @classmethod
    def of(
        cls,
        state: State,
        purpose: Purpose,
        rules: Rules,
        posterior: Posterior,
        record: DuelRecord,
    ) -> _Choice:
        names = state.candidates
        items = [state.algorithms.index(name) for name in names]
        values = purpose.values(posterior, items)
        mean = values.mean(axis=0, dtype=np.float64)
        p_best_of_items = p_best(values)
        item = int(likeliest_best(p_best_of_items, mean))
        rival = purpose.strongest_rival(posterior, items[item], items)
        has_enough = _at_every_time(enough_problems(record), items)
        is_equivalent = [
            other != item
            and bool(has_enough[item, other])
            and purpose.p_equivalent(posterior, items[item], items[other], rules.epsilon)
            >= rules.alpha
            for other in range(len(items))
        ]
        return cls(
            names=names,
            item=item,
            rival=None if rival is None else items.index(rival),
            mean=mean,
            p_best=p_best_of_items,
            gains=gains_over(values, np.array(item)),
            p_higher=np.array([(values[:, [a]] > values).mean(axis=0) for a in range(len(items))]),
            is_equivalent=np.array(is_equivalent),
            has_enough=has_enough,
        )

    @property
    def excess(self) -> float:
        """The expected regret of the choice that comes from rivals that are not equivalent."""
        return float(self.gains[~self.is_equivalent].sum())

    @property
    def is_too_early(self) -> bool:
        """Whether `select` would find it too early to recommend the choice."""
        if self.rival is None:
            return False
        is_chance = self.p_best[self.item] <= 1 / len(self.names)
        return not self.has_enough[self.item, self.rival] or bool(
            is_chance and not self.is_equivalent.any()
        )

    def is_open(self, threshold: float) -> bool:
        return self.excess >= threshold or self.is_too_early


def _at_every_time(table: np.ndarray, items: Sequence[int]) -> np.ndarray:
    """Where a table[time, a, b] of all algorithms holds at every time, for some: bool[a, b]."""
    return np.array(np.all(table, axis=0), ndmin=2)[np.ix_(items, items)]


def _out_for_purpose(
    state: State,
    question: ChoiceQuestion,
    choice: _Choice,
    rules: Rules,
    record: DuelRecord,
) -> dict[str, OutForPurpose]:
    """The algorithms that are out for a preference, those of earlier rounds first.

    An algorithm is out when one that is still in has the higher value with probability alpha and,
    under a guarantee, with the betting wealth that this asks for.
    """
    names = choice.names
    out = {entry.algorithm: entry for entry in question.out if entry.algorithm in names}
    evidence = PairEvidence.of(record)
    items = [state.algorithms.index(name) for name in names]
    # No cycle has a higher mean value at each of its steps.
    is_higher = choice.mean[:, np.newaxis] > choice.mean
    is_in = np.array([name not in out for name in names])
    is_sure = choice.has_enough & (choice.p_higher >= rules.alpha)
    beats = np.asarray(is_sure & is_higher & np.outer(is_in, is_in))
    proven = evidence.proven(rules, state.initial)
    if proven is not None:
        beats = np.asarray(beats & _at_every_time(proven, items))
    is_beaten = np.asarray(beats.any(axis=0))
    for b in np.flatnonzero(is_beaten):
        by = max(
            np.flatnonzero(beats[:, b]),
            key=lambda a: (not is_beaten[a], choice.p_higher[a, b], -a),
        )
        out[names[b]] = OutForPurpose(
            algorithm=names[b],
            by=names[by],
            round=state.round,
            problems=fewest_shared(record.shared, state.algorithms, (names[by], names[b])),
            probability=float(choice.p_higher[by, b]),
            wealth=None if proven is None else evidence.wealth(items[by], items[b]),
        )
    return out


def _return_those_that_matter(is_in: np.ndarray, choice: _Choice, threshold: float) -> None:
    """Consider algorithms again that were out, where only they keep the choice open.

    These are the choice itself, its strongest rival if the two share too few problems, and those
    that the expected regret comes from.
    """
    is_in[choice.item] = True
    if choice.rival is not None and not choice.has_enough[choice.item, choice.rival]:
        is_in[choice.rival] = True
    gains = np.where(choice.is_equivalent, 0.0, choice.gains)
    if gains.sum() < threshold:
        return
    for i in np.argsort(-gains, kind="stable"):
        if gains[is_in].sum() >= threshold:
            return
        is_in[i] = True


def _judged_at_each_time(
    state: State,
    question: ChoiceQuestion,
    rules: Rules,
    posterior: Posterior,
    record: DuelRecord,
) -> ChoiceQuestion:
    """The choice at each time of the grid: where it is open, and between which algorithms."""
    names = state.candidates
    if len(names) < 2:
        return replace(question, open=())
    items = [state.algorithms.index(name) for name in names]
    values = rival_values(posterior, items, np.asarray)
    p_best_at_times = p_best(values)
    choice = likeliest_best(p_best_at_times, values.mean(axis=0, dtype=np.float64))
    gains = gains_over(values, choice)
    against_choice, is_equivalent = _against_choice(posterior, items, choice, rules)
    gains[is_equivalent] = 0.0
    times = np.arange(len(state.times))
    rival = against_choice.argmax(axis=1)
    has_enough = enough_problems(record)[times, np.array(items)[choice], np.array(items)[rival]]
    excess = gains.sum(axis=1)
    is_open = (excess > question.threshold) | ~has_enough
    contenders = [
        _contenders(gains[t], int(choice[t]), int(rival[t]), question.threshold)
        if is_open[t]
        else ()
        for t in times
    ]
    open_choices = []
    for group, same_contenders in groupby(times.tolist(), key=contenders.__getitem__):
        group_times = list(same_contenders)
        if group:
            is_in_group = np.isin(times, group_times)
            algorithms = [names[i] for i in group]
            worst = max(group_times, key=lambda t: float(excess[t]))
            open_choices.append(
                _open_choice(
                    state,
                    is_in_group,
                    algorithms,
                    float(excess[worst]),
                    float(p_best_at_times[worst, choice[worst]]),
                )
            )
    return replace(question, open=tuple(open_choices))


def _against_choice(
    posterior: Posterior, items: Sequence[int], choice: np.ndarray, rules: Rules
) -> tuple[np.ndarray, np.ndarray]:
    """The mean win rate of each item against the choice at each time, and whether it is equivalent.

    Both are [time, item]; the choice itself has the win rate -1.
    """
    mean = np.full((len(choice), len(items)), -1.0)
    is_equivalent = np.zeros(mean.shape, dtype=bool)
    for item in np.unique(choice):
        is_chosen = choice == item
        for other in range(len(items)):
            if other != item:
                wins = posterior.head_to_head(items[other], items[item])[:, is_chosen]
                mean[is_chosen, other] = wins.mean(axis=0, dtype=np.float64)
                is_equivalent[is_chosen, other] = p_equivalent(wins, rules.epsilon) >= rules.alpha
    return mean, is_equivalent


def _contenders(gains: np.ndarray, choice: int, rival: int, threshold: float) -> tuple[int, ...]:
    """The choice at a time, its strongest rival, and those that its expected regret comes from.

    Left out are those that cause a negligible share of the threshold together.
    """
    ascending = np.argsort(gains, kind="stable")
    is_negligible = np.cumsum(gains[ascending]) <= NEGLIGIBLE_SHARE * threshold
    return tuple(sorted({choice, rival, *ascending[~is_negligible].tolist()}))
