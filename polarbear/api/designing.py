"""Designs: searches for configurations and programs, of which one set serves every budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from polarbear.api import configurations
from polarbear.api.configurations import ConfigLike
from polarbear.api.design_loop import DesignLoop, verdict_counts
from polarbear.api.listening import Listener, Progress
from polarbear.api.plain_runs import run_on
from polarbear.api.store_handle import Store
from polarbear.config.configuration import Config, Overrides
from polarbear.driver import collect
from polarbear.driver.collect import InstanceStream
from polarbear.driver.race_progress import ProgressFile
from polarbear.driver.reconcile import Answers, take_in
from polarbear.errors import ConfigError
from polarbear.proposers.proposals import entry_of, proposer_of
from polarbear.records import Record
from polarbear.report.figures.figure_files import write_file
from polarbear.selection.presets import SetFacts, preset_spans
from polarbear.store import StoreOnDisk
from polarbear.store.generations import StoredGeneration
from polarbear.wording import timed

__all__ = ["Designed", "design"]
PRESETS = "presets.yaml"  # in the store
TEST_STORE = "test"  # ends the name of the store with the runs on fresh instances


@dataclass(frozen=True)
class Preset:
    """The algorithm to use for budgets up to ``until``, None for all larger ones.

    ``options`` are the values of its space or, without one, its entry in a configuration.
    ``win_rate`` is the expected one against its strongest rival in the set over these budgets, on
    the problems of the search; ``test_win_rate`` that on fresh instances, None without them.
    """

    until: float | None
    algorithm: str
    options: Mapping[str, Any]
    win_rate: float | None
    test_win_rate: float | None = None


@dataclass(frozen=True)
class GenerationFacts:
    """What one generation proposed, what became of it, and the set after it."""

    generation: int
    candidates: tuple[str, ...]
    verdicts: Mapping[str, int]
    members: tuple[str, ...]
    dropped: tuple[str, ...]
    failure: str


@dataclass(frozen=True, repr=False)
class Designed(Record):
    """The result of a design; fields are the keys of `polarbear design --json`.

    ``candidates`` is the number of all that were ever proposed, ``generations`` the number of
    generations, of which ``path`` has the facts. ``presets`` say which member of the set to use up
    to which budget, and are written to ``written``. ``failures`` are those of the proposer.
    """

    pareto_set: tuple[str, ...]
    presets: tuple[Preset, ...]
    generations: int
    candidates: int
    validated: bool
    stopped_because: str
    at_limit: bool
    store: str
    axis: str
    problems: int
    test_problems: int
    evaluations: int
    failures: tuple[str, ...]
    path: tuple[GenerationFacts, ...]
    written: str
    ROWS = "presets"

    def one_line(self) -> str:
        return "; ".join(preset_words(self))


def design(
    config: ConfigLike,
    store: str | Path | None = None,
    *,
    test_instances: int | None = None,
    generations: int | None = None,
    workers: int | None = None,
    seed: int | None = None,
    engine: str | None = None,
    scheduler: str | None = None,
    listener: Listener | None = None,
) -> Store:
    """Search for algorithms: a set of configurations or programs, of which one serves each budget.

    The algorithms of ``config`` are raced first. In each generation a proposer suggests newcomers,
    which are judged as by `judge`. The search ends when ``design.stable`` generations have not
    changed the set, or at a limit: of ``generations``, of runs or of time. Proposals are stored
    before they are judged, so that the same call continues after an interruption without asking
    again. With ``test_instances`` the set is run on this number of instances that the search has
    not seen. ``workers``, ``seed``, ``engine``, ``scheduler``, ``store`` and ``listener`` are those
    of `race`.

    >>> tuned = {"name": "CMA-ES", "use": "cma", "space": {"sigma0": {"real": [0.1, 0.5]}}}
    >>> keys = {
    ...     "algorithms": [tuned],
    ...     "instances": {"suite": "classic"},
    ...     "budget": {"grid": [20, 60]},
    ...     "design": {"candidates": 1, "problems": 10, "generations": 1},
    ... }
    >>> pb.design(keys, "designed").result.candidates
    1
    """
    if test_instances is not None and test_instances < 1:
        raise ConfigError(f"expected one test instance or more, found {test_instances}")
    listener = listener or Progress()
    settings = configurations.read(config, Overrides(seed, workers, engine, scheduler), store)
    if generations is not None:
        options = settings.design.model_copy(update={"generations": generations})
        settings = replace(settings, design=options)
    proposer_of(settings.design.propose, settings.spaces)  # refuses a wrong one before any run
    folder = configurations.store_folder(config, store)
    collect.prepare_new(settings, folder)
    disk = StoreOnDisk.create(folder, settings.stored())
    with disk.writing(), ProgressFile(disk):
        collect.check_hosts(settings, disk, mix_hosts=False)
        loop = DesignLoop(settings, disk, listener)
        end = loop.run()
        facts = loop.facts()
        problems = len(disk.instances())
        n_test, test_facts = _tested(settings, disk, loop, test_instances, listener)
        presets = _presets(facts, test_facts, loop, settings.race.epsilon)
        written = disk.path / PRESETS
        write_file(written, presets_yaml(presets, loop, settings.budget.axis).encode())
    path = tuple(map(_facts_of, loop.generations[1:]))
    result = Designed(
        pareto_set=loop.members,
        presets=presets,
        generations=len(path),
        candidates=sum(len(generation.candidates) for generation in path),
        validated=test_facts is not None,
        stopped_because=end.because,
        at_limit=end.at_limit,
        store=str(disk.path),
        axis=settings.budget.axis,
        problems=problems,
        test_problems=n_test,
        evaluations=int(disk.every_run()["evaluations"].sum()),
        failures=tuple(
            f"generation {generation.generation}: {generation.failure}"
            for generation in path
            if generation.failure
        ),
        path=path,
        written=str(written),
    )
    return Store(disk, result)


def _facts_of(generation: StoredGeneration) -> GenerationFacts:
    return GenerationFacts(
        generation=generation.generation,
        candidates=tuple(proposal.name for proposal in generation.proposals),
        verdicts=verdict_counts(generation),
        members=tuple(generation.members),
        dropped=tuple(generation.dropped),
        failure=generation.failure,
    )


def _tested(
    settings: Config,
    disk: StoreOnDisk,
    loop: DesignLoop,
    count: int | None,
    listener: Listener,
) -> tuple[int, SetFacts | None]:
    """The number of fresh instances, and the facts of the set on them; None without any.

    Their runs are in a store of their own, so that no decision can use them.
    """
    if count is None or len(loop.members) < 2:
        return 0, None
    stream = InstanceStream(settings)
    n_seen = len(disk.instances())
    last = n_seen + count
    if stream.size is not None:
        last = min(last, stream.size)
    fresh = stream.first(last)[n_seen:]
    if not fresh:
        raise ConfigError(
            f"the suite has {stream.size} instances and the search has seen all of them: lower "
            "'design.problems' to leave some for --test-instances"
        )
    members = tuple(loop.algorithms[name] for name in loop.members)
    test_settings = replace(settings, algorithms=members)
    test_disk = StoreOnDisk.create(
        disk.path.with_name(f"{disk.path.name}-{TEST_STORE}"), test_settings.stored()
    )
    with test_disk.writing():
        take_in(test_settings, test_disk, Answers(), racing=False)
        run_on(test_settings, test_disk, fresh, listener)
    posterior = Store(test_disk).infer(
        algorithms=loop.members, seed=settings.seed, keep=False, listener=listener
    )
    return len(fresh), SetFacts.of(posterior)


def _presets(
    facts: SetFacts, test: SetFacts | None, loop: DesignLoop, epsilon: float
) -> tuple[Preset, ...]:
    """Which member to use up to which budget, the last one for all larger budgets."""
    spans = preset_spans(facts, epsilon)
    presets = []
    for position, span in enumerate(spans):
        name = facts.members[span.member]
        inside = slice(span.first, span.last + 1)
        is_last = position == len(spans) - 1
        presets.append(
            Preset(
                until=None if is_last else float(facts.times[span.last]),
                algorithm=name,
                options=_options(name, loop),
                win_rate=None if len(facts.members) < 2 else _mean(facts, span.member, inside),
                test_win_rate=None
                if test is None
                else _mean(test, test.members.index(name), inside),
            )
        )
    return tuple(presets)


def _mean(facts: SetFacts, member: int, inside: slice) -> float:
    return float(np.mean(facts.win_rates[inside, member]))


def _options(name: str, loop: DesignLoop) -> dict[str, Any]:
    """The values of a member's space or, without one, its options."""
    design_of_member = loop.designs.get(name)
    if design_of_member is not None:
        return dict(design_of_member.values)
    entry = entry_of(loop.algorithms[name])
    return {key: value for key, value in entry.items() if key not in ("name", "use", "label")}


