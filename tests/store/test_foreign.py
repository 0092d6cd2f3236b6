"""A store of unknown origin runs nothing when it is opened, reported on and inferred from."""

import fcntl
import json
import os
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polarbear.config.stored_settings import StoredSettings
from polarbear.errors import StoreError
from polarbear.store import StoreOnDisk, file_io
from polarbear.store.catalog import FACTS, Catalog, part_file
from polarbear.store.writer import holder
from tests.store.editing import rewrite_manifest
from tests.support import Project

TABLE = "algorithm,instance,t,y\n" + "".join(
    f"{name},i{i},{t},{y + i / t}\n"
    for i, (name, y), t in product(range(6), (("A", 1), ("B", 2)), (1, 5, 20))
)


@pytest.fixture
def foreign(project: Project) -> Path:
    (project.folder / "x.csv").write_text(TABLE)
    project.done("import", "x.csv", "--store", "s")
    return project.folder / "s"


@pytest.mark.parametrize(
    "name",
    [
        *("lock", "polarbear.json", "runs", "posteriors", "runs/part-x.parquet"),
        *("races/race-0001", "races/race-0001/round-0001.json", "damaged", "damaged/runs"),
    ],
)
def test_a_link_out_of_a_store_is_not_followed(project: Project, foreign: Path, name: str):
    outside = project.folder / "outside"
    (foreign / name).parent.mkdir(parents=True, exist_ok=True)
    if (foreign / name).exists():
        (foreign / name).rename(outside)
    elif not Path(name).suffix:
        outside.mkdir()
    else:
        outside.write_text("precious")
    (foreign / name).symlink_to(outside)
    before = outside.read_bytes() if outside.is_file() else sorted(outside.iterdir())
    for command in ("status", "infer", "report", "verify", "repair"):
        assert "is a link that leads out of the store" in project.refused(command, "s")
    assert before == (outside.read_bytes() if outside.is_file() else sorted(outside.iterdir()))


def test_creating_a_store_does_not_write_through_a_lock_that_is_a_link(project: Project):
    outside = project.folder / "outside"
    outside.write_text("precious")
    (project.folder / "s").mkdir()
    (project.folder / "s" / "lock").symlink_to(outside)
    (project.folder / "x.csv").write_text(TABLE)
    refusal = project.refused("import", "x.csv", "--store", "s")
    assert len(refusal.splitlines()) == 1
    assert outside.read_text() == "precious"


@pytest.mark.parametrize("name", ["lock", "polarbear.json", "runs/part-x.parquet", "races/pipe"])
def test_a_pipe_in_a_store_is_refused_without_waiting(project: Project, foreign: Path, name: str):
    (foreign / name).unlink(missing_ok=True)
    (foreign / name).parent.mkdir(exist_ok=True)
    os.mkfifo(foreign / name)
    for command in ("status", "infer", "verify", "repair"):
        assert f"{name} is neither a file nor a folder" in project.refused(command, "s")


