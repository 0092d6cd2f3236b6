"""The history of a gate: a folder with a small file for each merge.

A file has the values of each candidate on the grid, by instance, and fingerprints of what the
values of two merges need in common to be compared: the suite, the grid, the seeds and the machine.
Merges in a row with the same fingerprints are a sequence. Files with another ending are left alone,
so that the folder may be a branch with a README.
"""

import hashlib
import json
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from pathlib import Path

import numpy as np

from polarbear.config.configuration import Config
from polarbear.errors import StoreDamagedError, StoreError
from polarbear.execution import host
from polarbear.numerics.arrays import Floats
from polarbear.regression.gate_decision import GateVerdict
from polarbear.store import file_io
from polarbear.wording import counted, joined, time, timed

ENDING = ".history.json"
FORMAT = 1
HASH_LENGTH = 8  # characters
COMMIT_LENGTH = 7  # characters of a commit on screen
DIRTY = "-dirty"  # ends the commit of a checkout with changed files


@dataclass(frozen=True)
class Fingerprints:
    """What the values of two merges need in common to be compared, in words with a hash."""

    suite: str
    grid: str
    seeds: str
    machine: str


@dataclass(frozen=True)
class MergeResult:
    """The values of one algorithm at one merge: ``values`` has a row for each instance.

    ``store`` is the name of the gate's store. Together with the algorithm it says what is followed
    over merges. Values are minimised; a value is None where a run is absent.
    """

    store: str
    algorithm: str
    axis: str
    verdict: GateVerdict
    tie_tolerance: float
    fingerprints: Fingerprints
    times: tuple[float, ...]
    instances: tuple[str, ...]
    problems: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]

    def __post_init__(self) -> None:
        n_instances = len(self.instances)
        if not n_instances == len(self.problems) == len(self.values):
            raise ValueError("the numbers of instances, problems and rows of values differ")
        if any(len(row) != len(self.times) for row in self.values):
            raise ValueError("a row of values has another length than the grid")

    def values_on(self, instances: Sequence[str]) -> Floats:
        """The values on some of its instances: [instance, time]; NaN where a run is absent."""
        return np.asarray(self._table[[self._row[name] for name in instances]])

    @cached_property
    def _table(self) -> Floats:
        return np.array(self.values, dtype=float).reshape(-1, len(self.times))

    @cached_property
    def _row(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.instances)}


@dataclass(frozen=True)
class Merge:
    """A commit: its hash, empty outside of a git repository, and its time in ISO format."""

    commit: str
    committed: str

    @property
    def label(self) -> str:
        """The merge on screen: the beginning of its hash, or its time."""
        if not self.commit:
            return self.committed
        commit = self.commit.removesuffix(DIRTY)
        return commit[:COMMIT_LENGTH] + self.commit.removeprefix(commit)

    @property
    def file_name(self) -> str:
        """The name of its file; names are in the order of time."""
        stamp = datetime.fromisoformat(self.committed).strftime("%Y%m%dT%H%M%S.%fZ")
        return f"{stamp}-{self.commit or 'no-commit'}{ENDING}"


@dataclass(frozen=True)
class HistoryFile:
    """The content of a file: a merge and its results; ``recorded`` is when they were written."""

    format: int
    recorded: str
    merge: Merge
    results: tuple[MergeResult, ...]


@dataclass(frozen=True)
class MergeSequence:
    """Merges in a row whose values can be compared; ``changed`` says why an earlier one ended."""

    store: str
    algorithm: str
    axis: str
    merges: tuple[Merge, ...]
    results: tuple[MergeResult, ...]
    changed: str


def merge_of(folder: Path) -> Merge:
    """The commit that is checked out in a folder, or the present time outside of a repository."""
    # Git writes the time of a commit in the zone of its author.
    described = _git(folder, "log", "-1", "--format=%H %ct")
    if not described:
        return Merge("", datetime.now(UTC).isoformat())
    commit, seconds = described.split()
    if _git(folder, "status", "--porcelain", "--untracked-files=no"):
        commit += DIRTY
    return Merge(commit, datetime.fromtimestamp(int(seconds), UTC).isoformat())


