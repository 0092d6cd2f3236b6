"""The commands that answer what a race has left open.

`race`, `status`, `select`, `report` and its page all print these.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from polarbear.racing import VerdictKind
from polarbear.racing.recommendation import MIN_PROBLEMS
from polarbear.racing.rules import RaceLimits
from polarbear.wording import short_between, typed

if TYPE_CHECKING:
    from polarbear.facts.standings import Standings

IMPORTED = "imported"  # the suite of a store to which no command adds runs
SPECIAL = set('"$`\\!')  # what a shell does not leave alone in double quotes
SUFFIXES = (".yaml", ".yml")  # of a configuration beside the store that is named after it


def race_command(store: Path, config: Path | None = None) -> str:
    """The command that continues the race in a store, by its configuration if that is known.

    A store is by default named after its configuration and lies beside it.
    """
    return f"polarbear race {_configuration(store, config)}"


def run_command(store: Path, problems: int) -> str:
    """The command that runs all algorithms on more than these problems, without a race."""
    n_problems = problems + max(MIN_PROBLEMS, problems)
    return f"polarbear run {_configuration(store)} --instances {n_problems}"


def _configuration(store: Path, config: Path | None = None) -> str:
    """The arguments that name a configuration, and its store where that has another name."""
    beside = [store.with_name(f"{store.name}{suffix}") for suffix in SUFFIXES]
    if config is None:
        config = next((file for file in beside if file.is_file()), None)
    if config is None:
        return f"CONFIG --store {shlex.quote(str(store))}"
    argument = shlex.quote(str(config))
    is_default_store = config.suffix and config.with_suffix("") == store
    return argument if is_default_store else f"{argument} --store {shlex.quote(str(store))}"


def next_commands(
    facts: Standings, limits: RaceLimits, race: str, is_used_up: bool = False
) -> tuple[str, ...]:
    """The commands that lead on after a race, the first of them answers what is open.

    ``race`` is the command that continues the race; ``is_used_up`` says that its suite has no
    further problem.
    """
    store = shlex.quote(facts.store)
    selections = [
        f"polarbear select {store} --preference {quoted(preference)}"
        for preference in _preferences(facts)
    ]
    closing = (*(selections or [f"polarbear select {store}"]), f"polarbear report {store}")
    continuing = None if is_used_up else _continuing(facts, limits, race)
    return closing if continuing is None else (continuing, *closing)


def command_for_choice(facts: Standings, limits: RaceLimits, race: str, preference: str) -> str:
    """The command that makes the runs that a choice for a preference needs."""
    if _is_at_limit(facts, limits):
        return f"{race} --more {_problems_to_add(facts)}"
    return f"{race} --for {quoted(preference)}"


def quoted(preference: str) -> str:
    """A preference as an argument of a shell command, in double quotes where these suffice."""
    return shlex.quote(preference) if set(preference) & SPECIAL else f'"{preference}"'


def _continuing(facts: Standings, limits: RaceLimits, race: str) -> str | None:
    """The command that makes the runs that an open question needs; None where none is open."""
    more = f"{race} --more {_problems_to_add(facts)}"
    aims = "".join(f" --for {quoted(preference)}" for preference in _asked(facts))
    if _is_open(facts):
        return more if _is_at_limit(facts, limits) else f"{race}{aims}"
    if aims or len(facts.pareto_set) == 1 or _are_all_equivalent(facts):
        return None
    if facts.too_early:
        return more
    open_spans = [span for span in facts.recommended if span.is_open]
    if not open_spans:
        return None
    if _is_at_limit(facts, limits):
        return more
    longest = max(open_spans, key=lambda span: span.times)
    budget = typed(short_between(longest.start, longest.stop))
    return f"{race} --for {quoted(f'at {budget}')}"


def _asked(facts: Standings) -> list[str]:
    """The preferences of a race for some."""
    preferences = (question.preference for question in facts.choices)
    return [preference for preference in preferences if preference is not None]


def _is_open(facts: Standings) -> bool:
    """Whether a question of the race is open."""
    if facts.joining is not None or any(not question.is_answered for question in facts.choices):
        return True
    return bool(facts.open_pairs) and not facts.is_for_preferences


def _are_all_equivalent(facts: Standings) -> bool:
    """Whether no candidate is better than another one at any time, so that no run can tell."""
    return all(pair.verdict.kind is VerdictKind.EQUIVALENT for pair in facts.settled_pairs)


def _is_at_limit(facts: Standings, limits: RaceLimits) -> bool:
    """Whether a limit of the configuration keeps the race from further rounds.

    The limit of hours is one of each command.
    """
    reached = (
        (limits.rounds, facts.rounds),
        (limits.instances, facts.instances),
        (limits.evaluations, sum(facts.evaluations.values())),
        (limits.spent, sum(facts.spent.values())),
    )
    return any(limit is not None and value >= limit for limit, value in reached)


def _problems_to_add(facts: Standings) -> int:
    """The number of further problems to suggest: as many as there are, and enough to recommend."""
    return max(MIN_PROBLEMS, facts.instances)


def _preferences(facts: Standings) -> Sequence[str]:
    """The preferences to select for: those of the race, or a budget of the last recommendation."""
    asked = _asked(facts)
    if asked or not facts.recommended:
        return asked
    last = facts.recommended[-1]
    return [f"at {typed(short_between(last.start, last.stop))}"]