def presets_yaml(presets: Sequence[Preset], loop: DesignLoop, axis: str) -> str:
    """The presets as a file: for programs that read YAML, and for a configuration's algorithms."""
    entries = [
        {
            "until": preset.until,
            "algorithm": preset.algorithm,
            "options": dict(preset.options),
            "entry": entry_of(loop.algorithms[preset.algorithm]),
        }
        for preset in presets
    ]
    text = yaml.safe_dump({"axis": axis, "presets": entries}, sort_keys=False, allow_unicode=True)
    head = "".join(f"# {line}\n" for line in _preset_lines(presets, axis))
    return f"{head}# `entry` is that of a configuration's algorithms.\n{text}"


def preset_words(designed: Designed) -> list[str]:
    """One line for each preset."""
    return _preset_lines(designed.presets, designed.axis)


def _preset_lines(presets: Sequence[Preset], axis: str) -> list[str]:
    lines = []
    for preset in presets:
        if preset.until is not None:
            until = f"up to {timed(preset.until, axis)}"
        else:
            until = "at every budget" if len(presets) == 1 else "for larger budgets"
        options = ", ".join(f"{name}={value}" for name, value in preset.options.items())
        lines.append(f"{until}: {preset.algorithm}" + (f" ({options})" if options else ""))
    return lines
