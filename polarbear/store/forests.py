"""The forest of a store: fitted once for its evidence and features, and kept as arrays."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from polarbear.inference.feature_models.encoding import Column
from polarbear.store import file_io, tables
from polarbear.store.catalog import Catalog, decoded, facts_of, table_file

if TYPE_CHECKING:
    from polarbear.inference.feature_models.forest import Forest

FOLDER = "forests"


@dataclass(frozen=True)
class ForestMetadata:
    """What a forest is about: the columns of its features, and its problems."""

    columns: list[Column]
    problems: list[str]


class Forests:
    """The folder ``forests/`` of a store, which has at most one forest."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def add(self, key: str, forest: Forest) -> None:
        """Store a forest, which replaces any other one."""
        ends = np.append(forest.roots[1:], len(forest.column))
        trees = [slice(start, end) for start, end in zip(forest.roots, ends, strict=True)]
        rows = pl.DataFrame(
            {
                "column": [forest.column[tree].tolist() for tree in trees],
                "boundary": [forest.boundary[tree].tolist() for tree in trees],
                "below": [forest.below[tree].tolist() for tree in trees],
                "above": [forest.above[tree].tolist() for tree in trees],
                "leaves": forest.leaves.tolist(),
            }
        )
        metadata = ForestMetadata(list(forest.columns), list(forest.problems))
        file = table_file(f"{FOLDER}/{key}", rows, tables.FOREST, asdict(metadata))
        self._catalog.commit([file], self._catalog.names(f"{FOLDER}/"))

    def read(self, key: str) -> Forest | None:
        """The stored forest; None if there is none with this key."""
        from polarbear.inference.feature_models.forest import Forest  # few stores have one

        stored_file = self._catalog.read_current(f"{FOLDER}/{key}")
        if stored_file is None:
            return None
        path, content = stored_file
        metadata = file_io.record(path, ForestMetadata, facts_of(path, content))
        rows = decoded(path, content, tables.FOREST)
        with file_io.decoding(path):
            sizes = rows["column"].list.len().to_numpy().astype(np.int64)
            leaves = rows["leaves"].explode().to_numpy()
            return Forest(
                columns=tuple(metadata.columns),
                problems=tuple(metadata.problems),
                column=rows["column"].explode().to_numpy(),
                boundary=rows["boundary"].explode().to_numpy(),
                below=rows["below"].explode().to_numpy(),
                above=rows["above"].explode().to_numpy(),
                roots=np.cumsum(sizes) - sizes,
                leaves=leaves.reshape(len(rows), len(metadata.problems)),
            )
