"""`polarbear status`: the contents of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polarbear.cli import common, progress_view, race_summary
from polarbear.wording import counted, joined, noun, short, size

if TYPE_CHECKING:
    from polarbear.api.status import StoreStatus, Weights


def status(
    store: common.StoreFolder,
    race: common.RaceNumber = None,
    json: common.Json = False,
    debug: common.Debug = False,
) -> None:
    """Show the contents of a store.

    The state of its race, algorithms, runs, failures, machines, disk use, and the process that is
    writing to it; earlier races, and runs that were set aside. For a race that is running in
    another terminal: its progress by algorithm and by worker, and the remaining time.
    """
    from polarbear.api.status import status as status_of

    found = status_of(store, race)
    if json:
        common.print_json(found.to_dict())
    else:
        _show(found)


def _show(found: StoreStatus) -> None:
    lines = [
        f"{found.store}: {counted(found.runs, 'run')} on {counted(found.instances, 'instance')} of "
        f"'{found.suite}', seed {found.seed}, {size(found.bytes)}",
        f"axis {found.axis}, {counted(found.times, 'time')} up to {short(found.budget)}; "
        f"created {found.created} by PolarBear {found.tool}",
        "" if found.weights is None else _weights(found.weights),
        counted(found.rankings, "imported ranking") if found.rankings else "",
        counted(found.posteriors, "posterior") if found.posteriors else "",
        f"being written by {found.written_by}" if found.written_by else "",
    ]
    for line in filter(None, lines):
        common.show(line)
    if found.under_way is not None:
        common.show("")
        progress_view.show(found.under_way)
    if found.killed is not None:
        common.show("")
        progress_view.show_killed(found.killed)
    if found.race is not None:
        common.show("")
        race_summary.show(found.race, verbose=True)
        common.show("")
    common.show(common.algorithms_table(found.algorithms, found.axis, found.budget))
    for line in [*common.failure_lines(found.failures), *_more_lines(found)]:
        common.show(line)


def _more_lines(found: StoreStatus) -> list[str]:
    lines = []
    if len(found.hosts) > 1:
        hosts = ", ".join(f"{host.host} ({counted(host.runs, 'run')})" for host in found.hosts)
        lines.append(f"runs of {len(found.hosts)} machines: {hosts}")
    if found.extra_runs:
        lines.append(common.speculative_words(found.extra_runs))
    for past in found.races:
        lines.append(
            f"earlier race {past.race}: {counted(past.rounds, 'round')} on "
            f"{counted(past.instances, 'instance')}; Pareto set {joined(past.pareto_set)}; ended "
            f"{past.ended[:16]} because of {'; '.join(past.because)}"
        )
    for aside in found.set_aside:
        runs = counted(aside.runs, "run")
        lines.append(f"set aside: {runs} of {aside.algorithm} ({aside.reason})")
    return lines


def _weights(found: Weights) -> str:
    return (
        f"{counted(found.instances, 'instance')} {noun(found.instances, 'counts', 'count')} as "
        f"{short(found.total)}: weights from {short(found.least)} to {short(found.most)}"
    )
