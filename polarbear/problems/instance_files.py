"""Instances that are names: files, or anything else that an external program understands."""

from __future__ import annotations

from glob import glob
from pathlib import Path
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from polarbear.errors import ProblemError
from polarbear.numerics.seeds import derived_seed
from polarbear.problems.base import Kind, Setting, Spec, Suite
from polarbear.wording import counted


class Files(Suite):
    """A finite list of names, passed to programs; each is used once."""

    names: tuple[str, ...] = Field((), description="the names, or")
    glob: str | None = Field(
        None, description="a pattern for files, relative to the configuration's folder, or"
    )
    listed_in: str | None = Field(
        None,
        description="a text file with one name a line, as irace's trainInstancesFile; # starts a "
        "comment",
    )
    directory: str | None = Field(
        None, description="a folder that is put before each name, as irace's trainInstancesDir is"
    )
    order: Literal["random", "given"] = Field(
        "random", description="the order in which they are used; random depends on the seed"
    )

    kind: ClassVar[Kind] = Kind.NAME
    has_own_order: ClassVar[bool] = True  # by its option `order`

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        n_sources = bool(self.names) + (self.glob is not None) + (self.listed_in is not None)
        if n_sources != 1:
            raise ValueError("the suite 'files' takes one of: names, glob, listed_in")
        return self

    def all_names(self, setting: Setting) -> list[str]:
        names = list(dict.fromkeys(self._names_in(Path(setting.folder))))
        if self.directory is not None:
            names = [str(Path(self.directory) / name) for name in names]
        if not names:
            source = f"'{self.glob}' matches" if self.glob else f"'{self.listed_in}' lists"
            raise ProblemError(f"{source} no instance in {setting.folder}")
        if self.order == "random":
            # By a hash of the name, so that a file added later does not reorder the others.
            names.sort(key=lambda name: (derived_seed(setting.seed, "order", name), name))
        return names

    def _names_in(self, folder: Path) -> list[str]:
        """The names in the order of their source, before any is left out or moved."""
        if self.glob is not None:
            # Not Path.glob, which refuses absolute patterns.
            matches = glob(self.glob, root_dir=folder, recursive=True, include_hidden=True)  # noqa: PTH207
            return sorted(name for name in matches if (folder / name).is_file())
        if self.listed_in is not None:
            try:
                lines = (folder / self.listed_in).read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise ProblemError(f"cannot read the list '{self.listed_in}': {error}") from None
            names = [line.partition("#")[0].strip() for line in lines]
            return [name for name in names if name]
        return list(self.names)

    def size(self, setting: Setting) -> int:
        return len(self.all_names(setting))

    def draw(self, index: int, rng: np.random.Generator, setting: Setting) -> tuple[str, Spec]:
        names = self.all_names(setting)
        if index >= len(names):
            raise ProblemError(f"the suite 'files' has only {counted(len(names), 'instance')}")
        return names[index], {"name": names[index]}

    def build(self, spec: Spec, setting: Setting) -> str:
        return str(spec["name"])
