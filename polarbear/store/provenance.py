"""What is known about where runs come from, beside what each of them says itself."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from polarbear.store import files

PROVENANCE = "provenance.json"
Fingerprint = str | None  # None: of a run by an older version, which did not note it


class Provenance:
    """The file ``provenance.json`` of a store; it is there once there is something to tell.

    ``alike`` has, for each algorithm, fingerprints whose runs count as made by the same, because
    the user said so or because a run does not tell. ``seeds_of`` has, for an algorithm that was
    renamed, the name that its runs' seeds derive from.
    """

    path: Path

    def _provenance(self) -> dict[str, Any]:
        nothing: dict[str, Any] = {"alike": {}, "seeds_of": {}}
        try:
            return {**nothing, **files.read_json(self.path / PROVENANCE)}
        except FileNotFoundError:
            return nothing

    def _write_provenance(self, known: dict[str, Any]) -> None:
        files.write_json(self.path / PROVENANCE, known, indent=1, plain_ascii=False)

    def alike(self, algorithm: str, fingerprint: Fingerprint) -> list[Fingerprint]:
        """All fingerprints whose runs count as made by this one, itself first."""
        for group in self._provenance()["alike"].get(algorithm, ()):
            if fingerprint in group:
                return [fingerprint, *(one for one in group if one != fingerprint)]
        return [fingerprint]

    def declare_alike(self, algorithm: str, fingerprints: Iterable[Fingerprint]) -> None:
        """Count runs with these fingerprints as made by the same from now on."""
        known = self._provenance()
        wanted = list(fingerprints)
        groups = known["alike"].setdefault(algorithm, [])
        together = [group for group in groups if any(one in wanted for one in group)]
        joined = dict.fromkeys([one for group in [*together, wanted] for one in group])
        known["alike"][algorithm] = [
            *(group for group in groups if group not in together),
            list(joined),
        ]
        self._write_provenance(known)

    def seed_name(self, algorithm: str) -> str:
        """The name that an algorithm's seeds derive from: its own, or the one it had before."""
        return str(self._provenance()["seeds_of"].get(algorithm, algorithm))

    def rename_in_provenance(self, old: str, new: str, seeds_of: str) -> None:
        """Keep what is known about an algorithm under its new name; doing it again does no harm."""
        known = self._provenance()
        if old in known["alike"]:
            known["alike"][new] = known["alike"].pop(old)
        known["seeds_of"].pop(old, None)
        known["seeds_of"][new] = seeds_of
        if seeds_of == new:
            del known["seeds_of"][new]
        self._write_provenance(known)

    def take_in_provenance(self, other: Provenance, algorithms: Iterable[str]) -> None:
        """Know of these algorithms what another store knows of them."""
        theirs = other._provenance()
        for name in algorithms:
            for group in theirs["alike"].get(name, ()):
                self.declare_alike(name, group)
        seeds = {n: theirs["seeds_of"][n] for n in algorithms if n in theirs["seeds_of"]}
        if seeds:
            known = self._provenance()
            known["seeds_of"].update(seeds)
            self._write_provenance(known)
