"""When a race must end with an error, since an algorithm does not run as it should."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from polarbear.config import Failures
from polarbear.errors import AlgorithmError
from polarbear.execution.status import Status
from polarbear.problems.base import Instance
from polarbear.store.runs import StoredRun
from polarbear.wording import counted, percent

Runs = Mapping[tuple[str, str], StoredRun]  # by algorithm and instance
REMEDY = "Mend what is wrong and go on with --retry-failed"


def refuse_broken(runs: Runs, names: Sequence[str], instances: Sequence[Instance]) -> None:
    """Raise if an algorithm has failed in all of its first runs: it has not lost, it is broken."""
    found = {name: _runs_of(runs, name, instances) for name in names}
    broken = {
        name: first
        for name, first in found.items()
        if first and all(run_failed(run) for _, run in first)
    }
    if not broken:
        return
    lines = [
        f"'{name}' failed in {_all_of(first)}, so nothing is decided about it; on {_example(first)}"
        for name, first in broken.items()
    ]
    lines.append(f"{REMEDY}, or take it out of the configuration.")
    raise AlgorithmError("\n".join(lines))


def refuse_failures(
    runs: Runs, names: Sequence[str], instances: Sequence[Instance], failures: Failures
) -> None:
    """Raise if an algorithm has failed more often than is tolerated."""
    for name in names:
        all_runs = _runs_of(runs, name, instances)
        failed = [(instance, run) for instance, run in all_runs if Status(run.status).failed]
        if failed and failures.means == "ends":
            raise AlgorithmError(
                f"'{name}' failed, and `execution.failures.means: ends` lets no race go on then; "
                f"on {_example(failed)}\n{REMEDY}."
            )
        if len(failed) > failures.tolerated * len(all_runs):
            raise AlgorithmError(
                f"'{name}' failed in {len(failed)} of {counted(len(all_runs), 'run')}, more than "
                f"the {percent(failures.tolerated)} of `execution.failures.tolerated`; "
                f"on {_example(failed)}\n{REMEDY}, or raise `tolerated` if the algorithm is like "
                "that."
            )


def refuse_hopeless(
    runs: Runs,
    found_nothing: Callable[[str, Instance], bool],
    names: Sequence[str],
    instances: Sequence[Instance],
) -> None:
    """Raise if nobody has found anything: the race would go on until all are called alike."""
    if all(found_nothing(name, instance) for name in names for instance in instances):
        name, first = names[0], instances[0]
        raise AlgorithmError(
            f"no run of the first round has found anything; {name} on {first.id}: "
            f"{why(runs[name, first.id])}"
        )


def _all_of(first: Sequence[object]) -> str:
    return "its first run" if len(first) == 1 else f"all {len(first)} of its first runs"


def run_failed(run: StoredRun) -> bool:
    """Whether a run failed, or ended well without a single value that could be used."""
    return Status(run.status).failed or (not run.points and _gave_nothing(run))


def _gave_nothing(run: StoredRun) -> bool:
    """A run that was stopped before it had reported anything may only have been slow."""
    return bool(run.invalid) or run.status == Status.ENDED


def why(run: StoredRun) -> str:
    """What a run says of its failure, or what there is to say of one that gave nothing."""
    if run.message:
        return str(run.message)
    if run.invalid:
        values = counted(run.invalid, "objective value")
        return f"none of its {values} was a finite number"
    return "it ended without any value"


def _runs_of(
    runs: Runs, name: str, instances: Sequence[Instance]
) -> list[tuple[Instance, StoredRun]]:
    return [(i, runs[name, i.id]) for i in instances if (name, i.id) in runs]


def _example(failed: Sequence[tuple[Instance, StoredRun]]) -> str:
    """An instance and what happened there, those first that nobody outside is to blame for."""
    instance, run = min(failed, key=lambda entry: entry[1].status == Status.LOST)
    tried = f", {run.attempt} times" if run.status == Status.LOST else ""
    outside = f"it was killed from outside{tried}: " if run.status == Status.LOST else ""
    return f"{instance.id}: {outside}{why(run)}"
