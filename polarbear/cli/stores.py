"""`polarbear import`, `export`, `merge`, `rename`, `forget`, `verify` and `repair`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import option

import polarbear
from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.cli.command_options import AT_LEAST_1, flag, one_of, several
from polarbear.records import Facts
from polarbear.wording import counted

if TYPE_CHECKING:
    from polarbear.api.importing import ImportResult
    from polarbear.api.merge_stores import Merged
    from polarbear.api.store_status import Repaired, Verified


@common.command
@click.argument("source", type=Path)
@option("--store", type=Path, required=True, metavar="DIR", help="The store to add to.")
@option("--format", default="table", metavar="NAME", help="The format of SOURCE: {formats}.")
@option("--algorithm-column", help="Its column of algorithms; by default 'algorithm'.")
@option("--instance-column", help="Its column of instances; by default 'instance'.")
@option("--t-column", help="Its column of times; by default 't'.")
@option("--y-column", help="Its column of objective values; by default 'y'.")
@option("--position-column", help="Its column of positions; by default 'position'.")
@option("--seed-column", help="Its column of seeds, if runs were repeated.")
@option("--weight-column", help="Its column of weights of instances.")
@option("--axis", help="The unit of t; by default that of SOURCE, or evaluations.")
@option("--maximise", is_flag=True, default=None, help="Larger values are better.")
@option("--after-end", help="After its last row it 'keeps' its best, the default, or is 'absent'.")
@option("--points", default=30, type=AT_LEAST_1, help="Times in the grid of comparison.")
@one_of("--spacing", "How its times are spaced.", "log", "linear")
@option("--from", "first", type=float, help="Its first time; by default the data's.")
@option("--to", "last", type=float, help="Its last time; by default the data's.")
@common.settings
@common.json
def import_(format: str, settings: Facts, json: bool, **options: Any) -> None:
    """Import trajectories or rankings of other tools into a store.

    SOURCE is a file or a folder, depending on the format.

    {formats.about}
    """
    given = {name: value for name, value in options.items() if value is not None}
    done = api.importing.import_data(format=format, **{**given, **settings}).result
    output.result(done, json, _show_imported)


def _show_imported(done: ImportResult) -> None:
    output.show(done.one_line())
    for complaint in done.rejected:
        # the rows of a table have line numbers only, others a file as well
        place = f"line {complaint.first}" if complaint.first.isdigit() else complaint.first
        output.show(f"left out: {complaint.words} (first: {place})")


@common.command
@common.store_folder
@option("--format", required=True, metavar="NAME", help="The format: {exports}.")
@option("--to", type=Path, required=True, metavar="PLACE", help="The file or folder to write.")
@common.algorithms
@common.settings
@common.force
@common.json
def export(store: Path, settings: Facts, json: bool, **options: Any) -> None:
    """Write runs, rankings or the posterior for another tool.

    {exports.about}
    """
    output.result(polarbear.open(store).export(**{**options, **settings}), json)


@common.command
@click.argument("stores", metavar="STORE STORE...", nargs=-1, required=True, type=Path)
@option("--into", type=Path, required=True, metavar="DIR", help="The new store.")
@several("--keep", "Unite its runs although different code made them.")
@common.mix_hosts
@flag("--first-wins", "Where two runs differ, take that of the first store.")
@common.json
def merge(json: bool, **options: Any) -> None:
    """Unite the runs of several stores of one experiment in a new one.

    The stores are not changed. If one of them has a race, it is decided again from all runs, with
    the rules of the first store; `polarbear race CONFIG --store DIR` continues it.
    """
    message = "nothing was merged, and the stores are unchanged"
    with output.interruptible(message), output.announcing_compilation():
        done = api.merge_stores.merge(**options).result
    output.result(done, json, _show_merged)


def _show_merged(done: Merged) -> None:
    output.show(done.one_line())
    if done.stopped_because is not None:
        rounds = counted(done.rounds, "round")
        output.show(f"{rounds} decided again; ended because {done.stopped_because}")


@common.command
@common.store_folder
@click.argument("old")
@click.argument("new")
@common.json
def rename(store: Path, old: str, new: str, json: bool) -> None:
    """Rename an algorithm throughout a store.

    The name changes in runs, rounds and posteriors; nothing is run or decided again. The seeds of
    its further runs still derive from the old name, so that a race continues unchanged.
    """
    output.result(polarbear.open(store).rename(old, new), json)
    output.note("rename it in the configuration, too")


@common.command
@common.store_folder
@option("--algorithm", required=True, metavar="NAME", help="The algorithm.")
@flag("--failed", "Only those that failed.")
@flag("--restore", "Restore runs that were set aside.")
@common.json
def forget(store: Path, json: bool, **options: Any) -> None:
    """Set runs of an algorithm aside, or restore them.

    Runs that were set aside stay in the store, but do not count. A race that used them is kept;
    `polarbear race` makes missing runs, and decides again.
    """
    output.result(polarbear.open(store).forget(**options), json)


@common.command
@common.store_folder
@common.json
def verify(store: Path, json: bool) -> None:
    """Check that no file of a store is damaged or missing.

    Every file is read, and nothing is changed. Exit code 1, with the names of the damaged files, if
    any is.
    """
    found = api.store_status.verify(store)
    output.result(found, json, _show_verified)
    if not found.sound:
        sys.exit(1)


def _show_verified(found: Verified) -> None:
    if found.sound:
        output.show(f"{found.store} is sound: {counted(found.files, 'file')} read")
        return
    damaged = counted(len(found.damaged), "file is", "files are")
    output.show(
        f"{found.store}: {damaged} damaged, missing or not listed, of {found.files} read",
        *(f"  {damage.file}: {damage.why}" for damage in found.damaged),
    )
    if found.replay_from is not None:
        output.show(f"rounds from {found.replay_from} on cannot be verified")
    output.show(f"`polarbear repair {found.store}` restores the last verified state")


@common.command
@common.store_folder
@common.json
def repair(store: Path, json: bool) -> None:
    """Set aside damaged files, and results that depend on them.

    Files are moved into STORE/damaged, never deleted. The next `race` or `run` repeats lost runs
    and decides lost rounds again.
    """
    output.result(api.store_status.repair(store), json, _show_repaired)


def _show_repaired(done: Repaired) -> None:
    if not done.moved:
        output.show(f"{done.store} is sound: nothing to repair")
        return
    output.show(
        f"{counted(len(done.moved), 'file')} moved into {done.store}/damaged:",
        *(f"  {moved.file}: {moved.why}" for moved in done.moved),
    )
    if done.runs_lost:
        output.show(f"{counted(done.runs_lost, 'run')} to be run again")
    if done.rounds_to_replay:
        replayed = counted(done.rounds_to_replay, "round")
        output.show(f"{replayed} to be replayed, {done.rounds_kept} kept")
    if done.next:
        output.show(f"next: {done.next}")
