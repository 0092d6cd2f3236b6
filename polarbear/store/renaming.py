"""An algorithm that is called otherwise from now on: everywhere in a store, or nowhere.

What is to be done is written down first, so that whoever writes next ends what a killed process
began.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from polarbear.racing.renaming import renamed
from polarbear.store import files, tables
from polarbear.store.aside import SET_ASIDE
from polarbear.store.early import EARLY
from polarbear.store.from_plain import column_from
from polarbear.store.posteriors import Posteriors
from polarbear.store.races import ABOUT
from polarbear.store.run_rows import run_id

if TYPE_CHECKING:
    from polarbear.store.store import Store

INTENT = "renaming.json"


def rename(store: Store, old: str, new: str) -> None:
    """Call an algorithm otherwise; the caller holds the store's lock and has checked both names."""
    intent = {"old": old, "new": new, "seeds_of": store.seed_name(old)}
    files.write_json(store.path / INTENT, intent, indent=1, plain_ascii=False)
    finish(store)


def finish(store: Store) -> None:
    """End a renaming that was begun, if there is one."""
    intent = store.path / INTENT
    if not intent.exists():
        return
    wanted = files.read_json(intent)
    old, new = wanted["old"], wanted["new"]
    _in_runs(store, old, new)
    _in_rankings(store.path / "rankings", old, new)
    _in_posteriors(store, old, new)
    for folder in (store.path / "rounds", *sorted((store.path / "races").glob("race-*"))):
        _in_rounds(store, folder, old, new)
    store.rename_in_provenance(old, new, wanted["seeds_of"])
    if old in store.config["algorithms"]:
        store.write_config(_in_config(store.config, old, new))
    files.remove(intent)


def _in_config(config: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    entries = config["algorithms"].items()
    return {**config, "algorithms": {new if n == old else n: entry for n, entry in entries}}


def _in_runs(store: Store, old: str, new: str) -> None:
    """In runs, trajectories and what is set aside; a run's id follows its algorithm's name."""
    columns = ["algorithm", "instance", "attempt"]
    rows = store.every_run().select(columns).vstack(store.early_runs().select(columns))
    rows = rows.filter(rows["algorithm"].is_in([old, new]))
    ids = {
        run_id(old, instance, attempt): run_id(new, instance, attempt)
        for instance, attempt in rows.select("instance", "attempt").iter_rows()
    }
    for name in ("trajectories", "runs"):
        for path in files.part_paths(store.path / name):
            table = _with_names(files.read_part(path, tables.ALL[name]), ids, old, new)
            if table is not None:
                files.write_table(path, table, tables.ROW_GROUPS.get(name))
    for path in files.part_paths(store.path / EARLY):
        table = _with_names(files.read_part(path, tables.EARLY), ids, old, new)
        if table is not None:
            files.write_table(path, table)
    aside = store.path / SET_ASIDE
    if aside.exists():
        table = _with_names(files.read_part(aside, tables.SET_ASIDE), ids, old, new)
        if table is not None:
            files.write_table(aside, table)


def _with_names(table: pa.Table, ids: dict[str, str], old: str, new: str) -> pa.Table | None:
    """A table of runs under new names; None where it has none of the old."""
    names = table["algorithm"].to_pylist()
    if old not in names:
        return None
    runs = table["run"].to_pylist()
    found = [ids.get(r, r) if n == old else r for r, n in zip(runs, names, strict=True)]
    table = _set(table, "run", found)
    return _set(table, "algorithm", [new if one == old else one for one in names])


def _set(table: pa.Table, column: str, values: list[Any]) -> pa.Table:
    place = table.schema.get_field_index(column)
    field = table.schema.field(place)
    return table.set_column(place, field, column_from(values, field.type))


def _in_rankings(folder: Path, old: str, new: str) -> None:
    """In rankings and choice sets, imported or kept with a posterior."""
    for path in sorted(folder.glob("*.parquet")):
        sets = path.name.startswith("choice-sets-")
        schema, column = (tables.CHOICE_SETS, "choice") if sets else (tables.RANKINGS, "algorithm")
        table = files.read_part(path, schema)
        lists = table[column].to_pylist()
        if any(old in one for one in lists):
            files.write_table(path, _set(table, column, [_listed(one, old, new) for one in lists]))


def _listed(names: list[str], old: str, new: str) -> list[str]:
    return [new if one == old else one for one in names]


def _in_posteriors(store: Store, old: str, new: str) -> None:
    """All of them are written again, in their order, so that the newest stays the newest."""
    for key in reversed(Posteriors.newest_posteriors(store)):
        kept = store.posterior(key)
        assert kept is not None
        draws, facts = kept
        names = _listed(facts["algorithms"], old, new)
        store.add_posterior(key, draws, {**facts, "algorithms": names})


def _in_rounds(store: Store, folder: Path, old: str, new: str) -> None:
    view = store.looking_into(folder)
    for number in view.round_numbers():
        record = view.round(number)
        if old in record.state.algorithms:
            for path, schema, columns in _beliefs(folder, number):
                table = files.read_part(path, schema)
                for column in columns:
                    table = _set(table, column, _listed(table[column].to_pylist(), old, new))
                files.write_table(path, table)
            view.write_record(renamed(record, old, new))
    about = folder / ABOUT
    if about.exists():
        facts = files.read_json(about)
        facts["config"] = _in_config(facts["config"], old, new)
        files.write_json(about, facts, indent=1, plain_ascii=False)


def _beliefs(folder: Path, number: int) -> Iterator[tuple[Path, pa.Schema, tuple[str, ...]]]:
    yield folder / f"ratings-{number:04}.parquet", tables.ROUND_RATINGS, ("algorithm",)
    yield folder / f"pairs-{number:04}.parquet", tables.ROUND_PAIRS, ("a", "b")
