"""`polarbear merge`, `rename`, `forget`, `verify` and `repair`: changes and checks of stores."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import polarbear
from polarbear.cli import completion, output
from polarbear.cli.application import app
from polarbear.cli.parameters import AsJson, Debug, MixHosts, Quiet, StoreFolder
from polarbear.wording import counted

if TYPE_CHECKING:
    from polarbear.api.merge_stores import Merged
    from polarbear.api.store_status import Repaired, Verified

DAMAGED = 1  # the exit code of `verify` if a file is damaged


@app.command()
def merge(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE", help="Two stores or more.")],
    into: Annotated[Path, typer.Option(metavar="DIR", help="The new store.")],
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=completion.algorithms_and_all,
            help="Unite the runs of this algorithm although different code made them. May be "
            "given several times.",
        ),
    ] = None,
    mix_hosts: MixHosts = False,
    first_wins: Annotated[
        bool,
        typer.Option("--first-wins", help="Where two runs differ, take that of the first store."),
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Unite the runs of several stores of one experiment in a new one.

    The stores are not changed. If one of them has a race, it is decided again from all runs, with
    the rules of the first store; `polarbear race CONFIG --store DIR` continues it.
    """
    message = "the stores to merge are unchanged, and the same command finishes the merge"
    with output.interruptible(message), output.announcing_compilation():
        merged: Merged = polarbear.merge(
            stores, into, keep=keep or (), mix_hosts=mix_hosts, first_wins=first_wins
        ).result
    output.result(merged, as_json, _show_merged)


def _show_merged(merged: "Merged") -> None:
    output.show(merged.one_line())
    if merged.stopped_because is not None:
        rounds = counted(merged.rounds, "round")
        output.show(f"{rounds} decided again; ended because {merged.stopped_because}")


@app.command()
def rename(
    store: StoreFolder,
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD", autocompletion=completion.algorithms, help="The name of an algorithm."
        ),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Rename an algorithm throughout a store.

    The name changes in runs, rounds and posteriors; nothing is run or decided again. The seeds of
    its further runs still derive from the old name, so that a race continues unchanged.
    """
    output.result(polarbear.open(store).rename(old, new), as_json)
    output.note("rename it in the configuration, too")


@app.command()
def forget(
    store: StoreFolder,
    algorithm: Annotated[
        str,
        typer.Option(metavar="NAME", autocompletion=completion.algorithms, help="The algorithm."),
    ],
    failed: Annotated[bool, typer.Option("--failed", help="Only runs that failed.")] = False,
    restore: Annotated[
        bool, typer.Option("--restore", help="Restore runs that were set aside.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Set runs of an algorithm aside, or restore them.

    Runs that were set aside stay in the store, but do not count. A race that used them is kept;
    `polarbear race` makes missing runs, and decides again.
    """
    forgotten = polarbear.open(store).forget(algorithm, failed=failed, restore=restore)
    output.result(forgotten, as_json)


@app.command()
def verify(
    store: StoreFolder,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Check that no file of a store is damaged or missing.

    Every file is read, and nothing is changed. Exit code 1, with the names of the damaged files, if
    any is.
    """
    from polarbear.api import store_status

    verified = store_status.verify(store)
    output.result(verified, as_json, _show_verified)
    if not verified.sound:
        raise typer.Exit(DAMAGED)


def _show_verified(verified: "Verified") -> None:
    if verified.sound:
        output.show(f"{verified.store} is sound: {counted(verified.files, 'file')} read")
        return
    damaged = counted(len(verified.damaged), "file is", "files are")
    output.show(
        f"{verified.store}: {damaged} damaged, missing or not listed, of {verified.files} read",
        *(f"  {damage.file}: {damage.why}" for damage in verified.damaged),
    )
    if verified.replay_from is not None:
        output.show(f"rounds from {verified.replay_from} on cannot be verified")
    output.show(f"`polarbear repair {verified.store}` restores the last verified state")


@app.command()
def repair(
    store: StoreFolder,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Set aside damaged files, and results that depend on them.

    Files are moved into STORE/damaged, never deleted. The next `race` or `run` repeats lost runs
    and decides lost rounds again.
    """
    from polarbear.api import store_status

    output.result(store_status.repair(store), as_json, _show_repaired)


def _show_repaired(repaired: "Repaired") -> None:
    changes = (repaired.moved, repaired.missing, repaired.listed, repaired.restored)
    if not any(changes):
        output.show(f"{repaired.store} is sound: nothing to repair")
        return
    if repaired.restored:
        restored = counted(len(repaired.restored), "file")
        output.show(f"line ends restored in {restored}:", *map(_indented, repaired.restored))
    if repaired.listed:
        listed = counted(len(repaired.listed), "file")
        output.show(f"{listed} added to the list:", *map(_indented, repaired.listed))
    if repaired.moved:
        output.show(
            f"{counted(len(repaired.moved), 'file')} moved into {repaired.store}/damaged:",
            *(f"  {moved.file}: {moved.why}" for moved in repaired.moved),
        )
    if repaired.missing:
        missing = counted(len(repaired.missing), "file")
        output.show(f"{missing} missing, no longer listed:", *map(_indented, repaired.missing))
    if repaired.runs_lost:
        output.show(f"{counted(repaired.runs_lost, 'run')} to be run again")
    if repaired.rounds_to_replay:
        rounds_to_replay = counted(repaired.rounds_to_replay, "round")
        output.show(f"{rounds_to_replay} to be replayed, {repaired.rounds_kept} kept")
    if repaired.next:
        output.show(f"next: {repaired.next}")


def _indented(line: str) -> str:
    return f"  {line}"
