"""What names of runs are made of: 'adam/cifar/seed3' has an algorithm, an instance and a seed."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, field_validator

from polarbear.formats.base import Format

PARTS = ("algorithm", "instance", "seed")


class Named(Format):
    """What formats have in common whose runs have one name with several parts."""

    layout: str = Field(
        "algorithm/instance/seed",
        description="what the parts of a run's name are, in this order: algorithm, instance, seed",
    )

    @field_validator("layout")
    @classmethod
    def _known_parts(cls, layout: str) -> str:
        parts = layout.split("/")
        if "algorithm" not in parts or len(set(parts)) < len(parts) or set(parts) - set(PARTS):
            raise ValueError(
                f"expected some of {', '.join(PARTS)} with / between them, the algorithm among "
                f"them, found '{layout}'"
            )
        return layout

    def split(self, name: str, source: Path) -> tuple[str, str]:
        """The algorithm and the instance of a run; without one, all of a source are on the same.

        The last part takes what is left of the name. Seeds only tell runs apart.
        """
        parts = self.layout.split("/")
        found = dict(zip(parts, name.split("/", len(parts) - 1), strict=False))
        return found.get("algorithm") or name, found.get("instance") or source.stem
