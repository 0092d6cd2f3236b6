"""Methods of a store that export or change it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polarbear.api.store_handle import Store
from polarbear.driver import forget as set_aside
from polarbear.driver.forget import Forgotten, Renamed
from polarbear.formats import EXPORTS
from polarbear.formats.chooser import Chooser, make_chooser
from polarbear.formats.transfer import ExportResult, export_store
from polarbear.settings.options import Source, validate


def export(
    store: Store,
    format: str,
    to: str | Path,
    *,
    algorithms: Sequence[str] | None = None,
    force: bool = False,
    **options: Any,
) -> ExportResult:
    """Write runs, rankings or a posterior ``to`` a place in the format of another tool.

    ``format`` is csv or parquet (a long table), ioh or coco (a folder of runs), arviz (a kept
    posterior, as .nc or .zarr), preflib (a folder of rankings), chooser (the decision, as .json
    or .py), or a plug-in's; its ``options`` follow as keywords. Only the named ``algorithms``
    are written, by default all. Existing files are overwritten only with ``force``.

    >>> store.export("csv", "runs.csv").written
    ('runs.csv', 'runs.dictionary.csv')
    """
    chosen = validate(EXPORTS[format], options, Source(format))
    return export_store(store._disk, format, chosen, Path(to), algorithms, force)


def chooser(
    store: Store,
    preference: str = "uniform",
    risk: str = "p2bb",
    *,
    model: str | None = None,
    key: str | None = None,
    algorithms: Sequence[str] | None = None,
) -> Chooser:
    """The decision for every budget, as an object to call; arguments are those of `select`.

    ``chooser(300)`` returns the algorithm for a budget and its P(best), ``chooser()`` those for
    the preference. ``to_python()`` is a module without dependencies for use in production,
    ``to_dict()`` the same facts for JSON. It depends on the ``preference``, the ``risk``, the
    posterior of ``model`` or ``key``, and the ``algorithms`` that compete.

    >>> store.chooser()(300)
    ('powell', 1.0)
    """
    return make_chooser(store._disk, preference, risk, model, key, algorithms)


def rename(store: Store, old: str, new: str) -> Renamed:
    """Rename an algorithm from ``old`` to ``new`` in the whole store; nothing else changes.

    >>> store.rename("random", "baseline").new
    'baseline'
    """
    with store._disk.writing():
        return set_aside.rename(store._disk, old, new)


def forget(
    store: Store, algorithm: str, *, failed: bool = False, restore: bool = False
) -> Forgotten:
    """Set runs of an ``algorithm`` aside, all or those that ``failed``; ``restore`` undoes it.

    >>> store.forget("random").one_line()
    '24 runs of random set aside'
    """
    act = set_aside.restore if restore else set_aside.forget
    with store._disk.writing():
        return act(store._disk, algorithm, failed)
