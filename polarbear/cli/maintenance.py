"""`polarbear verify`, `repair`, `merge`, `rename` and `forget`: maintain stores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer
from typer import Argument, Option

import polarbear
from polarbear import api
from polarbear.cli import command_options as common
from polarbear.cli import output
from polarbear.wording import counted, joined, noun

if TYPE_CHECKING:
    from polarbear.api.merge_stores import Merged
    from polarbear.api.store_details import Forgotten, Renamed
    from polarbear.api.store_status import Repaired, Verified


def verify(store: common.StoreFolder, json: common.Json = False) -> None:
    """Read every file of a store, and check that none is damaged or missing.

    Exit code 1, with the names of the damaged files, if any is. Nothing is changed.
    """
    found = api.store_status.verify(store)
    output.result(found, json, _show_verified)
    if not found.sound:
        raise typer.Exit(1)


def _show_verified(found: Verified) -> None:
    if found.sound:
        output.show(f"{found.store} is sound: {counted(found.files, 'file')} read")
        return
    damaged = counted(len(found.damaged), "file is", "files are")
    output.show(f"{found.store}: {damaged} damaged, missing or not listed, of {found.files} read")
    output.show_lines(f"  {damage.file}: {damage.why}" for damage in found.damaged)
    if found.replay_from is not None:
        output.show(f"rounds from {found.replay_from} on cannot be verified")
    output.show(f"`polarbear repair {found.store}` restores the last verified state")


def repair(store: common.StoreFolder, json: common.Json = False) -> None:
    """Set aside damaged files, and results that depend on them.

    Files are moved into STORE/damaged, never deleted. The next `race` or `run` repeats lost runs
    and decides lost rounds again.
    """
    output.result(api.store_status.repair(store), json, _show_repaired)


def _show_repaired(done: Repaired) -> None:
    if not done.moved:
        output.show(f"{done.store} is sound: nothing to repair")
        return
    output.show(f"{counted(len(done.moved), 'file')} moved into {done.store}/damaged:")
    output.show_lines(f"  {moved.file}: {moved.why}" for moved in done.moved)
    if done.runs_lost:
        output.show(f"{counted(done.runs_lost, 'run')} to be run again")
    if done.rounds_to_replay:
        replayed = counted(done.rounds_to_replay, "round")
        output.show(f"{replayed} to be replayed, {done.rounds_kept} kept")
    if done.next:
        output.show(f"next: {done.next}")


def merge(
    stores: list[Path] = Argument(..., metavar="STORE STORE...", help="Stores of one experiment."),
    into: Path = Option(..., metavar="DIR", help="The new store; it must not exist."),
    keep: list[str] | None = Option(
        None, metavar="NAME", help="Unite its runs although different code made them."
    ),
    mix_hosts: common.MixHosts = False,
    first_wins: bool = Option(
        False, "--first-wins", help="Where two runs differ, take that of the first store."
    ),
    json: common.Json = False,
) -> None:
    """Unite the runs of several stores of one experiment in a new one.

    The stores are not changed. If one of them has a race, it is decided again from all runs, with
    the rules of the first store; `polarbear race CONFIG --store DIR` continues it.
    """
    message = "nothing was merged, and the stores are unchanged"
    with output.interruptible(message), output.announcing_compilation():
        done = api.merge_stores.merge(
            stores, into, keep=keep or (), mix_hosts=mix_hosts, first_wins=first_wins
        ).result
    assert isinstance(done, api.merge_stores.Merged)
    output.result(done, json, _show_merged)


def _show_merged(done: Merged) -> None:
    twice = f", {done.in_several} of which {noun(done.in_several, 'was', 'were')} in several"
    output.show(
        f"{counted(done.runs, 'run')} of {counted(len(done.algorithms), 'algorithm')} on "
        f"{counted(done.instances, 'instance')} from {joined(done.merged)} in {done.store}"
        f"{twice if done.in_several else ''}"
    )
    if done.stopped_because is not None:
        rounds = counted(done.rounds, "round")
        output.show(f"{rounds} decided again; ended because {done.stopped_because}")
    output.show_lines(f"note: {note}" for note in done.notes)


def rename(
    store: common.StoreFolder,
    old: str = Argument(..., metavar="OLD", help="The current name."),
    new: str = Argument(..., metavar="NEW", help="The new name."),
    json: common.Json = False,
) -> None:
    """Rename an algorithm throughout a store: in runs, rounds and posteriors.

    Nothing is run or decided again. The seeds of its further runs still derive from the old name,
    so that a race continues unchanged.
    """
    output.result(polarbear.open(store).rename(old, new), json, _show_renamed)


def _show_renamed(done: Renamed) -> None:
    output.show(f"renamed {done.old} to {done.new} in {done.store}: {counted(done.runs, 'run')}")
    output.note("rename it in the configuration, too")


def forget(
    store: common.StoreFolder,
    algorithm: str = Option(..., metavar="NAME", help="The algorithm."),
    failed: bool = Option(False, "--failed", help="Only those that failed."),
    restore: bool = Option(False, "--restore", help="Restore runs that were set aside."),
    json: common.Json = False,
) -> None:
    """Set runs of an algorithm aside: they stay in the store, but do not count.

    A race that used them is kept; `polarbear race` makes missing runs, and decides again.
    """
    done = polarbear.open(store).forget(algorithm, failed=failed, restore=restore)
    output.result(done, json, _show_restored if restore else _show_forgotten)


def _show_restored(done: Forgotten) -> None:
    rest = f", {done.superseded} of which do not count, since they were repeated"
    runs = counted(done.restored, "run")
    output.show(f"{runs} of {done.algorithm} restored{rest if done.superseded else ''}")
    output.notes(done.notes)


def _show_forgotten(done: Forgotten) -> None:
    output.show(f"{counted(done.set_aside, 'run')} of {done.algorithm} set aside")
    output.notes(done.notes)
