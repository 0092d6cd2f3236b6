"""Features of instances: what suites know, the table of the store, and groups by a feature."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from polarbear.errors import InferenceError
from polarbear.facts.evidence import evidence_of
from polarbear.facts.feature_groups import grouped, problem_groups
from polarbear.facts.features import FeatureColumn, Features, features
from polarbear.problems.base import Instance
from polarbear.store import StoreOnDisk
from tests.report.stores import runs_of

LAST_QUARTER = "above 21.75"
RATINGS = {"A": [0.6, 0.2], "B": [0.3, 0.5], "C": [0.1, 0.3]}


def rows(*entries: tuple[str, str, float | str, float]) -> pl.DataFrame:
    """Rows of the table of features."""
    records = []
    for instance, name, value, cost in entries:
        is_text = isinstance(value, str)
        record = {
            "instance": instance,
            "name": name,
            "value": None if is_text else value,
            "category": value if is_text else None,
            "cost": cost,
        }
        records.append(record)
    return pl.DataFrame(records, schema_overrides={"value": pl.Float64, "category": pl.String})


@pytest.fixture
def store(tmp_path: Path) -> StoreOnDisk:
    return runs_of(tmp_path, 15, RATINGS)


def table_of(columns: dict[str, object]) -> Features:
    """Features from columns, without costs."""
    values = [
        FeatureColumn(name, np.array(column, dtype=float) if name[0] == "n" else tuple(column))  # type: ignore[arg-type, call-overload]
        for name, column in columns.items()
    ]
    n = len(values[0].values)
    names = tuple(f"p{i}" for i in range(n))
    return Features(names, tuple(values), np.zeros(n), {name: np.zeros(n) for name in columns})


def test_a_store_without_features_has_none(store: StoreOnDisk):
    known = features(store)
    assert known.columns == ()
    assert known.instances == tuple(store.instances()["instance"])
    assert not (store.path / "features").exists()
    with pytest.raises(InferenceError, match="no instance of the store has features"):
        known.column("dimension")


def test_what_a_suite_knows_are_features(store: StoreOnDisk):
    specs = [
        {"function": 3, "dimension": 5},
        {"function": "sphere", "dimension": 2.0, "constraints": 4},
        {"family": "la", "n": 12},
        {"name": "taillard/ta01.txt", "customers": 100},
    ]
    first = len(store.instances())
    more = [Instance(first + i, f"more-{i}", spec) for i, spec in enumerate(specs)]
    store.add_instances(more, "other")
    known = features(store).of([instance.id for instance in more])
    assert known.column("function").values == ("3", "sphere", None, None)
    assert known.column("family").values == (None, None, "la", "taillard")
    assert known.column("dimension").values[:2].tolist() == [5, 2]  # type: ignore[union-attr]
    assert known.column("size").value(2) == 12
    assert known.column("customers").value(3) == 100
    assert known.column("constraints").is_missing.tolist() == [True, False, True, True]
    assert known.costs.tolist() == [0, 0, 0, 0]


def test_the_table_of_features_replaces_what_has_changed(store: StoreOnDisk):
    first, second, *_ = store.instances()["instance"]
    store.add_features(rows((first, "slope", 1.5, 10), (first, "kind", "flat", 2)))
    store.add_features(rows((first, "slope", 1.5, 10), (second, "slope", 3.0, 10)))
    assert len(store.catalog.names("features/part-")) == 2
    store.add_features(rows((first, "slope", 2.5, 20), ("elsewhere", "slope", 0, 0)))
    assert len(store.catalog.names("features/part-")) == 1
    known = features(StoreOnDisk.open(store.path))
    assert known.names == ("kind", "slope")
    assert known.column("slope").value(0) == 2.5
    assert known.column("slope").value(1) == 3
    assert known.column("slope").value(2) is None
    assert known.costs[:3].tolist() == [22, 10, 0]
    assert known.of([second]).costs.tolist() == [10]


def test_numbers_that_are_texts_on_other_instances_are_categories(store: StoreOnDisk):
    first, second, *_ = store.instances()["instance"]
    store.add_features(rows((first, "order", 2, 0), (second, "order", "unlimited", 0)))
    assert features(store).column("order").values[:3] == ("2", "unlimited", None)


@pytest.mark.parametrize(
    ("by", "labels"),
    [
        ("n_few", ["1", "2", "unknown"]),
        ("n_many:5,20", ["up to 5", "above 5 up to 20", "above 20"]),
        (
            "n_many",
            ["up to 7.25", "above 7.25 up to 14.5", "above 14.5 up to 21.75", "above 21.75"],
        ),
        ("category", ["2", "10", "b", "unknown"]),
    ],
)
def test_groups_are_in_the_order_of_their_values(by: str, labels: list[str]):
    columns = {
        "n_few": [1, 2, np.nan] * 10,
        "n_many": list(range(30)),
        "category": ["10", "2", None, "b", "2"] * 6,
    }
    grouping = grouped(table_of(columns), by)
    assert [group.label for group in grouping.groups] == labels
    members = [instance for group in grouping.groups for instance in group.instances]
    assert sorted(members) == sorted(f"p{i}" for i in range(30))
    if by == "n_many:5,20":
        assert grouping.groups[0].instances == tuple(f"p{i}" for i in range(6))


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("n_man", "did you mean 'n_many'"),
        ("category:1,2", "has categories, which have no bins"),
        ("n_many:5,,6", "ends of bins as numbers with commas"),
        ("names", "at most 24 groups"),
    ],
)
def test_what_cannot_be_grouped_is_refused(by: str, words: str):
    columns = {
        "n_many": list(range(30)),
        "category": ["a"] * 30,
        "names": [f"name {i}" for i in range(30)],
    }
    with pytest.raises(InferenceError, match=words):
        known = table_of({name: column for name, column in columns.items() if name != "names"})
        names = FeatureColumn("names", tuple(columns["names"]))  # type: ignore[arg-type]
        everything = Features(
            known.instances,
            (*known.columns, names),
            known.costs,
            {**known.costs_of_columns, "names": np.zeros(30)},
        )
        grouped(everything, by)


def test_problems_of_groups_have_weights(store: StoreOnDisk):
    names = store.instances()["instance"].to_list()
    store.add_features(
        rows(*((name, "half", "first" if i < 10 else "second", 0) for i, name in enumerate(names)))
    )
    groups = problem_groups(evidence_of(store), grouped(features(store), "half"), 2.0)
    assert groups.sizes == (10, 5)
    weights = groups.problem_weights(1)
    assert [weights[name] for name in names] == [groups.borrowed] * 10 + [1.0] * 5
    assert groups.n_weighted(1) == pytest.approx(5 + 10 * groups.borrowed)


def test_evidence_of_a_part_of_the_problems_is_that_of_a_store_with_these(store: StoreOnDisk):
    evidence = evidence_of(store)
    names = evidence.grid.instances
    part = evidence.weighted(dict.fromkeys(names[3:9], 1.0))
    assert part.grid.instances == names[3:9]
    assert part.weights is None
    np.testing.assert_array_equal(part.positions, evidence.positions[3:9])
    double = evidence.weighted(dict.fromkeys(names, 2.0)).duels.record()
    once = evidence.duels.record()
    np.testing.assert_allclose(double.wins, 2 * once.wins)
    np.testing.assert_array_equal(double.shared, once.shared)
    with pytest.raises(InferenceError, match="no problem has a weight"):
        evidence.weighted({})
