"""Facts about where runs come from that no single run contains: the file ``provenance.json``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from polarbear.store.catalog import Catalog, File, json_file

NAME = "provenance.json"
Fingerprint = str | None  # None: of an imported run


@dataclass(frozen=True)
class Origins:
    """``alike`` has, for each algorithm, groups of fingerprints that count as the same source.
    ``seeds_of`` has, for a renamed algorithm, the name that the seeds of its runs derive from."""

    alike: Mapping[str, list[list[Fingerprint]]] = field(default_factory=dict)
    seeds_of: Mapping[str, str] = field(default_factory=dict)

    def renamed(self, old: str, new: str) -> Origins:
        """The same facts with a new name for an algorithm; its seeds stay the same."""
        alike = {new if name == old else name: groups for name, groups in self.alike.items()}
        seeds = {name: of for name, of in self.seeds_of.items() if name != old}
        origin = self.seeds_of.get(old, old)
        return Origins(alike, seeds if origin == new else {**seeds, new: origin})

    def file(self) -> File:
        return json_file(NAME, {"alike": dict(self.alike), "seeds_of": dict(self.seeds_of)})


class Provenance:
    """The file ``provenance.json`` of a store, which exists if there is something to note."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def read(self) -> Origins:
        try:
            facts = self._catalog.read_json(NAME)
        except FileNotFoundError:
            return Origins()
        return Origins(facts["alike"], facts["seeds_of"])

    def alike(self, algorithm: str, fingerprint: Fingerprint) -> list[Fingerprint]:
        """All fingerprints that count as the same source as this one, which comes first."""
        for group in self.read().alike.get(algorithm, ()):
            if fingerprint in group:
                return [fingerprint, *(one for one in group if one != fingerprint)]
        return [fingerprint]

    def declare_alike(self, algorithm: str, fingerprints: Iterable[Fingerprint]) -> None:
        """Count runs with these fingerprints as made by the same source from now on."""
        known, wanted = self.read(), list(fingerprints)
        groups = known.alike.get(algorithm, [])
        together = [group for group in groups if any(one in wanted for one in group)]
        joined = dict.fromkeys([one for group in [*together, wanted] for one in group])
        others = [group for group in groups if group not in together]
        self._write(replace(known, alike={**known.alike, algorithm: [*others, list(joined)]}))

    def seed_name(self, algorithm: str) -> str:
        """The name that an algorithm's seeds derive from: its current or its first one."""
        return self.read().seeds_of.get(algorithm, algorithm)

    def copy_from(self, other: Provenance, algorithms: Iterable[str]) -> None:
        """Take over what another store knows about these algorithms."""
        theirs = other.read()
        for name in algorithms:
            for group in theirs.alike.get(name, ()):
                self.declare_alike(name, group)
            if name in theirs.seeds_of:
                known = self.read()
                seeds = {**known.seeds_of, name: theirs.seeds_of[name]}
                self._write(replace(known, seeds_of=seeds))

    def _write(self, known: Origins) -> None:
        self._catalog.commit([known.file()])