@pytest.mark.parametrize("words", ["[]", "5", '{"pid": 1}', "\x00", '{"pid": "a\\n\\u001b[2J"'])
def test_the_holder_of_a_lock_with_other_content_is_another_process(tmp_path: Path, words: str):
    (tmp_path / "lock").write_text(words)
    with (tmp_path / "lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        lock_holder = holder(tmp_path / "lock")
        assert lock_holder is not None
        assert lock_holder.words == "another process"


def test_links_within_a_store_and_to_a_store_are_followed(project: Project, foreign: Path):
    (project.folder / "alias").symlink_to(foreign)
    part = next((foreign / "runs").glob("part-*.parquet"))
    part.rename(part.with_name("kept"))
    part.symlink_to(part.with_name("kept"))
    assert len(StoreOnDisk.open(project.folder / "alias").runs()) == 12


@pytest.mark.slow
def test_reading_a_store_runs_nothing_that_its_configuration_names(project: Project, foreign: Path):
    trap = project.folder / "trap.py"
    trap.write_text(
        f"import pathlib\npathlib.Path({str(project.folder / 'sprung')!r}).touch()\n"
        "def run(*a, **k): pass\n"
    )
    manifest = foreign / "polarbear.json"
    facts = json.loads(manifest.read_text())
    facts["config"]["algorithms"] = {
        "A": {"use": "python", "function": f"{trap}:run", "options": {}},
        "B": {"use": "command", "command": ["touch", str(project.folder / "sprung")]},
    }
    facts["config"]["instances"] |= {"suite": "python", "function": f"{trap}:run", "options": {}}
    Catalog(foreign).commit(settings=StoredSettings.from_plain(facts["config"]))
    for command in (["status"], ["infer"], ["select"], ["compare"], ["report", "--text"]):
        project.done(command[0], "s", *command[1:])
    assert not (project.folder / "sprung").exists()


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        *(("config", config, "config") for config in ([], {}, {"algorithms": []})),
        ("config", {"algorithms": {"A": 3}}, "config"),
        *(
            ("files", listed, "files")
            for listed in (None, [], {"../x": "0"}, {"runs/../../x": "0"})
        ),
        *(("obsolete", ["/etc/passwd"], "obsolete"), ("obsolete", 3, "obsolete")),
        *(("created", 3, "created"), ("tool", None, "tool")),
        # An error that lists every wrong value would take longer than everything else.
        ("obsolete", [3] * 10**5, ".*100,000 values of other types"),
        ("obsolete", [0] * 10**6, ".*not a JSON object of a store"),
        ("obsolete", 10**30, ".*beyond 64 bits"),
    ],
)
def test_a_manifest_that_no_reader_can_use_is_refused(foreign: Path, key: str, value, words: str):
    rewrite_manifest(foreign, lambda facts: facts.update({key: value}))
    with pytest.raises(StoreError, match=rf"polarbear\.json is damaged \({words}"):
        StoreOnDisk.open(foreign)


def rewrite_posterior(store: Path, **changed) -> None:
    """Change facts about the posterior, and keep checksums valid."""
    catalog = Catalog(store)
    (name,) = catalog.names("posteriors/")
    table = pq.read_table(pa.BufferReader(catalog.read(name)))
    facts = json.loads(table.schema.metadata[FACTS]) | changed
    buffer = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata({FACTS: json.dumps(facts)}), buffer)
    data = bytes(buffer.getvalue())
    catalog.commit([(f"{name[:-40]}{file_io.digest(data)}.parquet", data)], [name])


def test_a_posterior_about_an_algorithm_that_the_store_lacks_is_refused(project, foreign):
    project.done("infer", "s", "--model", "dirichlet", "--draws", 400)
    rewrite_posterior(foreign, algorithms=["A", "Z"])
    for command in (["select"], ["report", "--text"]):
        assert "is about 'Z', which is no algorithm of the store" in project.refused(
            *command, "s", "--model", "dirichlet"
        )


@pytest.mark.parametrize("shared", [[3, 3], [[6], []], [[]]])
def test_a_posterior_without_a_number_for_each_pair_and_time_is_damaged(project, foreign, shared):
    project.done("infer", "s")
    rewrite_posterior(foreign, shared=shared)
    done = project("verify", "s")
    assert done.returncode == 1
    assert "posteriors/" in done.stdout + done.stderr
    assert "shared" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("table", "values"),
    [
        *(
            ("instances", {"spec": spec})
            for spec in ("[" * 10**4, "x", "[]", '{"problem": 1}', '{"counts_as": -1}')
        ),
        ("runs", {"status": "x"}),
        ("runs", {"started": 2**61}),
        ("runs", {"fingerprint": "[]"}),
        ("trajectories", {"t": [1.0]}),
        ("trajectories", {"y": [1.0, None, 2.0]}),
        ("rankings", {"instance": "i0", "t": 5.0, "algorithm": ["A", "B"], "position": [1.0]}),
    ],
)
def test_a_value_in_a_table_that_no_command_writes_is_damage(
    project: Project, foreign: Path, table: str, values: dict[str, Any]
):
    if table == "rankings":
        Catalog(foreign).commit([part_file(table, [values])])
    else:
        catalog = Catalog(foreign)
        parts = dict(catalog.read_parts(table))
        columns = [
            pl.lit(values[name]).cast(kind).alias(name)
            for name, kind in next(iter(parts.values())).schema.items()
            if name in values
        ]
        rows = pl.concat(parts.values()).with_columns(columns)
        catalog.commit([part_file(table, rows)], parts)
    assert project("verify", "s").returncode == 1
    for command in ("status", "infer", "select", "compare"):
        assert project(command, "s").returncode in (0, 1), command
    assert project("repair", "s").returncode == 0
    assert project("verify", "s").returncode == 0
