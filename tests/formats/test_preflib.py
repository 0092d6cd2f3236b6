"""PrefLib files: written and read by preflibtools, by PolarBear and by hand."""

from pathlib import Path

import pytest

import polarbear as pb
from polarbear.errors import ImportFailedError
from polarbear.execution.outcome import Status
from polarbear.facts.evidence import evidence_of
from polarbear.formats.preflib import PrefLib
from polarbear.store import StoreOnDisk
from tests.classical.helpers import Run, make_store

RUNS = {
    "A": [Run([1], [1.0]), Run([1], [1.0]), Run([1], [3.0]), Run([1], [1.0])],
    "B": [Run([1], [2.0]), Run([1], [1.0]), Run([1], [2.0]), Run([1, 50], [2.0, 0.5])],
    "C": [Run([1], [2.0]), Run([1], [5.0]), Run([1], [1.0]), Run([1], [9.0], Status.BUDGET, 20)],
}
HEAD = "# NUMBER ALTERNATIVES: 3\n# ALTERNATIVE NAME 1: A\n# ALTERNATIVE NAME 2: B\n"
FILE = HEAD + "# ALTERNATIVE NAME 3: C D\n2: 1, {2, 3}\n1: 3,1\n"


@pytest.mark.peer
def test_files_of_preflibtools_are_read(tmp_path: Path):
    from preflibtools import instances

    profile = instances.OrdinalInstance()
    orders = [((1,), (2, 3)), ((1,), (2, 3)), ((3,), (2,), (1,))]
    profile.append_order_list(orders)
    profile.alternatives_name = {1: "A", 2: "B", 3: "C D"}
    profile.num_alternatives = 3
    profile.write(str(tmp_path / "votes.toc"))
    store = pb.import_data(tmp_path / "votes.toc", tmp_path / "s", "preflib", t=7)
    assert store.times.tolist() == [7]
    rows = StoreOnDisk.open(tmp_path / "s").rankings().rows()
    rankings = sorted(sorted(zip(names, positions, strict=True)) for _, _, names, positions in rows)
    assert rankings == [
        [("A", 1), ("B", 2), ("C D", 2)],
        [("A", 1), ("B", 2), ("C D", 2)],
        [("A", 3), ("B", 2), ("C D", 1)],
    ]


def test_what_polarbear_wrote_gives_the_same_rankings_of_the_same_instances(tmp_path: Path):
    store = make_store(tmp_path / "s", RUNS, grid=(10.0, 100.0))
    pb.open(store.path).export("preflib", tmp_path / "out")
    imported = pb.import_data(tmp_path / "out", tmp_path / "again", "preflib")
    assert imported.times.tolist() == [10, 100]
    old = evidence_of(store)
    new = evidence_of(StoreOnDisk.open(tmp_path / "again"))
    assert new.grid.algorithms == old.grid.algorithms
    order = [new.grid.instances.index(name) for name in old.grid.instances]
    assert (new.positions[order] == old.positions).all()


def test_voters_of_a_file_are_instances_of_their_own(tmp_path: Path):
    (tmp_path / "votes.toi").write_text(FILE)
    imported = PrefLib().read(tmp_path / "votes.toi")
    assert [instance.id for instance in imported.instances] == [
        f"votes-voter-{k}" for k in (1, 2, 3)
    ]
    assert imported.rankings is not None
    assert imported.rankings["algorithm"].to_list()[2] == ["C D", "A"]
    (tmp_path / "more.toi").write_text(FILE)
    with pytest.raises(ImportFailedError, match="does not state its time"):
        PrefLib().read(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEAD,
        "1: 1, 2\n",
        HEAD + "1: 1, 3\n",
        HEAD + "1: 1, 1\n",
        HEAD + "1: {1, 2\n1:\n",
        HEAD + "x: 1, 2\n",
        HEAD + "99999999999: 1, 2\n",
        HEAD + "# POLARBEAR TIME: never\n1: 1, 2\n",
        HEAD + '# POLARBEAR VOTERS 1: {"a"\n1: 1, 2\n',
        HEAD + "# POLARBEAR VOTERS 1: 7\n1: 1, 2\n",
        HEAD + "# ALTERNATIVE NAME 3: A\n1: 1, 2\n",
        HEAD + '# POLARBEAR VOTERS 1: ["i", "i"]\n2: 1, 2\n',
        HEAD + "0: 1\n",
        pytest.param(HEAD + "# POLARBEAR VOTERS 1:" + "[" * 100_000, id="nested"),
    ],
)
def test_a_damaged_file_is_refused_in_a_line(text: str, tmp_path: Path):
    (tmp_path / "votes.toc").write_text(text)
    with pytest.raises(ImportFailedError, match=r"votes\.toc") as error:
        PrefLib().read(tmp_path / "votes.toc")
    assert "\n" not in str(error.value)


def read(path: Path) -> object:
    from preflibtools import instances

    profile = instances.OrdinalInstance()
    profile.parse_file(str(path))
    return profile


@pytest.mark.peer
def test_preflibtools_reads_the_rankings_of_each_time(tmp_path: Path):
    from preflibtools.instances import sanity

    make_store(tmp_path / "s", RUNS, grid=(10.0, 100.0))
    report = pb.open(tmp_path / "s").export("preflib", tmp_path / "out")
    assert report.what == "8 rankings at 2 times"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["0001.toc", "0002.toi"]
    first = read(tmp_path / "out" / "0001.toc")
    assert sanity.orders(first) == []
    assert first.alternatives_name == {1: "A", 2: "B", 3: "C"}
    assert first.title == "rankings at 10 evaluations"
    assert sorted(first.full_profile()) == sorted(
        [((1,), (2, 3)), ((1, 2), (3,)), ((3,), (2,), (1,)), ((1,), (2,), (3,))]
    )
    assert (first.num_voters, first.num_unique_orders) == (4, 4)
    assert first.infer_type() == "toc"
    second = read(tmp_path / "out" / "0002.toi")
    assert ((2,), (1,)) in second.full_profile()
    assert second.infer_type() == "toi"