def _git(folder: Path, *arguments: str) -> str:
    """The output of git; empty without git, or outside of a repository."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return process.stdout.strip()


def fingerprints_of(config: Config) -> Fingerprints:
    """What values of this configuration need in common with those of another merge."""
    instances = config.plain()["instances"]
    instances.pop("count", None)  # the number of instances may change
    made_of = config.instances.made_of(config.setting)
    suite = [instances, made_of.files, made_of.packages, config.trajectory]
    budget = config.budget
    times = budget.times.tolist()
    n_times = counted(len(times), "time")
    span = f"{time(times[0])} to {timed(times[-1], budget.axis)}, {n_times}"
    machine = platform.machine()
    if budget.is_timed:
        here = host.here()
        machine = f"{here.host}, {here.cpu}"
    return Fingerprints(
        suite=f"{config.instances.suite} ({_hash(suite)})",
        grid=f"{span} ({_hash([budget.axis, times])})",
        seeds=f"{config.seed}, {config.seeds}",
        machine=machine,
    )


def _hash(facts: object) -> str:
    text = json.dumps(facts, sort_keys=True, default=dict)
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]


def write(folder: Path, merge: Merge, results: Sequence[MergeResult]) -> Path:
    """Write the results of a merge; those of the same merge and algorithm are replaced."""
    path = folder / merge.file_name
    followed = {(result.store, result.algorithm) for result in results}
    kept: list[MergeResult] = []
    if path.exists():
        kept = [
            result
            for result in read_file(path).results
            if (result.store, result.algorithm) not in followed
        ]
    content = HistoryFile(
        format=FORMAT,
        recorded=datetime.now(UTC).isoformat(),
        merge=merge,
        results=(*kept, *results),
    )
    if not folder.is_dir():
        file_io.make_folder(folder)
    file_io.write_whole(path, file_io.to_json(_plain(content)))
    return path


def _plain(content: HistoryFile) -> file_io.JsonObject:
    """A file's content as plain data; infinite values are texts, since JSON has no such number."""
    facts = asdict(content)
    for result in facts["results"]:
        result["values"] = [
            [str(value) if value is not None and np.isinf(value) else value for value in row]
            for row in result["values"]
        ]
    return facts


def read_file(path: Path) -> HistoryFile:
    """A file of a history."""
    try:
        facts = file_io.from_json(path, file_io.read(path))
        if isinstance(facts.get("format"), int) and facts["format"] > FORMAT:
            raise StoreError(
                f"{path} has format {facts['format']}, but this version of PolarBear reads up to "
                f"{FORMAT}; use a newer version"
            )
        content = file_io.record(path, HistoryFile, facts)
        with file_io.decoding(path):
            datetime.fromisoformat(content.merge.committed)
    except StoreDamagedError as error:
        raise StoreError(
            f"{path} is damaged ({error.why}); restore it, or remove it: the merge is then missing "
            "from the history, and all others stay"
        ) from None
    return content


def read(folder: Path) -> list[HistoryFile]:
    """The merges of a history, in the order of their commits."""
    if not folder.is_dir():
        raise StoreError(
            f"there is no folder {folder}; `polarbear gate CONFIG --history {folder} ...` writes "
            "the first merge into it"
        )
    contents = [read_file(path) for path in sorted(folder.glob(f"*{ENDING}"))]
    return sorted(contents, key=lambda content: (content.merge.committed, content.recorded))


def sequences(contents: Sequence[HistoryFile]) -> list[MergeSequence]:
    """The sequences of merges that can be compared, of each algorithm in the order of time."""
    followed = dict.fromkeys(
        (result.store, result.algorithm) for content in contents for result in content.results
    )
    all_sequences = []
    for store, algorithm in followed:
        pairs = [
            (content.merge, result)
            for content in contents
            for result in content.results
            if (result.store, result.algorithm) == (store, algorithm)
        ]
        earlier: MergeResult | None = None
        for _, group in groupby(pairs, key=lambda pair: pair[1].fingerprints):
            members = list(group)
            first_result = members[0][1]
            sequence = MergeSequence(
                store=store,
                algorithm=algorithm,
                axis=first_result.axis,
                merges=tuple(merge for merge, _ in members),
                results=tuple(result for _, result in members),
                changed="" if earlier is None else _changes(earlier, first_result),
            )
            all_sequences.append(sequence)
            earlier = first_result
    return all_sequences


def _changes(earlier: MergeResult, later: MergeResult) -> str:
    """What differs between the fingerprints of two results."""
    changes = []
    for field in fields(Fingerprints):
        before = getattr(earlier.fingerprints, field.name)
        after = getattr(later.fingerprints, field.name)
        if before != after:
            changes.append(f"{field.name} from {before} to {after}")
    return joined(changes)
